// Python's // and % of expressions. A divisor is taken to be non-zero: where it is zero Python raises, so no
// run that carries the result on has it. That makes a*b // b == a, and (x*y) // (x*z) == y // z, sound
// without knowing b or x.
#include "symbolic/state.hpp"

#include <numeric>

namespace stepzero::symbolic {
namespace {

// Of a divisor that is not zero.
bool positive(Interval divisor) { return divisor.low >= 0; }

}  // namespace

Int Context::State::exact_quotient(Int a, Int b) {
  if (b->terms.empty()) return nullptr;
  const Term lead = b->terms[0];
  Int quotient_so_far = constant(0);
  Int rest = a;
  for (std::size_t steps = 0; !rest->terms.empty(); ++steps) {
    if (steps > most_terms) return nullptr;
    const Term top = rest->terms[0];
    const Monomial* monomial = quotient(top.monomial, lead.monomial);
    if (!monomial || Wide{top.coefficient} % lead.coefficient != 0) return nullptr;
    const Wide coefficient = Wide{top.coefficient} / lead.coefficient;
    if (!fits(coefficient)) return nullptr;
    const Term term{static_cast<std::int64_t>(coefficient), monomial};
    const Int part = intern(std::span(&term, 1));
    const Int taken = mul_term(b, term);
    rest = taken ? plus_scaled(rest, taken, -1) : nullptr;
    quotient_so_far = part ? add(quotient_so_far, part) : nullptr;
    if (!rest || !quotient_so_far) return nullptr;
  }
  return quotient_so_far;
}

// Divides a and b by what all their terms share; `factor` is what was divided by. False if something did not
// fit.
bool Context::State::cancel(Int& a, Int& b, Int& factor) {
  factor = constant(1);
  const std::uint64_t divisor = std::gcd(content(a, true), content(b, true));
  const Monomial* shared = b->terms[0].monomial;
  for (Int each : {a, b})
    for (const Term& term : each->terms) shared = common(shared, term.monomial);
  if (divisor > static_cast<std::uint64_t>(Interval::unbounded_above)) return true;
  if (divisor <= 1 && shared->degree == 0) return true;
  const Term term{static_cast<std::int64_t>(divisor), shared};
  factor = intern(std::span(&term, 1));
  if (!factor) return false;
  a = exact_quotient(a, factor);
  b = exact_quotient(b, factor);
  return a && b;
}

Int Context::State::floordiv(Int a, Int b, Use use) {
  if (b->terms.empty()) return nullptr;
  if (a->constant() && b->constant()) {
    if (b->value() == -1) return scale(a, -1);  // the one quotient that may not fit
    return constant(floor_divide(a->value(), b->value()));
  }
  if (a->terms.empty()) return a;
  if (a == b) return constant(1);
  if (b->terms[0].coefficient < 0) {
    a = scale(a, -1);
    b = scale(b, -1);
    if (!a || !b) return nullptr;
  }
  if (b->constant()) {
    // (g*r + c) // (g*k) == (r + c//g) // k
    const std::uint64_t shared = std::gcd(content(a, false), static_cast<std::uint64_t>(b->value()));
    if (shared > 1) {
      a = divide_coefficients(a, static_cast<std::int64_t>(shared));
      if (!a) return nullptr;
      b = constant(b->value() / static_cast<std::int64_t>(shared));
    }
  } else {
    Int factor;
    if (!cancel(a, b, factor)) return nullptr;
  }
  if (b->constant() && b->value() == 1) return a;

  // a == whole*b + rest
  Int whole = constant(0), rest = a;
  if (b->terms.size() == 1) {
    const Term divisor = b->terms[0];
    for (const Term& term : a->terms) {
      const Monomial* monomial = quotient(term.monomial, divisor.monomial);
      if (!monomial) continue;
      const bool rounds = divisor.monomial->degree == 0 && (use == Use::facts || monomial->degree == 0);
      if (!rounds && Wide{term.coefficient} % divisor.coefficient != 0) continue;
      // The divisor's coefficient is positive, so the quotient fits.
      const Term part{
          static_cast<std::int64_t>(floor_divide(Wide{term.coefficient}, Wide{divisor.coefficient})),
          monomial};
      if (part.coefficient == 0) continue;
      Int quotient_part = intern(std::span(&part, 1));
      whole = quotient_part ? add(whole, quotient_part) : nullptr;
      if (!whole) return nullptr;
    }
    Int taken = mul(whole, b);
    rest = taken ? sub(a, taken) : nullptr;
    if (!rest) return nullptr;
  } else if (Int exact = exact_quotient(a, b)) {
    return exact;
  }
  if (rest->terms.empty()) return whole;

  const Interval range = floor_divide(bounds(rest, use), bounds(b, use));
  if (range.is_point()) return add(whole, constant(range.low));
  if (bounds(rest, use).low >= 0 && positive(bounds(b, use)) && !b->constant()) {
    Int excess = sub(rest, b);  // rest <= b - 1
    excess = excess ? add(excess, constant(1)) : nullptr;
    if (excess && at_most_zero(excess, use)) return whole;
  }

  // (x//c + n) // b == (x + n*c) // (c*b) for positive b.
  const std::int64_t offset = constant_part(rest);
  Int inner = offset == 0 ? rest : sub(rest, constant(offset));
  if (inner && inner->kind == Kind::floordiv && positive(bounds(b, use)) &&
      (offset == 0 || (b->constant() && inner->operands[1]->constant()))) {
    Int shift = mul(constant(offset), inner->operands[1]);
    Int dividend = shift ? add(inner->operands[0], shift) : nullptr;
    Int divisor = mul(inner->operands[1], b);
    Int merged = dividend && divisor ? floordiv(dividend, divisor, use) : nullptr;
    return merged ? add(whole, merged) : nullptr;
  }
  Int atom = operation(Kind::floordiv, std::array{rest, b});
  return atom ? add(whole, atom) : nullptr;
}

Int Context::State::mod(Int a, Int b, Use use) {
  if (b->terms.empty()) return nullptr;
  if (a->constant() && b->constant()) return constant(b->value() == -1 ? 0 : modulo(a->value(), b->value()));
  if (a->terms.empty() || a == b) return constant(0);
  if (b->terms[0].coefficient < 0) {  // a % -b == -(-a % b)
    a = scale(a, -1);
    b = scale(b, -1);
    Int mirrored = a && b ? mod(a, b, use) : nullptr;
    return mirrored ? scale(mirrored, -1) : nullptr;
  }
  Int factor;
  if (!cancel(a, b, factor)) return nullptr;
  if (!factor->constant() || factor->value() != 1) {
    Int reduced = mod(a, b, use);
    return reduced ? mul(factor, reduced) : nullptr;
  }
  if (b->constant() && b->value() == 1) return constant(0);

  Int rest = a;
  for (const Term& term : a->terms) {
    // Whatever is a multiple of b goes; what remains of a coefficient lies in [0, b), or is -1.
    Int gone = nullptr;
    const Term* divisor = b->terms.size() == 1 ? &b->terms[0] : nullptr;
    if (divisor && divisor->monomial->degree == 0) {
      const std::int64_t modulus = divisor->coefficient;
      auto remainder = static_cast<std::int64_t>(modulo(Wide{term.coefficient}, Wide{modulus}));
      if (term.monomial->degree > 0 && modulus > 2 && remainder == modulus - 1) remainder = -1;
      if (remainder == term.coefficient) continue;
      const Wide difference = Wide{term.coefficient} - remainder;
      if (!fits(difference)) return nullptr;
      const Term part{static_cast<std::int64_t>(difference), term.monomial};
      gone = intern(std::span(&part, 1));
      if (!gone) return nullptr;
    } else if (divisor && term.coefficient % divisor->coefficient == 0 &&
        quotient(term.monomial, divisor->monomial)) {
      gone = intern(std::span(&term, 1));
      if (!gone) return nullptr;
    } else if (term.monomial->degree == 1 && term.monomial->factors[0].atom->kind == Kind::mod) {
      // (x % c) differs from x by a multiple of c, hence of b.
      Int inner = term.monomial->factors[0].atom;
      if (!exact_quotient(inner->operands[1], b)) continue;
      Int difference = sub(inner, inner->operands[0]);
      gone = difference ? scale(difference, term.coefficient) : nullptr;
      if (!gone) return nullptr;
    }
    if (gone) rest = sub(rest, gone);
    if (!rest) return nullptr;
  }
  if (rest != a) return mod(rest, b, use);
  // For a constant divisor the loop above leaves mod atoms be: their coefficient was in range.
  if (b->constant())
    for (const Term& term : a->terms) {
      if (term.monomial->degree != 1 || term.monomial->factors[0].atom->kind != Kind::mod) continue;
      Int inner = term.monomial->factors[0].atom;
      if (!exact_quotient(inner->operands[1], b)) continue;
      Int difference = sub(inner->operands[0], inner);
      difference = difference ? scale(difference, term.coefficient) : nullptr;
      rest = difference ? add(a, difference) : nullptr;
      return rest ? mod(rest, b, use) : nullptr;
    }
  if (b->terms.size() > 1 && exact_quotient(a, b)) return constant(0);

  const Interval dividend = bounds(a, use), divisor = bounds(b, use);
  if (b->constant()) {
    const Interval quotients = floor_divide(dividend, divisor);
    if (quotients.is_point()) {
      Int offset = mul(constant(quotients.low), b);
      return offset ? sub(a, offset) : nullptr;
    }
  } else if (dividend.low >= 0 && positive(divisor)) {
    Int excess = sub(a, b);
    excess = excess ? add(excess, constant(1)) : nullptr;
    if (excess && at_most_zero(excess, use)) return a;
  }
  return operation(Kind::mod, std::array{a, b});
}

}  // namespace stepzero::symbolic
