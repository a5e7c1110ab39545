// Intervals of 64-bit integers, open ended where a bound is not known, and what Python's integer operators
// make of them. A bound that does not fit is given up or weakened, never wrapped. Knows no expression.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

namespace stepzero::symbolic {

__extension__ typedef __int128 Wide;

// Invariant: `low == unbounded_below` and `high == unbounded_above` mean "no bound"; every other value is
// inclusive. An interval with low > high is empty: the facts contradict each other.
struct Interval {
  static constexpr std::int64_t unbounded_below = std::numeric_limits<std::int64_t>::min();
  static constexpr std::int64_t unbounded_above = std::numeric_limits<std::int64_t>::max();

  std::int64_t low = unbounded_below;
  std::int64_t high = unbounded_above;

  static constexpr Interval point(std::int64_t value) { return {value, value}; }
  constexpr bool has_low() const { return low != unbounded_below; }
  constexpr bool has_high() const { return high != unbounded_above; }
  constexpr bool is_point() const { return low == high && has_low() && has_high(); }
  constexpr bool empty() const { return low > high; }
  constexpr bool contains(std::int64_t value) const { return low <= value && value <= high; }
  constexpr bool operator==(const Interval&) const = default;
};

constexpr Interval intersect(Interval a, Interval b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}
constexpr Interval unite(Interval a, Interval b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Interval operator+(Interval a, Interval b);
Interval operator-(Interval a);
Interval operator*(Interval a, Interval b);
Interval power(Interval base, std::uint32_t exponent);
// The divisor is not zero: Python raises there, so no run carries the value on.
Interval floor_divide(Interval a, Interval b);
Interval modulo(Interval a, Interval b);
Interval least(Interval a, Interval b);
Interval greatest(Interval a, Interval b);

// Python's // and %; b is not zero, and the quotient fits.
template <class Integer> constexpr Integer floor_divide(Integer a, Integer b) {
  const Integer quotient = a / b;
  return a % b != 0 && ((a < 0) != (b < 0)) ? quotient - 1 : quotient;
}
template <class Integer> constexpr Integer modulo(Integer a, Integer b) {
  const Integer remainder = a % b;
  return remainder != 0 && ((remainder < 0) != (b < 0)) ? remainder + b : remainder;
}

constexpr bool fits(Wide value) {
  return value >= std::numeric_limits<std::int64_t>::min() &&
      value <= std::numeric_limits<std::int64_t>::max();
}

}  // namespace stepzero::symbolic
