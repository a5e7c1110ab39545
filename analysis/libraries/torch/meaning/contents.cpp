// What operators say of the elements of small tensors: block widths made with arange and pow, rates made with
// linspace, lists that become tensors and lists again. Floats are known as PyTorch computes them, rounded to
// their dtype at each step; where its last bits are not the same on all machines, between two bounds. What
// rounds or compares them is known where both bounds agree.
#include "libraries/torch/meaning/contents.hpp"

#include "libraries/table/columns.hpp"
#include "libraries/torch/meaning/content_numbers.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

using values::Content;
using values::Number;

const Content* Op::content(Value value) const {
  const TensorState* state = tensor(value);
  return state ? run.heap().content_of(*state) : nullptr;
}

std::optional<std::vector<std::size_t>> places_of(
    const Op& op, const values::SliceObject& slice, std::size_t length) {
  const auto size = static_cast<std::int64_t>(length);
  const auto bound = [&](Value value, std::int64_t otherwise) -> std::optional<std::int64_t> {
    value = op.run.resolve(value);
    if (!value || value.is(Kind::none)) return otherwise;
    const auto at = value.is(Kind::integer) ? op.s.value(value.integer()) : std::nullopt;
    return at ? std::optional(std::clamp<std::int64_t>(*at < 0 ? *at + size : *at, 0, size)) : std::nullopt;
  };
  const Value by = op.run.resolve(slice.step);
  const auto from = bound(slice.lower, 0), to = bound(slice.upper, size);
  const std::int64_t step = !by || by.is(Kind::none) ? 1
      : by.is(Kind::integer)                         ? op.s.value(by.integer()).value_or(0)
                                                     : 0;
  if (!from || !to || step < 1) return std::nullopt;
  std::vector<std::size_t> places;
  for (std::int64_t i = *from; i < *to; i += step) places.push_back(static_cast<std::size_t>(i));
  return places;
}

void keep_bounds(Op& op, values::Unknown& number, const Number& element) {
  if (element.integer || !std::isfinite(element.low) || !std::isfinite(element.high)) return;
  values::Heap& heap = op.run.heap();
  const auto keep = [&](values::KeptKey key, double bound) {
    heap.set(heap.slot_of(number.attributes, syntax::Name(key)), Value::of(bound));
  };
  keep(values::BoundedState::low, element.low);
  keep(values::BoundedState::high, element.high);
  if (element.low > 0 || element.high < 0) number.truth = op.s.boolean(true);
}

void Op::hold_numbers(Value made, Numbers numbers) {
  const TensorState* state = tensor(made);
  if (!state || !state->shape.ndim_known || state->shape.dims.size() > 1) return;
  TensorState known = *state;
  known.content = run.heap().content(state->dtype, state->shape.dims.empty(), std::move(numbers));
  if (known.content && run.heap().content_of(known)) set_state(run, made, known);
}

