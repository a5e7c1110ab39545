// What can be iterated over: how long it is, what lies in it, and one value in the place of all of that.
#pragma once

#include "interpreter/run_part.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace stepzero::interpreter {

class Iterables : private RunPart {
public:
  explicit Iterables(Interpreter& run) : RunPart(run) {}

  struct Elements;  // what of it is known, one by one: see Runtime::elements()

  // One summary object for several that were made the same way, such as the layers of a model.
  Value any_of(std::span<const Value> items, int depth = 0);
  // How the number of iterations over it relates among the ranks.
  Sharing trips_of(Value iterable);
  Int known_length(Value iterable);
  Int length_of_slice(Int size, const values::SliceObject& slice);
  const values::Content* drawn_of(const values::TensorState& all);
  std::string length_name(Place born) const;
  std::optional<std::vector<std::int64_t>> slice_of(std::int64_t size, const values::SliceObject& slice);
  // What `__next__` gives until it raises, and `__getitem__` of 0, 1, 2…
  std::optional<std::vector<Value>> iterated(Value iterator, Place place);
  std::optional<std::vector<Value>> counted(Value sequence, Place place);

private:
  struct AnyOf;
  struct WithLength;
  // The lengths that it may have, and when it has which; nothing: some are not known, or there are many.
  std::optional<std::vector<WithLength>> lengths_of(Value iterable, int depth = 0);
  // Of one that is several: nothing where it hangs on something of the rank's own which of its lengths it
  // has.
  std::optional<Sharing> sharing_by_length(Value iterable);

  std::optional<std::vector<Value>> until_raised(
      std::string_view exception, const std::function<Value(std::int64_t)>& next);
};

}  // namespace stepzero::interpreter
