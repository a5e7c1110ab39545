// Interval arithmetic in 128 bits, weakened on the way back to 64.
#include "symbolic/interval.hpp"

#include <limits>

namespace stepzero::symbolic {
namespace {

constexpr Wide infinity = Wide{1} << 126;

constexpr Wide widen_low(Interval a) { return a.has_low() ? Wide{a.low} : -infinity; }
constexpr Wide widen_high(Interval a) { return a.has_high() ? Wide{a.high} : infinity; }
constexpr bool infinite(Wide a) { return a >= infinity || a <= -infinity; }

// A lower bound above the range is weakened to the greatest finite one, below it is given up; upper ones
// likewise.
constexpr Interval narrow(Wide low, Wide high) {
  constexpr Wide least_finite = Wide{Interval::unbounded_below} + 1;
  constexpr Wide greatest_finite = Wide{Interval::unbounded_above} - 1;
  Interval result;
  if (low >= least_finite) result.low = static_cast<std::int64_t>(std::min(low, greatest_finite));
  if (high <= greatest_finite) result.high = static_cast<std::int64_t>(std::max(high, least_finite));
  return result;
}

constexpr Wide plus(Wide a, Wide b) {
  if (infinite(a)) return a;
  return infinite(b) ? b : a + b;
}

// Factors are infinite or fit 64 bits, so a finite product fits 127.
constexpr Wide times(Wide a, Wide b) {
  if (a == 0 || b == 0) return 0;
  if (infinite(a) || infinite(b)) return (a < 0) == (b < 0) ? infinity : -infinity;
  return a * b;
}

constexpr Wide clip(Wide a) { return infinite(a) || fits(a) ? a : a < 0 ? -infinity : infinity; }

// b > 0. Towards an infinite divisor the quotient is 0, or -1 from below.
constexpr Wide over(Wide a, Wide b) {
  if (infinite(b)) return a < 0 ? -1 : 0;
  if (infinite(a)) return a;
  // The processor divides 64 bits, a library 128.
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  if (fits(a) && fits(b) && a != least)
    return floor_divide(static_cast<std::int64_t>(a), static_cast<std::int64_t>(b));
  return floor_divide(a, b);
}

struct Corners {
  Wide low = infinity;
  Wide high = -infinity;
  constexpr void include(Wide value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

// b lies above zero.
Interval divide_positive(Interval a, Interval b) {
  Corners corners;
  for (Wide x : {widen_low(a), widen_high(a)})
    for (Wide y : {widen_low(b), widen_high(b)}) corners.include(over(x, y));
  return narrow(corners.low, corners.high);
}

Interval modulo_positive(Interval a, Interval b) {
  if (a.low >= 0 && a.high < b.low) return a;
  Interval result{0, b.has_high() ? b.high - 1 : Interval::unbounded_above};
  if (a.low >= 0) result.high = std::min(result.high, a.high);
  return result;
}

// Calls for the part of b above zero and, mirrored, for the one below.
template <class Positive, class Negative> Interval by_sign(Interval b, Positive positive, Negative negative) {
  const bool above = b.high > 0, below = b.low < 0;
  if (!above && !below) return {};
  const Interval upper{std::max<std::int64_t>(b.low, 1), b.high};
  const Interval lower = -Interval{b.low, std::min<std::int64_t>(b.high, -1)};
  if (!below) return positive(upper);
  if (!above) return negative(lower);
  return unite(positive(upper), negative(lower));
}

}  // namespace

Interval operator+(Interval a, Interval b) {
  return narrow(plus(widen_low(a), widen_low(b)), plus(widen_high(a), widen_high(b)));
}

Interval operator-(Interval a) { return narrow(-widen_high(a), -widen_low(a)); }

Interval operator*(Interval a, Interval b) {
  Corners corners;
  for (Wide x : {widen_low(a), widen_high(a)})
    for (Wide y : {widen_low(b), widen_high(b)}) corners.include(times(x, y));
  return narrow(corners.low, corners.high);
}

Interval power(Interval base, std::uint32_t exponent) {
  if (exponent == 1) return base;
  const auto raised = [exponent](Wide value) {
    Wide result = 1;
    // From the 64th factor on every magnitude above one is out of range.
    for (std::uint32_t i = 0; i < std::min<std::uint32_t>(exponent, 64 + exponent % 2); ++i)
      result = clip(times(result, value));
    return result;
  };
  Corners corners;
  corners.include(raised(widen_low(base)));
  corners.include(raised(widen_high(base)));
  if (exponent % 2 == 0 && base.contains(0)) corners.include(0);
  return narrow(corners.low, corners.high);
}

Interval floor_divide(Interval a, Interval b) {
  return by_sign(
      b, [a](Interval y) { return divide_positive(a, y); },
      [a](Interval y) { return divide_positive(-a, y); });
}

Interval modulo(Interval a, Interval b) {
  return by_sign(
      b, [a](Interval y) { return modulo_positive(a, y); },
      [a](Interval y) { return -modulo_positive(-a, y); });
}

Interval least(Interval a, Interval b) { return {std::min(a.low, b.low), std::min(a.high, b.high)}; }
Interval greatest(Interval a, Interval b) { return {std::max(a.low, b.low), std::max(a.high, b.high)}; }

}  // namespace stepzero::symbolic
