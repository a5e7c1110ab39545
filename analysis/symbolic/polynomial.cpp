// Sums and products of atoms. Everything here is exact: a result that does not fit is null.
#include "symbolic/state.hpp"

#include <numeric>
#include <unordered_map>

namespace stepzero::symbolic {
namespace {

// Terms under construction, in order; overfull once too many were added.
class Terms {
public:
  void add(std::int64_t coefficient, const Monomial* monomial) {
    if (coefficient == 0) return;
    if (count_ < most_terms) terms_[count_] = {coefficient, monomial};
    ++count_;
  }
  bool overfull() const { return count_ > most_terms; }
  std::span<const Term> view() const { return {terms_.data(), count_}; }

private:
  std::array<Term, most_terms> terms_;
  std::size_t count_ = 0;
};

}  // namespace

bool Context::State::before(const Monomial* a, const Monomial* b) {
  if (a->degree != b->degree) return a->degree > b->degree;
  const std::size_t shared = std::min(a->factors.size(), b->factors.size());
  for (std::size_t i = 0; i < shared; ++i) {
    const Factor &x = a->factors[i], &y = b->factors[i];
    if (x.atom != y.atom) return x.atom->index < y.atom->index;
    if (x.power != y.power) return x.power > y.power;
  }
  return false;
}

Int Context::State::add(Int a, Int b) {
  if (a->constant() && b->constant()) {
    std::int64_t sum;
    return __builtin_add_overflow(a->value(), b->value(), &sum) ? nullptr : constant(sum);
  }
  return plus_scaled(a, b, 1);
}

Int Context::State::plus_scaled(Int a, Int b, std::int64_t factor) {
  if (b->terms.empty() || factor == 0) return a;
  if (a == b && factor == -1) return constant(0);
  Terms sum;
  auto x = a->terms.begin(), y = b->terms.begin();
  while (x != a->terms.end() || y != b->terms.end()) {
    if (y == b->terms.end() ||
        (x != a->terms.end() && x->monomial != y->monomial && before(x->monomial, y->monomial))) {
      sum.add(x->coefficient, x->monomial);
      ++x;
      continue;
    }
    std::int64_t coefficient;
    if (__builtin_mul_overflow(y->coefficient, factor, &coefficient)) return nullptr;
    if (x != a->terms.end() && x->monomial == y->monomial) {
      if (__builtin_add_overflow(x->coefficient, coefficient, &coefficient)) return nullptr;
      ++x;
    }
    sum.add(coefficient, y->monomial);
    ++y;
  }
  return sum.overfull() ? nullptr : intern(sum.view());
}

const Monomial* Context::State::product(const Monomial* a, const Monomial* b) {
  if (a->degree == 0) return b;
  if (b->degree == 0) return a;
  if (a->degree + b->degree > most_degree) return nullptr;
  std::array<Factor, most_degree> factors;
  std::size_t count = 0;
  auto x = a->factors.begin(), y = b->factors.begin();
  while (x != a->factors.end() || y != b->factors.end()) {
    if (y == b->factors.end() || (x != a->factors.end() && x->atom->index < y->atom->index)) {
      factors[count++] = *x++;
    } else if (x != a->factors.end() && x->atom == y->atom) {
      factors[count++] = {x->atom, x->power + y->power};
      ++x, ++y;
    } else {
      factors[count++] = *y++;
    }
  }
  return intern(std::span<const Factor>(factors.data(), count));
}

const Monomial* Context::State::quotient(const Monomial* a, const Monomial* b) {
  if (b->degree == 0) return a;
  if (a == b) return unit;
  if (a->degree <= b->degree) return nullptr;
  std::array<Factor, most_degree> factors;
  std::size_t count = 0;
  auto y = b->factors.begin();
  for (const Factor& factor : a->factors) {
    std::uint32_t power = factor.power;
    if (y != b->factors.end() && y->atom == factor.atom) {
      if (y->power > power) return nullptr;
      power -= y->power;
      ++y;
    }
    if (power > 0) factors[count++] = {factor.atom, power};
  }
  if (y != b->factors.end()) return nullptr;
  return intern(std::span<const Factor>(factors.data(), count));
}

const Monomial* Context::State::common(const Monomial* a, const Monomial* b) {
  if (a == b) return a;
  std::array<Factor, most_degree> factors;
  std::size_t count = 0;
  for (const Factor& x : a->factors)
    for (const Factor& y : b->factors)
      if (x.atom == y.atom) factors[count++] = {x.atom, std::min(x.power, y.power)};
  return intern(std::span<const Factor>(factors.data(), count));
}

Int Context::State::mul_term(Int a, Term term) {
  if (term.coefficient == 0 || a->terms.empty()) return constant(0);
  if (term.coefficient == 1 && term.monomial == unit) return a;
  // A monomial order: multiplying by one term keeps the terms in order.
  Terms result;
  for (const Term& each : a->terms) {
    std::int64_t coefficient;
    if (__builtin_mul_overflow(each.coefficient, term.coefficient, &coefficient)) return nullptr;
    const Monomial* monomial = product(each.monomial, term.monomial);
    if (!monomial) return nullptr;
    result.add(coefficient, monomial);
  }
  return intern(result.view());
}

Int Context::State::mul(Int a, Int b) {
  if (a->constant() && b->constant()) {
    std::int64_t result;
    return __builtin_mul_overflow(a->value(), b->value(), &result) ? nullptr : constant(result);
  }
  if (a->terms.size() <= 1) return a->terms.empty() ? a : mul_term(b, a->terms[0]);
  if (b->terms.size() <= 1) return b->terms.empty() ? b : mul_term(a, b->terms[0]);
  scratch.clear();
  for (const Term& x : a->terms)
    for (const Term& y : b->terms) {
      std::int64_t coefficient;
      if (__builtin_mul_overflow(x.coefficient, y.coefficient, &coefficient)) return nullptr;
      const Monomial* monomial = product(x.monomial, y.monomial);
      if (!monomial) return nullptr;
      scratch.push_back({coefficient, monomial});
    }
  std::stable_sort(scratch.begin(), scratch.end(), [](const Term& x, const Term& y) {
    return x.monomial != y.monomial && before(x.monomial, y.monomial);
  });
  Terms result;
  for (std::size_t i = 0; i < scratch.size();) {
    const Monomial* monomial = scratch[i].monomial;
    Wide sum = 0;  // of at most 4096 coefficients of 64 bits
    for (; i < scratch.size() && scratch[i].monomial == monomial; ++i) sum += scratch[i].coefficient;
    if (!fits(sum)) return nullptr;
    result.add(static_cast<std::int64_t>(sum), monomial);
  }
  return result.overfull() ? nullptr : intern(result.view());
}

Int Context::State::power(Int base, std::int64_t exponent) {
  if (exponent == 0) return constant(1);
  if (base->constant()) {
    const std::int64_t value = base->value();
    if (value == 0 || value == 1) return base;
    if (value == -1) return constant(exponent % 2 ? -1 : 1);
  }
  if (exponent > most_degree) return nullptr;
  Int result = base;
  for (std::int64_t i = 1; result && i < exponent; ++i) result = mul(result, base);
  return result;
}

Int Context::State::of_monomial(const Monomial* monomial) {
  const Term term{1, monomial};
  return intern(std::span(&term, 1));
}

std::int64_t Context::State::constant_part(Int a) {
  if (a->terms.empty()) return 0;
  const Term& last_term = a->terms.back();
  return last_term.monomial->degree == 0 ? last_term.coefficient : 0;
}

std::uint64_t Context::State::content(Int a, bool with_constant) {
  std::uint64_t divisor = 0;
  for (const Term& term : a->terms)
    if (with_constant || term.monomial->degree > 0) divisor = std::gcd(divisor, magnitude(term.coefficient));
  return divisor;
}

Int Context::State::divide_coefficients(Int a, std::int64_t divisor) {
  if (divisor == 1) return a;
  Terms result;
  for (const Term& term : a->terms) {
    const Wide quotient = floor_divide(Wide{term.coefficient}, Wide{divisor});
    if (!fits(quotient)) return nullptr;
    result.add(static_cast<std::int64_t>(quotient), term.monomial);
  }
  return intern(result.view());
}

bool Context::State::occurs(Int atom, Int in) const {
  if (in == atom) return true;
  if (in->depth < atom->depth) return false;
  for (Int operand : in->operands)
    if (occurs(atom, operand)) return true;
  if (in->kind != Kind::sum) return false;
  for (const Term& term : in->terms)
    for (const Factor& factor : term.monomial->factors)
      if (occurs(atom, factor.atom)) return true;
  return false;
}

Int Context::State::operate(Kind kind, std::span<const Int> operands, Use use) {
  switch (kind) {
  case Kind::floordiv: return floordiv(operands[0], operands[1], use);
  case Kind::mod: return mod(operands[0], operands[1], use);
  default: return extremum(kind, operands, use);
  }
}

Int Context::State::substitute(Int a, std::span<const Assignment> values) {
  if (a->constant()) return a;
  if (a->atomic()) {
    for (const Assignment& assignment : values)
      if (assignment.atom == a) return constant(assignment.value);
    if (a->kind == Kind::atom) return a;
    std::vector<Int> operands;
    bool changed = false;
    for (Int operand : a->operands) {
      operands.push_back(substitute(operand, values));
      if (!operands.back()) return nullptr;
      changed |= operands.back() != operand;
    }
    return changed ? operate(a->kind, operands, Use::form) : a;
  }
  Int sum = constant(0);
  for (const Term& term : a->terms) {
    Int part = constant(term.coefficient);
    for (const Factor& factor : term.monomial->factors) {
      Int replaced = substitute(factor.atom, values);
      Int raised = replaced ? power(replaced, factor.power) : nullptr;
      part = raised ? mul(part, raised) : nullptr;
      if (!part) return nullptr;
    }
    sum = add(sum, part);
    if (!sum) return nullptr;
  }
  return sum;
}

std::optional<std::int64_t> Context::State::evaluate(Int a, std::span<const Assignment> values) const {
  if (a->constant()) return a->value();
  if (a->kind == Kind::sum) {
    std::int64_t sum = 0;
    for (const Term& term : a->terms) {
      std::int64_t part = term.coefficient;
      for (const Factor& factor : term.monomial->factors) {
        const auto value = evaluate(factor.atom, values);
        if (!value) return {};
        for (std::uint32_t i = 0; i < factor.power; ++i)
          if (__builtin_mul_overflow(part, *value, &part)) return {};
      }
      if (__builtin_add_overflow(sum, part, &sum)) return {};
    }
    return sum;
  }
  for (const Assignment& assignment : values)
    if (assignment.atom == a) return assignment.value;
  if (a->kind == Kind::atom) return {};
  std::optional<std::int64_t> result;
  for (Int operand : a->operands) {
    const auto value = evaluate(operand, values);
    if (!value) return {};
    if (!result) {
      result = value;
      continue;
    }
    switch (a->kind) {
    case Kind::min: result = std::min(*result, *value); break;
    case Kind::max: result = std::max(*result, *value); break;
    default: {
      if (*value == 0) return {};
      const Wide x = *result, y = *value;
      const Wide exact = a->kind == Kind::mod ? modulo(x, y) : floor_divide(x, y);
      if (!fits(exact)) return {};
      result = static_cast<std::int64_t>(exact);
    }
    }
  }
  return result;
}

}  // namespace stepzero::symbolic
