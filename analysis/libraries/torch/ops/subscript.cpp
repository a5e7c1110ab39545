// Python's `x[index]` of a tensor or an array: choices are looked at side by side, then the operator answers
// (indexing.cpp).
#include "libraries/torch/ops/operators.hpp"

#include <algorithm>

namespace stepzero::libraries {

Value Table::subscript(
    Runtime& run, Value object, Value index, const syntax::Expr& node, values::Place place) const {
  index = run.resolve(index);
  // What turns around in a slice is an array: tensors refuse it.
  const TensorState* before = tensor_state(run, object);
  const bool maybe_array = before && before->maybe_array;
  if (maybe_array || (before && before->unseen && !before->made)) {
    const auto turns = [&](Value part) {
      part = run.resolve(part);
      if (!part.is(Kind::slice)) return false;
      const Value step = run.resolve(part.as<values::SliceObject>()->step);
      return step.is(Kind::integer) &&
          run.symbols().compare(Compare::lt, step.integer(), run.symbols().constant(0)) == Answer::yes;
    };
    const auto* parts = index.is(Kind::tuple) ? index.as<values::Tuple>() : nullptr;
    if (parts ? std::any_of(parts->items.begin(), parts->items.end(), turns) : turns(index))
      return run.heap().unseen("", place);
  }
  // What differs between paths is looked at path by path.
  if (index.is(Kind::choice))
    return run.over_choices(
        index, [&](Value side) { return subscript(run, object, side, node, place); }, place);
  if (index.is(Kind::tuple)) {
    const auto& items = index.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < items.size(); ++i)
      if (const Value item = run.resolve(items[i]); item.is(Kind::choice))
        return run.over_choices(
            item,
            [&](Value side) {
              std::vector<Value> one_of = items;
              one_of[i] = side;
              return subscript(run, object, run.heap().tuple(std::move(one_of)), node, place);
            },
            place);
  }
  const Value made = call_operator(run, "torch.Tensor.__getitem__", {object, index}, &node, place);
  // Arrays are indexed as tensors are, and give arrays.
  if (maybe_array)
    for (const Value& value : {object, made})
      if (const TensorState* state = tensor_state(run, value); state && !state->maybe_array) {
        TensorState perhaps = *state;
        perhaps.maybe_array = true;
        set_state(run, value, perhaps);
      }
  return made;
}

}  // namespace stepzero::libraries
