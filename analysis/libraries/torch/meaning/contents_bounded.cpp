// The bounds of integers that are computed from others of which the bounds are known: relative positions,
// made of two ranges that meet each with each, shifted and clamped.
#include "libraries/torch/meaning/content_numbers.hpp"
#include "libraries/torch/meaning/contents.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

void hold_bounds(Op& op, Value made, const Bounds& bounds) {
  const TensorState* state = op.tensor(made);
  if (!state || state->dtype != Dtype::int64 || !bounds.low || !bounds.high) return;
  TensorState known = *state;
  values::Extent extent;
  extent.low = bounds.low;
  extent.high = bounds.high;
  extent.met = bounds.met;
  extent.place = op.call.place;
  extent.what = bounds.what;
  op.run.heap().set_extent(known, extent);
  set_state(op.run, made, known);
}

// In no dimension do both have more than one: each element of one meets each of the other.
bool meet_each_with_each(const Op& op, Value left, Value right) {
  const TensorState *a = op.tensor(left), *b = op.tensor(right);
  if (!a || !b) return true;  // one is a number
  if (!a->shape.ndim_known || !b->shape.ndim_known) return false;
  const std::size_t least = std::min(a->shape.dims.size(), b->shape.dims.size());
  for (std::size_t i = 0; i < least; ++i)
    if (op.value(from_right(a->shape, i)) != 1 && op.value(from_right(b->shape, i)) != 1) return false;
  return true;
}

}  // namespace

void hold_bounds_of_sum(Op& op, Value made, bool subtracts, std::string_view left, std::string_view right) {
  const TensorState* state = op.tensor(made);
  if (!state || state->dtype != Dtype::int64 || op.content(made)) return;
  if (const Value scale = op.argument("alpha"); scale && op.integer("alpha") != 1) return;
  const Value a = op.argument(left), b = op.argument(right);
  const auto x = bounds_of(op, a), y = x ? bounds_of(op, b) : std::nullopt;
  if (!y || !meet_each_with_each(op, a, b)) return;
  Bounds sum;
  sum.low = subtracts ? op.sub(x->low, y->high) : op.add(x->low, y->low);
  sum.high = subtracts ? op.sub(x->high, y->low) : op.add(x->high, y->high);
  sum.met = x->met && y->met;
  sum.what = x->what.empty() ? y->what : x->what;
  // Of numbers that only may come so far, two need not come together.
  if (sum.met) hold_bounds(op, made, sum);
}

void hold_bounds_of_clamped(Op& op, Value made) {
  const TensorState* state = op.tensor(made);
  if (!state || state->dtype != Dtype::int64 || op.content(made)) return;
  const auto bounds = bounds_of(op, op.argument("input"));
  if (!bounds || !bounds->met) return;
  Bounds clamped = *bounds;
  const auto limit = [&](std::string_view name, Compare beyond) {
    const Value given = op.argument(name);
    if (!given || given.is(Kind::none)) return true;
    if (!given.is(Kind::integer)) return false;
    for (Int* own : {&clamped.low, &clamped.high}) {
      const Answer outside = op.s.compare(beyond, *own, given.integer());
      if (outside == Answer::unknown) return false;
      if (outside == Answer::yes) *own = given.integer();
    }
    return true;
  };
  if (limit("min", Compare::lt) && limit("max", Compare::gt)) hold_bounds(op, made, clamped);
}

}  // namespace stepzero::libraries
