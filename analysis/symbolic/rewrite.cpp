// Equations of the path as rules: x == y + 1 replaces x, and C % n == 0 replaces C by n*(C//n). Rewritten
// expressions answer questions and are never handed out. Fuel bounds the work; without it an expression stays
// as it is.
#include "symbolic/state.hpp"

namespace stepzero::symbolic {
namespace {

constexpr int fuel_of_a_question = 400;
constexpr int most_iterations = 6;   // rules that feed each other: fuel ends it where they go around
constexpr int deepest_equation = 4;  // quotients of quotients that an equation is solved for

}  // namespace

Int Context::State::rewrite(Int a) {
  if (log.empty() || rewriting) return a;
  if (restating) return rewrite_now(a);
  return rewrites.ask(
      named(now, a->index), [&] { return named(bounds_near(a->mentions), a->index); },
      [&] { return rewrite_now(a); });
}

Int Context::State::rewrite_now(Int a) {
  rewriting = true;
  int fuel = fuel_of_a_question;
  Int result = rewrite(a, fuel);
  rewriting = false;
  return result;
}

Int Context::State::rewrite(Int a, int& fuel) {
  for (int round = 0; round < most_iterations && fuel > 0; ++round) {
    Int next = rewrite_once(a, fuel);
    if (next == a) return a;
    a = next;
  }
  return a;
}

Int Context::State::rewrite_once(Int a, int& fuel) {
  Int sum = constant(0);
  for (const Term& term : a->terms) {
    Int part = constant(term.coefficient);
    for (const Factor& factor : term.monomial->factors) {
      Int raised = power(rewrite_atom(factor.atom, fuel), factor.power);
      part = raised ? mul(part, raised) : nullptr;
      if (!part) return a;
    }
    sum = add(sum, part);
    if (!sum) return a;
  }
  return rewrite_products(sum);
}

Int Context::State::rewrite_atom(Int atom, int& fuel) {
  if (--fuel < 0) return atom;
  const Interval range = bounds(atom, Use::facts);
  if (range.is_point()) return constant(range.low);
  for (Rule& rule : rules) {
    if (rule.monomial != atom->own.monomial || rule.active || rule.coefficient != 1) continue;
    rule.active = true;
    Int result = rewrite(rule.rest, fuel);
    rule.active = false;
    return result;
  }
  if (atom->operands.empty()) return atom;
  std::vector<Int> operands;
  // Once: with C replaced by n*(C//n), going on would replace the C in there forever.
  operands.reserve(atom->operands.size());
  for (Int operand : atom->operands) operands.push_back(rewrite_once(operand, fuel));
  Int result = operate(atom->kind, operands, Use::facts);
  return result ? result : atom;
}

// The rules whose left side is no single atom. A multiple of the sum would do for a comparison with zero, but
// not inside an operation, so only whole multiples of the left side are replaced.
Int Context::State::rewrite_products(Int a) {
  for (const Rule& rule : rules) {
    if (rule.active || (rule.monomial->degree == 1 && rule.coefficient == 1)) continue;
    for (const Term& term : a->terms) {
      const Monomial* times = quotient(term.monomial, rule.monomial);
      if (!times || term.coefficient % rule.coefficient != 0) continue;
      Int old = intern(std::span(&term, 1));
      Int replaced = mul_term(rule.rest, {term.coefficient / rule.coefficient, times});
      Int sum = old && replaced ? sub(a, old) : nullptr;
      sum = sum ? add(sum, replaced) : nullptr;
      if (sum) return sum;
    }
  }
  return a;
}

bool Context::State::add_equation(Int zero, int depth, bool quotient_of_itself) {
  Int sum = rewrite(zero);
  const auto multiple = static_cast<std::int64_t>(content(sum, false));
  if (multiple < 0) return true;  // 2^63
  if (multiple == 0) return sum->terms.empty();
  if (constant_part(sum) % multiple != 0) return false;
  sum = divide_coefficients(sum, multiple);
  Int negative = sum ? scale(sum, -1) : nullptr;
  if (!sum || !negative) return true;
  if (!tighten(sum) || !tighten(negative)) return false;
  if (rules.size() >= most_rules || depth > deepest_equation) return true;
  if (!solve(sum, quotient_of_itself)) return true;

  const Rule added = rules.back();
  Int solved = added.monomial->factors[0].atom;
  if (added.monomial->degree == 1 && solved->kind == Kind::mod && added.coefficient == 1) {
    // x % y == rest, hence x == y*(x//y) + rest
    Int dividend = solved->operands[0], divisor = solved->operands[1];
    Int whole = floordiv(dividend, divisor, Use::form);
    whole = whole ? mul(whole, divisor) : nullptr;
    Int difference = whole ? sub(dividend, whole) : nullptr;
    difference = difference ? sub(difference, added.rest) : nullptr;
    if (difference && !add_equation(difference, depth + 1, true)) return false;
  }
  // A new rule may hide the left side of an older product rule: say that equation again in the new terms.
  for (std::size_t i = 0; i + 1 < rules.size(); ++i) {
    if (rules[i].monomial->degree == 1 && rules[i].coefficient == 1) continue;
    Int left = of_monomial(rules[i].monomial);
    left = left ? scale(left, rules[i].coefficient) : nullptr;
    Int equation = left ? sub(left, rules[i].rest) : nullptr;
    if (!equation) continue;
    rules[i].active = restating = true;
    Int restated = rewrite(equation);
    rules[i].active = restating = false;
    if (restated != equation && !add_equation(restated, depth + 1, false)) return false;
  }
  return true;
}

bool Context::State::solve(Int zero, bool quotient_of_itself) {
  const Term* best = nullptr;
  for (const Term& term : zero->terms) {
    if (term.monomial->degree != 1 || (term.coefficient != 1 && term.coefficient != -1)) continue;
    Int atom = term.monomial->factors[0].atom;
    bool elsewhere = false;
    for (const Term& other : zero->terms)
      for (const Factor& factor : other.monomial->factors) {
        if (&other == &term) continue;
        const bool allowed = quotient_of_itself && factor.atom->kind == Kind::floordiv && factor.atom != atom;
        elsewhere = elsewhere || (!allowed && occurs(atom, factor.atom));
      }
    if (!elsewhere && (!best || best->monomial->factors[0].atom->index < atom->index)) best = &term;
  }
  if (!best && quotient_of_itself) return false;
  const Term left = best ? *best : zero->terms[0];
  Int left_side = intern(std::span(&left, 1));
  Int rest = left_side ? sub(zero, left_side) : nullptr;
  if (rest && left.coefficient > 0) rest = scale(rest, -1);
  if (!rest || left.coefficient == Interval::unbounded_below) return false;
  note({Undo::What::rule}, left_side->mentions | rest->mentions,
      std::uint64_t{rest->index} << 32 | left_side->index);
  rules.push_back({left.monomial, left.coefficient < 0 ? -left.coefficient : left.coefficient, rest});
  connect(left.monomial->mentions | rest->mentions);
  return true;
}

}  // namespace stepzero::symbolic
