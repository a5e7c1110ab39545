#include "values/numbers.hpp"

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

bool is_read_number(Value value) {
  return on_all_sides(value, [](Value side) { return unknown(side) && unknown(side)->is_number; });
}
bool is_float(Value value) {
  return on_all_sides(
      value, [](Value side) { return side.is(Kind::real) || (unknown(side) && unknown(side)->is_real); });
}
bool is_number(Value value) {
  return on_all_sides(value, [](Value side) {
    return side.is(Kind::integer) || side.is(Kind::boolean) || is_float(side) || is_read_number(side);
  });
}

}  // namespace stepzero::values