namespace {

// ---------------------------------------------------------------- made and converted

void counted(Op& op, Value made) {
  const TensorState* state = op.tensor(made);
  if (!state || (!is_computed(state->dtype) && state->dtype != Dtype::int64)) return;
  const bool only_end = !op.argument("end");
  const auto start = only_end ? std::optional(0.0) : op.real("start"), step = op.real("step");
  const std::int64_t size = state->shape.dims.size() == 1 ? op.value(state->shape.dims[0]).value_or(-1) : -1;
  // Of other numbers the last bits depend on how they are counted.
  const auto is_whole = [](double value) { return value == std::trunc(value) && std::abs(value) < 1e5; };
  if (!start || !step || size < 0 || size > static_cast<std::int64_t>(values::Heap::most_numbers) ||
      !is_whole(*start) || !is_whole(*step))
    return;
  Numbers numbers;
  for (std::int64_t i = 0; i < size; ++i) {
    const double value = *start + static_cast<double>(i) * *step;
    numbers.push_back(is_computed(state->dtype) ? Number{nullptr, value, value}
                                                : Number{op.s.constant(static_cast<std::int64_t>(value))});
  }
  op.hold_numbers(made, std::move(numbers));
}
// So many integers, of each of which the bounds are known. Of more of them any one is as good: `element`
// draws it.
void drawn_between(Op& op, Value made, Int low, Int high) {
  constexpr std::int64_t most_drawn = 16;  // each is a fact that all that follows is held against
  const TensorState* state = op.tensor(made);
  if (!state || state->dtype != Dtype::int64 || !state->shape.ndim_known || state->shape.dims.size() > 1 ||
      !low || !high)
    return;
  const auto size = state->shape.dims.empty() ? std::optional<std::int64_t>(1)
                                              : op.value(state->shape.dims[0]);
  if (!size || *size > most_drawn) return;
  Numbers numbers;
  for (std::int64_t i = 0; i < *size; ++i) {
    const auto most = op.s.upper(high);
    const Int number = op.s.fresh({.name = "",
        .lower = op.s.lower(low),
        .upper = most ? std::optional(*most - 1) : std::nullopt,
        .sharing = state->sharing});
    if (!op.run.guarded()) {
      op.s.assume(op.s.compared(Compare::ge, number, low));
      op.s.assume(op.s.compared(Compare::lt, number, high));
    }
    numbers.push_back({number});
  }
  op.hold_numbers(made, std::move(numbers));
}
// randint(high, size) or randint(low, high, size)
void drawn(Op& op, Value made) {
  const Value second = op.argument("high");
  const bool two = second && !second.is(Kind::tuple) && !second.is(Kind::list);
  drawn_between(op, made, two ? op.size("low") : op.s.constant(0), two ? op.size("high") : op.size("low"));
}
void evenly_spaced(Op& op, Value made) {
  const TensorState* state = op.tensor(made);
  const auto start = op.real("start"), end = op.real("end");
  const auto size = op.integer("steps");
  if (!state || !is_computed(state->dtype) || !start || !end || !size || *size < 1 ||
      *size > static_cast<std::int64_t>(values::Heap::most_numbers))
    return;
  Numbers numbers;
  const double most = std::max(std::abs(*start), std::abs(*end)),
               doubt = most * (state->dtype == Dtype::float32 ? 1e-6 : 1e-14);
  for (std::int64_t i = 0; i < *size; ++i) {
    const double value = *size == 1
        ? *start
        : *start + static_cast<double>(i) * (*end - *start) / static_cast<double>(*size - 1);
    if (i == 0 || i == *size - 1)
      numbers.push_back({nullptr, rounded(value, state->dtype), rounded(value, state->dtype)});
    else
      numbers.push_back({nullptr, value - doubt, value + doubt});
  }
  if (*size > 1) numbers.back().low = numbers.back().high = rounded(*end, state->dtype);
  op.hold_numbers(made, std::move(numbers));
}
// Kept for elements_among alone: `numbers` are all elements of several dimensions, or the one that each of
// them is.
void hold_rows(Op& op, Value made, Numbers numbers) {
  const TensorState* state = op.tensor(made);
  if (!state || !state->shape.ndim_known || !is_integral(state->dtype) || numbers.empty()) return;
  TensorState known = *state;
  known.content = op.run.heap().content(state->dtype, false, std::move(numbers));
  if (known.content) set_state(op.run, made, known);
}
// A counter, or a flag: one number, of whatever dtype. Of longer ones only integers are read before they are
// filled with others.
bool holds_one(const Op& op, const TensorState& state) {
  return state.shape.ndim_known &&
      (state.shape.dims.empty() ||
          (state.shape.dims.size() == 1 && state.shape.dims[0].size &&
              op.s.value(state.shape.dims[0].size) == 1));
}
void hold_one(Op& op, Value made, Value number) {
  const TensorState* state = op.tensor(made);
  if (!state || !holds_one(op, *state)) return;
  auto known = numbers_of(op, number, state->dtype);
  if (known && known->size() == 1) op.hold_numbers(made, std::move(*known));
}
// All of them the same: of a few, as commands between processes are.
template <int number> void one_number(Op& op, Value made) {
  constexpr std::int64_t few = 3;
  const TensorState* state = op.tensor(made);
  const auto size = state && state->shape.ndim_known && state->shape.dims.size() == 1 &&
          state->shape.dims[0].size
      ? op.s.value(state->shape.dims[0].size)
      : std::nullopt;
  if (!size || *size < 2 || *size > few) return hold_one(op, made, Value::of(op.s.constant(number)));
  const auto one = numbers_of(op, Value::of(op.s.constant(number)), state->dtype);
  if (one && one->size() == 1) op.hold_numbers(made, Numbers(static_cast<std::size_t>(*size), one->front()));
}
void filled_again(Op& op, Value made) { hold_one(op, made, op.argument("value")); }
void filled(Op& op, Value made) {
  const TensorState* state = op.tensor(made);
  if (!state) return;
  if (holds_one(op, *state)) return hold_one(op, made, op.argument("fill_value"));
  auto number = is_integral(state->dtype) ? numbers_of(op, op.argument("fill_value"), state->dtype)
                                          : std::nullopt;
  if (number && number->size() == 1) hold_rows(op, made, std::move(*number));
}
// The data as it is now: a list may be changed later.
void listed_rows(Op& op, Value made, const std::vector<Value>& rows) {
  const TensorState* state = op.tensor(made);
  Numbers numbers;
  for (const Value& row : rows) {
    const auto items = op.run.elements(op.run.resolve(row), op.call.place);
    if (!items || numbers.size() + items->size() > values::Heap::most_numbers) return;
    for (const Value& item : *items) {
      const Value one = op.run.resolve(item);
      const auto number = one.is(Kind::integer) ? numbers_of(op, one, state->dtype) : std::nullopt;
      if (!number) return;
      numbers.push_back(number->front());
    }
  }
  hold_rows(op, made, std::move(numbers));
}
void listed(Op& op, Value made) {
  const TensorState* state = op.tensor(made);
  const Value data = op.argument("data");
  if (!state || op.tensor(data)) return;
  Numbers numbers;
  const bool many = data.is(Kind::list) || data.is(Kind::tuple);
  std::vector<Value> items{data};
  if (many) {
    const auto found = op.run.elements(data, op.call.place);
    if (!found || found->size() > values::Heap::most_numbers) return;
    items = *found;
  }
  if (state->shape.ndim_known && state->shape.dims.size() == 2 && is_integral(state->dtype))
    return listed_rows(op, made, items);
  for (const Value& item : items) {
    const auto number = numbers_of(op, op.run.resolve(item), state->dtype);
    if (!number || number->size() != 1 || (op.tensor(item) && !op.content(item)->is_scalar)) return;
    numbers.push_back(number->front());
  }
  op.hold_numbers(made, std::move(numbers));
}
// In another dtype.
void kept_as(Op& op, Value made) {
  const TensorState *from = op.tensor("input"), *state = op.tensor(made);
  if (!from || !state || from->dtype == state->dtype || state->dtype == Dtype::unknown) return;
  if (auto numbers = op.content(op.argument("input")) ? numbers_of(op, op.argument("input"), state->dtype)
                                                      : std::nullopt)
    op.hold_numbers(made, std::move(*numbers));
}

// ---------------------------------------------------------------- arranged

void flipped(Op& op, Value made) {
  const Content* content = op.content(op.argument("input"));
  if (!content || content->is_scalar) return;
  Numbers numbers(content->numbers.rbegin(), content->numbers.rend());
  op.hold_numbers(made, std::move(numbers));
}
void rolled(Op& op, Value made) {
  const Content* content = op.content(op.argument("input"));
  const auto by = op.integer("shifts");
  if (!content || content->is_scalar || !by || content->numbers.empty()) return;
  const auto size = static_cast<std::int64_t>(content->numbers.size());
  Numbers numbers(content->numbers.size());
  for (std::int64_t i = 0; i < size; ++i)
    numbers[static_cast<std::size_t>((((i + *by) % size) + size) % size)] =
        content->numbers[static_cast<std::size_t>(i)];
  op.hold_numbers(made, std::move(numbers));
}
void hold_extent(Op& op, Value made, Int low, Int high, bool met, bool drawn_from, std::string_view what);

// Of many numbers the bounds, and that of the one that is put around them.
void padded_within(Op& op, Value made) {
  const values::Extent* extent = extent_among(op, op.argument("input"));
  const TensorState* state = op.tensor(made);
  if (!extent || !state || !is_integral(state->dtype) || op.text("mode") != "constant") return;
  const Value filling = op.argument("value");
  const auto number = numbers_of(op, filling ? filling : op.run.heap().integer(0), state->dtype);
  if (!number || number->size() != 1 || !number->front().integer) return;
  const Int around = number->front().integer;
  const auto bound = [&](Int own, Compare beyond) -> Int {
    const Answer further = op.s.compare(beyond, around, own);
    return further == Answer::unknown ? nullptr : further == Answer::yes ? around : own;
  };
  const Int low = bound(extent->low, Compare::lt), high = bound(extent->high, Compare::gt);
  hold_extent(
      op, made, low, high, extent->met && low == extent->low && high == extent->high, false, extent->what);
}
void padded(Op& op, Value made) {
  const Content* content = op.content(op.argument("input"));
  const auto sizes = op.integers("pad");
  const TensorState* state = op.tensor(made);
  if (!content) return padded_within(op, made);
  if (content->is_scalar || !sizes || sizes->size() != 2 || (*sizes)[0] < 0 || (*sizes)[1] < 0 || !state ||
      op.text("mode") != "constant")
    return;
  const Value filling = op.argument("value");
  const auto number = numbers_of(op, filling ? filling : op.run.heap().integer(0), state->dtype);
  if (!number || number->size() != 1 ||
      content->numbers.size() + static_cast<std::size_t>((*sizes)[0] + (*sizes)[1]) >
          values::Heap::most_numbers)
    return;
  Numbers numbers(static_cast<std::size_t>((*sizes)[0]), number->front());
  numbers.insert(numbers.end(), content->numbers.begin(), content->numbers.end());
  numbers.insert(numbers.end(), static_cast<std::size_t>((*sizes)[1]), number->front());
  op.hold_numbers(made, std::move(numbers));
}
// Windows of a row, one below the other.
void unfolded(Op& op, Value made) {
  const Content* content = op.content(op.argument("input"));
  const auto size = op.integer("size"), step = op.integer("step");
  if (!size || !step || *size < 1 || *step < 1) return;
  // In windows that begin one after the other all numbers are found again.
  if (const values::Extent* extent = content ? nullptr : extent_among(op, op.argument("input")))
    return hold_extent(op, made, extent->low, extent->high, extent->met && *step == 1,
        extent->drawn && *step == 1, extent->what);
  if (!content || content->is_scalar) return;
  Numbers numbers;
  const auto length = static_cast<std::int64_t>(content->numbers.size());
  for (std::int64_t from = 0; from + *size <= length; from += *step)
    for (std::int64_t i = 0; i < *size; ++i)
      numbers.push_back(content->numbers[static_cast<std::size_t>(from + i)]);
  if (numbers.size() <= values::Heap::most_numbers) hold_rows(op, made, std::move(numbers));
}

// ---------------------------------------------------------------- bounds

void hold_extent(Op& op, Value made, Int low, Int high, bool met, bool drawn_from, std::string_view what) {
  const TensorState* state = op.tensor(made);
  if (!state || !is_integral(state->dtype) || state->dtype == Dtype::boolean || !low || !high) return;
  TensorState known = *state;
  values::Extent extent;
  extent.low = low;
  extent.high = high;
  extent.met = met;
  extent.drawn = drawn_from;
  extent.place = op.call.place;
  extent.what = what;
  op.run.heap().set_extent(known, extent);
  set_state(op.run, made, known);
}
// arange: its first and its last number.
void counted_within(Op& op, Value made) {
  counted(op, made);
  const TensorState* state = op.tensor(made);
  const bool only_end = !op.argument("end");
  const Int start = only_end ? op.s.constant(0) : op.size("start"), step = op.size("step");
  if (!state || op.content(made) || state->shape.dims.size() != 1 || !state->shape.dims[0].size || !start ||
      !step)
    return;
  const Int size = state->shape.dims[0].size;
  if (op.s.compare(Compare::gt, size, op.s.constant(0)) != Answer::yes ||
      op.s.compare(Compare::gt, step, op.s.constant(0)) != Answer::yes)
    return;
  hold_extent(
      op, made, start, op.add(start, op.mul(step, op.sub(size, op.s.constant(1)))), true, false, "arange");
}
void drawn_within(Op& op, Value made) {
  drawn(op, made);
  const Value second = op.argument("high");
  const bool two = second && !second.is(Kind::tuple) && !second.is(Kind::list);
  const Int low = two ? op.size("low") : op.s.constant(0), end = two ? op.size("high") : op.size("low");
  hold_extent(op, made, low, op.sub(end, op.s.constant(1)), false, true, "randint");
}
// argmax: places in the dimension that is searched. A sorted one has all of them.
void hold_places(Op& op, Value made, bool all) {
  const TensorState* from = op.tensor("input");
  if (!from || !from->shape.ndim_known || from->shape.dims.empty()) return;
  const auto at = op.integer("dim");
  Int size = at ? nullptr : op.product(from->shape.dims);
  const auto rank = static_cast<std::int64_t>(from->shape.dims.size());
  if (at && *at >= -rank && *at < rank)
    size = from->shape.dims[static_cast<std::size_t>(*at < 0 ? *at + rank : *at)].size;
  if (size)
    hold_extent(op, made, op.s.constant(0), op.sub(size, op.s.constant(1)),
        all && op.s.compare(Compare::ge, size, op.s.constant(1)) == Answer::yes, false, op.title());
}
void placed_within(Op& op, Value made) { hold_places(op, made, false); }
void sorted_places(Op& op, Value made) { hold_places(op, made, true); }
// topk: values, and their places.
template <bool all> void second_placed(Op& op, Value made) {
  if (made.is(Kind::tuple) && made.as<values::Tuple>()->items.size() == 2)
    hold_places(op, made.as<values::Tuple>()->items[1], all);
}
// max of all, or along a dimension, which gives places, too.
template <ContentRule of_all> void extreme_placed(Op& op, Value made) {
  if (made.is(Kind::tuple))
    second_placed<false>(op, made);
  else
    of_all(op, made);
}
// The numbers of another, some of them or in another order.
void kept_within(Op& op, Value made) {
  const TensorState *from = op.tensor("input"), *state = op.tensor(made);
  const values::Extent* extent = from ? op.run.heap().extent_of(*from) : nullptr;
  if (!extent || !state || !is_integral(state->dtype)) return;
  hold_extent(op, made, extent->low, extent->high, extent->met, extent->drawn, extent->what);
}

struct NamedContent {
  std::string_view name;
  ContentRule rule;
};
constexpr NamedContent content_rules[] = {
    {"arange", counted_within},
    {"randint", drawn_within},
    {"argmax", placed_within},
    {"argmin", placed_within},
    {"argsort", sorted_places},
    {"unique", kept_within},
    {"unique_consecutive", kept_within},
    {"topk", second_placed<false>},
    {"sort", second_placed<true>},
    {"kthvalue", second_placed<false>},
    {"median", second_placed<false>},
    {"mode", second_placed<false>},
    {"cummax", second_placed<false>},
    {"cummin", second_placed<false>},
    {"flip", flipped},
    {"fliplr", flipped},
    {"roll", rolled},
    {"pad", padded},
    {"unfold", unfolded},
    {"linspace", evenly_spaced},
    {"tensor", listed},
    {"as_tensor", listed},
    {"zeros", one_number<0>},
    {"ones", one_number<1>},
    {"zero_", one_number<0>},
    {"fill_", filled_again},
    {"full", filled},
    {"full_like", filled},
    {"new_full", filled},
    {"max", extreme_placed<hold_greatest>},
    {"min", extreme_placed<hold_least>},
    {"to", kept_as},
    {"type", kept_as},
    {"type_as", kept_as},
    {"float", kept_as},
    {"double", kept_as},
    {"long", kept_as},
    {"int", kept_as},
    {"short", kept_as},
    {"char", kept_as},
    {"byte", kept_as},
    {"bool", kept_as},
};

}  // namespace

ContentRule content_rule_of(std::string_view operator_name) {
  const auto* found = std::ranges::find(content_rules, operator_name, &NamedContent::name);
  return found == std::end(content_rules) ? arithmetic_rule_of(operator_name) : found->rule;
}

Column content_column() { return column_of("content", content_rules); }

}  // namespace stepzero::libraries
