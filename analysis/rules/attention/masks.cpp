#include "rules/attention/masks.hpp"

#include "libraries/torch/meaning/op_form.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

using libraries::OpForm;
using symbolic::Answer;

Triangle inverse(Triangle of) { return {!of.lower, of.lower ? of.diagonal + 1 : of.diagonal - 1, of.made}; }

std::optional<double> filled_with(const Record& record, const Producer& made) {
  const OpForm form = libraries::form_of(*made.row);
  if (form == OpForm::ones) return 1;
  if (form != OpForm::filled) return std::nullopt;
  const Value value = argument(made, "fill_value");
  if (value.is(values::Kind::boolean))
    return record.symbols.decide(value.condition()) == Answer::yes ? std::optional(1.0) : std::nullopt;
  return number(record, value);
}

// Does a subscript of it leave what begins at the corner: `mask[:t, :t]`?
bool is_corner(const Record& record, const Producer& made) {
  const Value index = argument(made, 1);
  const auto none = [](Value value) { return !value || value.is(values::Kind::none); };
  const auto from_start = [&](const Value& each) {
    if (each.is(values::Kind::none) || each.is(values::Kind::ellipsis)) return true;
    if (!each.is(values::Kind::slice)) return false;
    const auto& slice = *each.as<values::SliceObject>();
    return (none(slice.lower) || record.number(slice.lower) == 0) && none(slice.step);
  };
  return index.is(values::Kind::tuple) && std::ranges::all_of(index.as<values::Tuple>()->items, from_start);
}

bool negates(const Producer& made) { return libraries::form_of(*made.row) == OpForm::inverted; }
// Positions along a dimension: arange.
bool counts_up(const TensorState* state) { return semantics(source_of(state)) == OpSemantics::count_up; }

}  // namespace

std::optional<Triangle> triangle(const Record& record, const TensorState* mask, int depth) {
  if (!mask || !mask->made || depth > values::deepest_source) return std::nullopt;
  const Producer& made = *mask->made;
  const OpForm form = libraries::form_of(*made.row);
  const TensorState* from = input(made);
  if (form == OpForm::lower_triangle || form == OpForm::upper_triangle) {
    const Value shift = argument(made, "diagonal");
    const auto diagonal = shift ? number(record, shift) : std::optional(0.0);
    const TensorState* full = from ? source_of(from, false) : nullptr;
    if (!diagonal || !full || !full->made || filled_with(record, *full->made) != 1.0) return std::nullopt;
    return Triangle{form == OpForm::lower_triangle, static_cast<std::int64_t>(*diagonal), &made};
  }
  const OpSemantics by = semantics(made);
  if (by == OpSemantics::same || by == OpSemantics::rearranged || form == OpForm::expanded ||
      form == OpForm::boolean || (by == OpSemantics::picked && is_corner(record, made)))
    return triangle(record, from, depth + 1);
  if (by != OpSemantics::equals && !negates(made)) return std::nullopt;
  const auto found = triangle(record, from, depth + 1);
  if (!found || negates(made)) return found ? std::optional(inverse(*found)) : std::nullopt;
  const auto other = number(record, argument(made, 1));
  if (!other || (*other != 0 && *other != 1)) return std::nullopt;
  return (form == OpForm::equal) == (*other == 1) ? *found : inverse(*found);
}

std::optional<Triangle> hidden_triangle(const Record& record, const TensorState* mask, int depth) {
  if (!mask || !mask->made || depth > values::deepest_source) return std::nullopt;
  const Producer& made = *mask->made;
  const OpForm form = libraries::form_of(*made.row);
  const TensorState* from = input(made);
  constexpr double least_hiding = -1e4;
  if (form == OpForm::by_mask) {
    const auto value = made.arguments.size() > 2 ? number(record, made.arguments[2]) : std::nullopt;
    return value && *value <= least_hiding ? triangle(record, input(made, 1)) : std::nullopt;
  }
  if (form == OpForm::lower_triangle || form == OpForm::upper_triangle) {
    const Value shift = argument(made, "diagonal");
    const auto diagonal = shift ? number(record, shift) : std::optional(0.0);
    const TensorState* full = from ? source_of(from, false) : nullptr;
    const auto value = full && full->made ? filled_with(record, *full->made) : std::nullopt;
    if (!diagonal || !value || *value > least_hiding) return std::nullopt;
    return Triangle{form == OpForm::lower_triangle, static_cast<std::int64_t>(*diagonal), &made};
  }
  const OpSemantics by = semantics(made);
  const bool keeps = by == OpSemantics::same || by == OpSemantics::rearranged || form == OpForm::expanded ||
      (by == OpSemantics::picked && is_corner(record, made));
  return keeps ? hidden_triangle(record, from, depth + 1) : std::nullopt;
}

namespace {
// A mask of tokens with columns before or after it that are the same in each row: for a token that stands
// for the whole sequence.
const TensorState* lengthened(const Record& record, const Producer& made) {
  const TensorState* found = nullptr;
  for (const TensorState* each : made.listed) {
    if (!each || !each->made) return nullptr;
    if (position_mask(record, each)) {
      if (found) return nullptr;
      found = each;
    } else if (const TensorState* from = source_of(each); !from->made) {
      return nullptr;
    } else if (const OpForm form = libraries::form_of(*from->made->row);
        form != OpForm::zeros && form != OpForm::ones && form != OpForm::filled) {
      return nullptr;
    }
  }
  return found;
}
}  // namespace

std::optional<PositionMask> position_mask(const Record& record, const TensorState* mask, int depth) {
  if (!mask || !mask->made || depth > values::deepest_source) return std::nullopt;
  const Producer& made = *mask->made;
  const OpSemantics by = semantics(made);
  const OpForm form = libraries::form_of(*made.row);
  const TensorState *one = input(made, 0), *other = input(made, 1);
  if (by == OpSemantics::equals && one && !other && made.arguments.size() > 1) {
    const auto number = rules::number(record, made.arguments[1]);
    // 1 may be padding, or what a mask of integers says of a token that is there.
    if (!number || *number == 1 || one->dtype == values::Dtype::boolean) return std::nullopt;
    return PositionMask{&made, form == OpForm::unequal, number};
  }
  if (by == OpSemantics::ordered && one && other && counts_up(one) != counts_up(other)) {
    const bool less = form == OpForm::less;
    return PositionMask{&made, less != counts_up(one), std::nullopt};
  }
  // Numbers of tokens are not negative, unless they are padding: above 0, or not below, is what is there.
  if (by == OpSemantics::ordered && one && !other && made.arguments.size() > 1 &&
      semantics(one) == OpSemantics::none && !values::is_floating(one->dtype) &&
      one->dtype != values::Dtype::unknown && one->dtype != values::Dtype::boolean) {
    const auto number = rules::number(record, made.arguments[1]);
    if (number != 0.0 || (form != OpForm::greater && form != OpForm::less)) return std::nullopt;
    return PositionMask{&made, form == OpForm::greater, number};
  }
  if (by == OpSemantics::joined) return position_mask(record, lengthened(record, made), depth + 1);
  const bool keeps = by == OpSemantics::same || by == OpSemantics::rearranged ||
      by == OpSemantics::repeated || by == OpSemantics::picked || form == OpForm::boolean;
  if (!keeps && !negates(made)) return std::nullopt;
  auto found = position_mask(record, one, depth + 1);
  if (found && negates(made)) found->inverted = !found->inverted;
  return found;
}

}  // namespace stepzero::rules
