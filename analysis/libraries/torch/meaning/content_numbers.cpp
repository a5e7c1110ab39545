#include "libraries/torch/meaning/content_numbers.hpp"

#include "libraries/torch/ops/operators.hpp"

#include <limits>

namespace stepzero::libraries {

using values::Content;
using values::Number;

Number between(double low, double high, Dtype dtype, int steps) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (int i = 0; i < steps; ++i) {
    if (dtype == Dtype::float32) {
      low = std::nextafter(static_cast<float>(low), -std::numeric_limits<float>::infinity());
      high = std::nextafter(static_cast<float>(high), std::numeric_limits<float>::infinity());
    } else {
      low = std::nextafter(low, -infinity);
      high = std::nextafter(high, infinity);
    }
  }
  return {nullptr, low, high};
}

static bool fits(std::int64_t value, Dtype dtype) {
  switch (dtype) {
  case Dtype::int64: return true;
  case Dtype::int32: return value == static_cast<std::int32_t>(value);
  case Dtype::int16: return value == static_cast<std::int16_t>(value);
  case Dtype::int8: return value == static_cast<std::int8_t>(value);
  case Dtype::uint8: return value == static_cast<std::uint8_t>(value);
  default: return false;
  }
}
std::optional<Number> whole(const Op& op, std::int64_t value, Dtype dtype) {
  return fits(value, dtype) ? std::optional(Number{op.s.constant(value)}) : std::nullopt;
}

std::optional<Number> converted(const Op& op, const Number& number, Dtype to) {
  if (is_computed(to)) {
    if (!number.integer)
      return number.exact()      ? Number{nullptr, rounded(number.low, to), rounded(number.low, to)}
          : to == Dtype::float64 ? number
                                 : between(number.low, number.high, to, 1);
    const auto value = constant(op, number);
    if (!value || std::abs(*value) > (std::int64_t{1} << 53)) return std::nullopt;
    const double real = rounded(static_cast<double>(*value), to);
    return Number{nullptr, real, real};
  }
  if (to == Dtype::boolean) {
    if (const auto value = constant(op, number)) return truth(op, *value != 0);
    if (number.integer || (number.low <= 0 && number.high >= 0 && !number.exact())) return std::nullopt;
    return truth(op, number.low != 0);
  }
  if (!is_integral(to)) return std::nullopt;
  if (number.integer) {
    const auto value = constant(op, number);
    if (!value) return to == Dtype::int64 ? std::optional(number) : std::nullopt;
    return whole(op, *value, to);
  }
  if (!is_finite(number) || std::trunc(number.low) != std::trunc(number.high) || std::abs(number.low) > 9e15)
    return std::nullopt;
  return whole(op, static_cast<std::int64_t>(number.low), to);
}

std::optional<Numbers> numbers_of(const Op& op, Value value, Dtype dtype) {
  Numbers numbers;
  if (const Content* content = op.content(value)) {
    numbers = content->numbers;
  } else if (value.is(Kind::integer)) {
    numbers = {Number{value.integer()}};
  } else if (value.is(Kind::real)) {
    numbers = {Number{nullptr, value.real(), value.real()}};
  } else if (value.is(Kind::boolean)) {
    const Answer answer = op.s.decide(value.condition());
    if (answer == Answer::unknown) return std::nullopt;
    numbers = {truth(op, answer == Answer::yes)};
  } else {
    return std::nullopt;
  }
  if (dtype == Dtype::unknown) return numbers;
  for (Number& number : numbers) {
    const auto as = converted(op, number, dtype);
    if (!as) return std::nullopt;
    number = *as;
  }
  return numbers;
}

}  // namespace stepzero::libraries
