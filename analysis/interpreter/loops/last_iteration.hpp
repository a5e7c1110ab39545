// The last iteration of a loop over a loader that does not divide: its batch is smaller than those before,
// and what these have left may not fit it.
#pragma once

#include "interpreter/interpreter.hpp"

#include <optional>

namespace stepzero::interpreter {

struct LastIteration {
  Int batch = nullptr;  // stands for the size of any batch
  std::int64_t size = 0, others = 0, samples = 0;
  Value loader;
};
// Of a loop of so many iterations, each of which gets such an element. Nothing: there is no smaller batch, or
// it is not known to come.
std::optional<LastIteration> last_iteration(Interpreter& run, Value element, Int iterations);
// A value with batches of so many.
Value with_batch(values::Heap& heap, Value value, Int batch, std::int64_t size, int depth = 0);
// What fails in it first, and is not told otherwise: that an operation needs its batch to be as large as
// another is noted of every iteration. Null: nothing.
const ProblemEvent* failure_of_last_iteration(const Record& record,
    const std::vector<const ProblemEvent*>& failures, std::size_t first_event, std::size_t last_event);

}  // namespace stepzero::interpreter
