// Which numbers are among the elements of a tensor of indices, of any size: what it was filled with, and what
// was listed, stacked, rearranged or cut out of others whose elements are known.
#include "libraries/torch/meaning/contents.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

using values::Content;
using values::Number;
using Numbers = std::vector<Number>;

namespace {

// Numbers that a tensor is known to hold. Of one of two dimensions they may be its `rows`, in order; else
// they stand in no order.
struct Among {
  std::vector<Numbers> rows;
  bool in_order = false;
  bool each = false;  // every element is the one number
};

bool is_some(const Op& op, const TensorState& state) {
  return state.shape.ndim_known &&
      std::ranges::all_of(state.shape.dims, [&](const Dim& d) { return op.equal(d, 0) == Answer::no; });
}
// Of several dimensions, too: see hold_rows. Null if elements have been written since.
const Content* held(const Op& op, const TensorState& state) {
  if (const Content* own = op.run.heap().content_of(state)) return own;
  const Content* known = state.content;
  if (!known || known->is_scalar || !state.shape.ndim_known || state.shape.dims.empty() ||
      known->dtype != state.dtype)
    return nullptr;
  if (known->writes != op.run.heap().writes().of_type[static_cast<std::size_t>(known->dtype)]) return nullptr;
  const Int size = op.product(state.shape.dims);
  return known->numbers.size() == 1 ||
          (size && op.s.value(size) == static_cast<std::int64_t>(known->numbers.size()))
      ? known
      : nullptr;
}
Among among(const Op& op, const TensorState& state, int depth);

// A subscript that takes every element: `x[None, :]`, `x[..., None]`.
bool takes_all(const Op& op, const values::Producer& made) {
  if (!made.row->path.ends_with("__getitem__") || made.arguments.size() < 2) return false;
  const Value index = op.run.resolve(made.arguments[1]);
  const auto all = [&](Value each) {
    each = op.run.resolve(each);
    if (each.is(Kind::none) || each.is(Kind::ellipsis)) return true;
    if (!each.is(Kind::slice)) return false;
    const auto& slice = *each.as<values::SliceObject>();
    return std::ranges::all_of(std::initializer_list<Value>{slice.lower, slice.upper, slice.step},
        [&](Value bound) { return !bound || op.run.resolve(bound).is(Kind::none); });
  };
  return index.is(Kind::tuple) ? std::ranges::all_of(index.as<values::Tuple>()->items, all) : all(index);
}

// Rows and columns that a subscript of slices picks.
Among picked_of(const Op& op, const values::Producer& made, int depth) {
  Among found = among(op, *made.states[0], depth + 1);
  if (found.each) return found;
  const Value index = made.arguments.size() > 1 ? op.run.resolve(made.arguments[1]) : Value{};
  std::vector<Value> slices;
  if (index.is(Kind::tuple))
    slices = index.as<values::Tuple>()->items;
  else
    slices = {index};
  if (!found.in_order || slices.size() > 2 ||
      !std::ranges::all_of(slices, [&](Value each) { return op.run.resolve(each).is(Kind::slice); }))
    return {};
  const auto pick = [&](Value slice, const auto& from) -> std::optional<std::decay_t<decltype(from)>> {
    const auto places = places_of(op, *op.run.resolve(slice).template as<values::SliceObject>(), from.size());
    if (!places) return std::nullopt;
    std::decay_t<decltype(from)> some;
    for (const std::size_t i : *places) some.push_back(from[i]);
    return some;
  };
  auto rows = pick(slices[0], found.rows);
  if (!rows) return {};
  if (slices.size() > 1)
    for (Numbers& row : *rows) {
      auto some = pick(slices[1], row);
      if (!some) return {};
      row = std::move(*some);
    }
  return {std::move(*rows), true, false};
}

Among among(const Op& op, const TensorState& state, int depth) {
  if (depth > values::deepest_source || !is_integral(state.dtype)) return {};
  if (const Content* content = held(op, state)) {
    const Numbers& numbers = content->numbers;
    const auto width = state.shape.dims.size() == 2 ? op.value(state.shape.dims[1]) : std::nullopt;
    if (!width || *width < 1 || numbers.size() == 1 || numbers.size() % static_cast<std::size_t>(*width) != 0)
      return {{numbers}, false, numbers.size() == 1};
    Among found{{}, true, false};
    for (std::size_t i = 0; i < numbers.size(); i += static_cast<std::size_t>(*width))
      found.rows.emplace_back(numbers.begin() + static_cast<std::ptrdiff_t>(i),
          numbers.begin() + static_cast<std::ptrdiff_t>(i) + *width);
    return found;
  }
  if (const values::Extent* extent = op.run.heap().extent_of(state); extent && extent->met)
    return {{{Number{extent->low}, Number{extent->high}}}, false, false};
  const values::Producer* made = state.made;
  if (!made || !made->row) return {};
  switch (semantics_of(*made->row)) {
  case OpSemantics::joined: {
    Among found{{}, true, false};
    for (const TensorState* each : made->listed) {
      if (!each || found.rows.size() > values::most_operations) return {};
      Among more = among(op, *each, depth + 1);
      found.in_order = found.in_order && more.rows.size() == 1 && each->shape.dims.size() == 1 &&
          state.shape.dims.size() == 2 && held(op, *each) && made->arguments.size() > 1 &&
          made->arguments[1].is(Kind::integer) && op.s.value(made->arguments[1].integer()) == 0;
      for (Numbers& row : more.rows) found.rows.push_back(std::move(row));
    }
    return found;
  }
  case OpSemantics::same:
    if (made->states.empty() || !made->states[0] || made->states[0]->dtype != state.dtype) return {};
    return among(op, *made->states[0], depth + 1);
  case OpSemantics::rearranged:
  case OpSemantics::reordered:
  case OpSemantics::repeated: {
    if (made->states.empty() || !made->states[0] || made->states[0]->dtype != state.dtype) return {};
    Among found = among(op, *made->states[0], depth + 1);
    found.in_order = false;
    return found;
  }
  // The number around them, where there is some room for it.
  case OpSemantics::padded: {
    if (made->states.empty() || !made->states[0] || made->states[0]->dtype != state.dtype ||
        op.s.compare(Compare::gt, op.product(state.shape.dims), op.product(made->states[0]->shape.dims)) !=
            Answer::yes)
      return {};
    Among found = among(op, *made->states[0], depth + 1);
    found.in_order = found.each = false;
    const auto& names = made->row->parameters;
    for (std::size_t i = 0; i < names.size() && i < made->arguments.size(); ++i) {
      const Value given = op.run.resolve(made->arguments[i]);
      if (names[i].text() == "mode" && given && !(given.is(Kind::string) && given.text() == "constant"))
        return found;
      if (names[i].text() != "value") continue;
      if (!given || given.is(Kind::none)) found.rows.push_back({Number{op.s.constant(0)}});
      if (given.is(Kind::integer)) found.rows.push_back({Number{given.integer()}});
    }
    return found;
  }
  case OpSemantics::picked:
    if (made->states.empty() || !made->states[0] || made->states.size() > 2 ||
        !made->row->path.ends_with("__getitem__"))
      return {};
    if (takes_all(op, *made)) {
      Among found = among(op, *made->states[0], depth + 1);
      found.in_order = false;
      return found;
    }
    return picked_of(op, *made, depth);
  default: return {};
  }
}

}  // namespace

