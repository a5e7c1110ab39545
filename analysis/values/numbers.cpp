#include "values/numbers.hpp"

#include "values/kept.hpp"

namespace stepzero::values {
namespace {

template <class Holds> bool on_all_sides(Value value, Holds holds) {
  if (!value.is(Kind::choice)) return value && holds(value);
  const Choice* choice = value.as<Choice>();
  return on_all_sides(choice->yes, holds) && on_all_sides(choice->no, holds);
}

// What is not known, and was not found to be a tensor.
const Unknown* unknown(Value value) {
  return value.is(Kind::unknown) && !value.as<Unknown>()->state.value ? value.as<Unknown>() : nullptr;
}

}  // namespace

namespace {

constexpr int longest_calculation = 8;  // operations that are looked back over

bool is_number_within(const Unknown& unknown, int depth, bool& real);

bool is_operand(Value value, int depth, bool& real) {
  switch (value.kind) {
  case Kind::integer:
  case Kind::boolean: return true;
  case Kind::real: real = true; return true;
  case Kind::unknown: return is_number_within(*value.as<Unknown>(), depth - 1, real);
  default: return false;
  }
}

// Whether it is a float is told, too: floats stay floats in what is calculated with them.
bool is_number_within(const Unknown& unknown, int depth, bool& real) {
  if (unknown.state.value || depth <= 0) return false;
  if (unknown.is_real) real = true;
  if (unknown.is_real || unknown.is_number || unknown.attributes.find(Name(UnknownState::size)) ||
      unknown.default_value.is(Kind::integer))
    return true;
  const Value from = unknown.attributes.value(Name(UnknownState::calculated));
  if (!from.is(Kind::tuple)) return false;
  const auto& parts = from.as<Tuple>()->items;
  if (!is_operand(parts[0], depth, real) || !is_operand(parts[1], depth, real)) return false;
  real = real || !parts[2].is(Kind::none);
  return true;
}

// That it has a number for a default does not say that it is one.
bool turns_out_number(const Unknown& unknown) {
  bool real = false;
  return (unknown.attributes.find(Name(UnknownState::calculated)) ||
             unknown.attributes.find(Name(UnknownState::size))) &&
      is_number_within(unknown, longest_calculation, real);
}
bool turns_out_float(const Unknown& unknown) {
  bool real = false;
  return is_number_within(unknown, longest_calculation, real) && real;
}

}  // namespace

bool is_read_number(Value value) {
  return on_all_sides(value, [](Value side) { return unknown(side) && unknown(side)->is_number; });
}
bool may_be_read(Value value) {
  if (value.is(Kind::choice))
    return may_be_read(value.as<Choice>()->yes) || may_be_read(value.as<Choice>()->no);
  return unknown(value) && unknown(value)->is_number;
}
bool is_float(Value value) {
  return on_all_sides(value,
      [](Value side) { return side.is(Kind::real) || (unknown(side) && turns_out_float(*unknown(side))); });
}
bool is_number(Value value) {
  return on_all_sides(value, [](Value side) {
    return side.is(Kind::integer) || side.is(Kind::boolean) || is_float(side) || is_read_number(side) ||
        (unknown(side) && turns_out_number(*unknown(side)));
  });
}

namespace {

std::optional<double> number_within(const symbolic::Context& symbols, Value value, int depth) {
  if (value.is(Kind::real)) return value.real();
  if (value.is(Kind::integer)) {
    auto known = symbols.value(value.integer());
    if (const symbolic::AtomInfo* atom = known ? nullptr : symbols.atom_info(value.integer()))
      known = atom->usual;
    return known ? std::optional(static_cast<double>(*known)) : std::nullopt;
  }
  const Unknown* found = depth > 0 ? unknown(value) : nullptr;
  if (!found) return std::nullopt;
  if (found->default_value) return number_within(symbols, found->default_value, depth - 1);
  const Value from = found->attributes.value(Name(UnknownState::calculated));
  if (!from.is(Kind::tuple)) return std::nullopt;
  const auto& parts = from.as<Tuple>()->items;
  const auto left = number_within(symbols, parts[0], depth - 1),
             right = number_within(symbols, parts[1], depth - 1);
  const auto op = symbols.value(parts[3].integer());
  if (!left || !right || !op) return std::nullopt;
  switch (static_cast<syntax::BinaryOp>(*op)) {
  case syntax::BinaryOp::add: return *left + *right;
  case syntax::BinaryOp::sub: return *left - *right;
  case syntax::BinaryOp::mul: return *left * *right;
  case syntax::BinaryOp::div: return *right != 0 ? std::optional(*left / *right) : std::nullopt;
  default: return std::nullopt;
  }
}

}  // namespace

std::optional<double> number_by_default(const symbolic::Context& symbols, Value value) {
  return number_within(symbols, value, longest_calculation);
}

}  // namespace stepzero::values
