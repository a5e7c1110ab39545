#include "libraries/torch/ops/nested_data.hpp"

#include "libraries/numpy/arrays.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"

#include <cstdlib>

namespace stepzero::libraries {

Dtype dtype_of(Op& op, Value value) {
  value = op.run.resolve(value);
  if (const TensorState* state = op.tensor(value)) return state->dtype;
  switch (value.kind) {
  case Kind::boolean: return Dtype::boolean;
  case Kind::integer: return Dtype::int64;
  case Kind::real: return op.run.default_dtype();
  case Kind::unknown: return value.as<values::Unknown>()->is_real ? op.run.default_dtype() : Dtype::unknown;
  default: return Dtype::unknown;
  }
}

Int steps_between(Op& op, Int start, Int end, std::int64_t step) {
  auto& s = op.s;
  const Int length = step > 0 ? s.sub(end, start) : s.sub(start, end), by = s.constant(std::abs(step));
  return std::abs(step) == 1 ? length : s.floordiv(s.add(length, s.sub(by, s.constant(1))), by);
}

namespace {

constexpr std::size_t deepest_list = 16;  // more than tensors have dimensions

void look_into(Op& op, Value data, NestedLists& found, std::size_t depth, int& budget) {
  data = op.run.resolve(data);
  if (--budget < 0 || depth > deepest_list) {
    found.shape_known = found.dtype_known = false;
    return;
  }
  const auto at_end = [&](Dtype dtype) {
    if (dtype == Dtype::unknown)
      found.dtype_known = false;
    else
      found.dtype = found.dtype == Dtype::unknown ? dtype : promote(found.dtype, dtype);
  };
  // Rows side by side have one length: what is not known of one of them is not known of all.
  const auto at_depth = [&](Int size) {
    if (found.sizes.size() == depth) return found.sizes.push_back(size);
    const Int other = found.sizes[depth];
    const Answer same = size && other ? op.s.compare(symbolic::Compare::eq, other, size) : Answer::unknown;
    if (same == Answer::no)
      found.ragged = true;
    else if (same == Answer::unknown)
      found.sizes[depth] = nullptr;
  };
  if (data.is(Kind::list) || data.is(Kind::tuple)) {
    const auto items = op.run.elements(data, op.call.place);
    if (!items) {
      // So many, of which one stands for all.
      const auto* list = data.is(Kind::list) ? values::Heap::list_state(data) : nullptr;
      at_depth(list ? list->length : nullptr);
      look_into(op, op.run.element(data, op.call.place), found, depth + 1, budget);
      return;
    }
    at_depth(op.s.constant(static_cast<std::int64_t>(items->size())));
    for (std::size_t i = 0; i < items->size(); ++i) {
      // Long data: one row stands for the others.
      if (i >= 64 && budget < 2000) break;
      look_into(op, (*items)[i], found, depth + 1, budget);
    }
    return;
  }
  if (data.is(Kind::choice) && depth > 0) {
    // Either number: they stand in one place.
    const auto number = [&](Value side) {
      side = op.run.resolve(side);
      return values::is_number(side) ? side : Value{};
    };
    if (const Value yes = number(data.as<values::Choice>()->yes), no = number(data.as<values::Choice>()->no);
        yes && no) {
      look_into(op, yes, found, depth, budget);
      return look_into(op, no, found, depth, budget);
    }
  }
  if (data.is(Kind::unknown) && !op.tensor(data)) {
    // An observation of a game stands in a list as a number does: only what is known to be one is.
    const auto* item = data.as<values::Unknown>();
    const bool number = item->is_number || item->is_real;
    (number ? found.flat : found.deeper) = true;
    if (depth == 0 && !item->is_number) found.shape_known = false;
    at_end(item->is_real ? op.run.default_dtype() : Dtype::unknown);
    return;
  }
  if (const TensorState* state = array_state(op.run, data)) {
    at_end(state->dtype);
    found.arrays = true;
    for (const Dim& dim : state->shape.dims) {
      if (found.sizes.size() == depth)
        found.sizes.push_back(dim.size);
      else if (op.equal(op.dim(found.sizes[depth]), dim) != Answer::yes)
        found.shape_known = false;
      ++depth;
    }
    return;
  }
  if (const TensorState* state = op.tensor(data)) {
    at_end(state->dtype);
    found.arrays = true;
    if (!state->shape.ndim_known || (depth > 0 && !state->shape.dims.empty()))
      found.shape_known = false;
    else if (depth == 0)
      for (const Dim& dim : state->shape.dims) found.sizes.push_back(dim.size);
    return;
  }
  if (data.is(Kind::range) && depth == found.sizes.size()) {
    const auto* range = data.as<values::Range>();
    const auto step = op.s.value(range->step);
    found.sizes.push_back(step && *step != 0 ? steps_between(op, range->start, range->stop, *step) : nullptr);
    at_end(Dtype::int64);
    return;
  }
  at_end(dtype_of(op, data));
  found.flat = true;
  if (!data.is(Kind::integer) && !data.is(Kind::real) && !data.is(Kind::boolean)) found.shape_known = false;
}

}  // namespace

NestedLists nesting_of(Op& op, Value data) {
  constexpr int most_looked_at = 4000;  // items
  NestedLists nested;
  int budget = most_looked_at;
  look_into(op, data, nested, 0, budget);
  return nested;
}

std::optional<NestedData> nested_data(Op& op, Value data) {
  const NestedLists nested = nesting_of(op, data);
  if (!nested.shape_known || (nested.deeper && !nested.flat) || nested.ragged) return std::nullopt;
  NestedData found;
  found.shape.ndim_known = true;
  for (const Int size : nested.sizes) found.shape.dims.push_back(size ? op.made(size) : Dim{});
  found.dtype = nested.dtype_known ? nested.dtype : Dtype::unknown;
  found.of_numbers = !nested.arrays;
  return found;
}

}  // namespace stepzero::libraries