std::vector<Number> elements_among(Op& op, Value value) {
  const TensorState* state = op.tensor(value);
  if (!state || !is_some(op, *state)) return {};
  std::vector<Number> numbers;
  for (Numbers& row : among(op, *state, 0).rows) numbers.insert(numbers.end(), row.begin(), row.end());
  return numbers;
}

Int number_outside(Op& op, Value indices, Int low, Int high, std::optional<std::int64_t> except) {
  const TensorState* state = op.tensor(indices);
  if (!state || !is_integral(state->dtype) || state->dtype == Dtype::boolean) return nullptr;
  for (const Number& number : elements_among(op, indices)) {
    if (!number.integer ||
        (op.s.compare(Compare::lt, number.integer, low) != Answer::yes &&
            op.s.compare(Compare::ge, number.integer, high) != Answer::yes))
      continue;
    if (except && op.s.compare(Compare::eq, number.integer, op.s.constant(*except)) != Answer::no) continue;
    return number.integer;
  }
  return nullptr;
}

const values::Extent* extent_among(Op& op, Value value) {
  const TensorState* state = op.tensor(value);
  constexpr int most_steps = 8;  // operations back: indices are made by few
  bool some = false;             // of the elements that the bounds are known of
  for (int i = 0; i < most_steps && state && is_integral(state->dtype); ++i) {
    if (const values::Extent* own = op.run.heap().extent_of(*state)) return some && own->met ? nullptr : own;
    const values::Producer* made = state->made;
    if (!made || !made->row || made->states.empty() || !made->states[0] ||
        made->states[0]->dtype != state->dtype)
      return nullptr;
    const OpSemantics semantics = semantics_of(*made->row);
    some = some || (semantics == OpSemantics::picked && !takes_all(op, *made));
    if (semantics != OpSemantics::same && semantics != OpSemantics::rearranged &&
        semantics != OpSemantics::reordered && semantics != OpSemantics::repeated &&
        semantics != OpSemantics::picked)
      return nullptr;
    state = made->states[0];
  }
  return nullptr;
}

std::optional<Bounds> bounds_of(Op& op, Value value) {
  value = op.run.resolve(value);
  if (value.is(Kind::integer)) return Bounds{value.integer(), value.integer(), true, {}};
  if (const values::Extent* extent = extent_among(op, value))
    return Bounds{extent->low, extent->high, extent->met, extent->what};
  // Of a few numbers all are known.
  const TensorState* state = op.tensor(value);
  constexpr int most_steps = 8;  // operations back: indices are made by few
  for (int i = 0; i < most_steps && state && is_integral(state->dtype); ++i) {
    if (const Content* content = held(op, *state)) {
      Bounds found{nullptr, nullptr, true, {}};
      for (const Number& number : content->numbers) {
        if (!number.integer || !op.s.value(number.integer)) return std::nullopt;
        if (!found.low || op.s.value(number.integer) < op.s.value(found.low)) found.low = number.integer;
        if (!found.high || op.s.value(number.integer) > op.s.value(found.high)) found.high = number.integer;
      }
      return found.low ? std::optional(found) : std::nullopt;
    }
    const values::Producer* made = state->made;
    if (!made || !made->row || made->states.empty() || !made->states[0] ||
        made->states[0]->dtype != state->dtype)
      return std::nullopt;
    const OpSemantics semantics = semantics_of(*made->row);
    if (semantics != OpSemantics::same && semantics != OpSemantics::rearranged &&
        semantics != OpSemantics::reordered && semantics != OpSemantics::repeated && !takes_all(op, *made))
      return std::nullopt;
    state = made->states[0];
  }
  return std::nullopt;
}

bool refuses_drawn(Op& op, Value indices, const Dim& size,
    const std::function<interpreter::Refusal(const Dim& greatest)>& refusal) {
  const TensorState* state = op.tensor(indices);
  const values::Extent* extent = state && size.size ? extent_among(op, indices) : nullptr;
  if (!extent || extent->met || op.s.compare(Compare::ge, extent->high, size.size) != Answer::yes ||
      !is_some(op, *state))
    return false;
  op.fail(ProblemKind::index, refusal(op.dim(extent->high)), {size});
  if (!op.told()) return true;
  op.told()->evidence.emplace_back(
      extent->place, extent->drawn ? "drawn here" : std::string(extent->what) + " gives any of them");
  // How likely is it that none of them is too great?
  const auto low = op.s.value(extent->low), high = op.s.value(extent->high), limit = op.s.value(size.size);
  const Int many = op.product(state->shape.dims);
  const auto count = many ? op.s.value(many) : std::nullopt;
  constexpr double never = -20;  // of its logarithm
  const bool sure = extent->drawn && low && high && limit && count && *limit > *low &&
      static_cast<double>(*count) *
              std::log(static_cast<double>(*limit - *low) / static_cast<double>(*high - *low + 1)) <
          never;
  op.told()->overridable = !sure && !(limit && low && *limit <= *low);
  return true;
}

}  // namespace stepzero::libraries
