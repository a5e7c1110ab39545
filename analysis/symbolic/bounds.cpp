// How small and how great an expression can be: intervals term by term, then a bounded search that adds up
// inequalities known to hold (facts, and what the operations mean), so that a < b and b < c bound a - c.
#include "symbolic/state.hpp"

#include <numeric>

namespace stepzero::symbolic {

Interval Context::State::operation_bounds(Kind kind, std::span<const Interval> operands) {
  switch (kind) {
  case Kind::floordiv: return floor_divide(operands[0], operands[1]);
  case Kind::mod: return modulo(operands[0], operands[1]);
  default: break;
  }
  Interval result = operands[0];
  for (Interval operand : operands.subspan(1))
    result = kind == Kind::min ? least(result, operand) : greatest(result, operand);
  return result;
}

Interval Context::State::bounds(const Monomial* monomial, Use use) const {
  if (monomial->degree == 0) return Interval::point(1);
  const auto bounded = [&](const Factor& factor) {
    return symbolic::power(bounds(factor.atom, use), factor.power);
  };
  Interval result = bounded(monomial->factors[0]);
  for (const Factor& factor : monomial->factors.subspan(1)) result = result * bounded(factor);
  return result;
}

Interval Context::State::bounds(const Term& term, Use use) const {
  if (term.monomial->degree == 0) return Interval::point(term.coefficient);
  const Interval range = bounds(term.monomial, use);
  if (term.coefficient == 1) return range;
  return term.coefficient == -1 ? -range : Interval::point(term.coefficient) * range;
}

Interval Context::State::bounds(Int a, Use use) const {
  if (a->constant() || use == Use::form || log.empty()) return a->bounds;
  if (a->kind == Kind::atom) return known[a->number];
  if (!meet(a->mentions, bounded)) return a->bounds;
  // Operations in operations share operands: each would be gone through once for every way that leads to it.
  constexpr int simple = 1;  // operations that are computed as quickly as they are looked up
  if (a->depth <= simple) return bounds_now(a);
  const std::uint64_t question = named(now, a->index);
  if (const Interval* found = ranges.find(question)) return *found;
  const Interval found = bounds_now(a);
  ranges.put(question, found);
  return found;
}

Interval Context::State::bounds_now(Int a) const {
  if (a->kind == Kind::sum) {
    Interval result = Interval::point(0);
    for (const Term& term : a->terms) result = result + bounds(term, Use::facts);
    return result;
  }
  std::array<Interval, most_terms> operands;
  std::size_t count = 0;
  for (Int operand : a->operands) operands[count++] = bounds(operand, Use::facts);
  const Interval computed = operation_bounds(a->kind, std::span<const Interval>(operands.data(), count));
  return intersect(computed, known[a->number]);
}

void Context::State::axioms(Int atom, Use use, std::vector<Int>& out) {
  const auto state = [&out](Int at_most_zero) {
    if (at_most_zero && !at_most_zero->constant()) out.push_back(at_most_zero);
  };
  const auto minus = [this](Int a, Int b) { return a && b ? sub(a, b) : nullptr; };
  switch (atom->kind) {
  case Kind::min:
    for (Int operand : atom->operands) state(minus(atom, operand));
    return;
  case Kind::max:
    for (Int operand : atom->operands) state(minus(operand, atom));
    return;
  case Kind::mod:
  case Kind::floordiv: break;
  default: return;
  }
  Int dividend = atom->operands[0], divisor = atom->operands[1];
  // Divisors are not zero; of one that may be negative little is known.
  if (bounds(divisor, use).low < 0) return;
  const bool shrinks = bounds(dividend, use).low >= 0;
  if (shrinks) state(minus(atom, dividend));
  if (atom->kind == Kind::mod) {
    state(minus(atom, minus(divisor, constant(1))));
    return;
  }
  Int product_back = mul(divisor, atom);
  state(minus(product_back, dividend));                                      // b*(a//b) <= a
  state(minus(minus(dividend, product_back), minus(divisor, constant(1))));  // a - b*(a//b) <= b - 1
}

struct Context::State::Search {
  Use use;
  int steps_left;
  std::vector<Int> axioms;      // of the operations met so far
  std::vector<Int> operations;  // those operations
  std::vector<Int> met;         // sums that were bounded already
};

std::int64_t Context::State::search_upper(Int a, std::int64_t goal, Search& search, int depth) {
  std::int64_t best = bounds(a, search.use).high;
  if (best <= goal || depth == 0 || a->constant()) return best;
  for (const Term& term : a->terms)
    for (const Factor& factor : term.monomial->factors) {
      if (factor.atom->operands.empty()) continue;
      if (std::find(search.operations.begin(), search.operations.end(), factor.atom) !=
          search.operations.end())
        continue;
      search.operations.push_back(factor.atom);
      axioms(factor.atom, search.use, search.axioms);
    }
  const auto attempt = [&](Int inequality) {
    for (const Term& term : inequality->terms) {
      if (term.monomial->degree == 0) continue;
      for (const Term& target : a->terms) {
        if ((target.coefficient < 0) != (term.coefficient < 0)) continue;
        const Monomial* times = quotient(target.monomial, term.monomial);
        if (!times || (times->degree > 0 && bounds(times, search.use).low < 0)) continue;
        if (--search.steps_left <= 0) return;
        // scale*a - factor*times*inequality loses this term, and scale*a is at most its upper bound.
        const std::int64_t x = target.coefficient, y = term.coefficient;
        if (x == Interval::unbounded_below || y == Interval::unbounded_below) continue;
        const std::int64_t divisor = std::gcd(x, y);
        const std::int64_t scale_by = std::abs(y / divisor), factor = std::abs(x / divisor);
        Int scaled = scale(a, scale_by);
        Int taken = mul_term(inequality, {factor, times});
        Int rest = scaled && taken ? sub(scaled, taken) : nullptr;
        if (!rest || std::find(search.met.begin(), search.met.end(), rest) != search.met.end()) continue;
        search.met.push_back(rest);
        const Wide wanted = Wide{goal} * scale_by + (scale_by - 1);
        const std::int64_t rest_goal = fits(wanted) ? static_cast<std::int64_t>(wanted) : goal;
        const std::int64_t found = search_upper(rest, rest_goal, search, depth - 1);
        if (found == Interval::unbounded_above) continue;
        best = std::min(best, static_cast<std::int64_t>(floor_divide(Wide{found}, Wide{scale_by})));
        if (best <= goal) return;
      }
    }
  };
  if (search.use == Use::facts)
    for (std::size_t i = 0; i < inequalities.size() && best > goal && search.steps_left > 0; ++i)
      attempt(inequalities[i]);
  for (std::size_t i = 0; i < search.axioms.size() && best > goal && search.steps_left > 0; ++i)
    attempt(search.axioms[i]);
  return best;
}

namespace {

// Every atom of a sum, and of the operands of those that are operations, once.
void collect_atoms(Int a, std::vector<Int>& found) {
  const auto add = [&](Int atom) {
    if (std::find(found.begin(), found.end(), atom) != found.end()) return;
    found.push_back(atom);
    for (Int operand : atom->operands) collect_atoms(operand, found);
  };
  if (a->constant()) return;
  if (a->atomic()) return add(a);
  for (const Term& term : a->terms)
    for (const Factor& factor : term.monomial->factors) add(factor.atom);
}

// One of the numbers that an atom may be: the least, others near it, some that have nothing to do with each
// other, and some that most numbers divide.
std::int64_t sample(Interval range, std::uint32_t atom, unsigned round) {
  constexpr std::int64_t far = 100'000, near = 40, least = -far;
  const std::int64_t low = range.low != Interval::unbounded_below ? range.low
      : range.high != Interval::unbounded_above                   ? range.high
      : round % 2 == 0                                            ? 0
                                                                  : least;
  constexpr std::int64_t divisible = 27'720;
  if (round >= 4) {
    const std::int64_t value = divisible *
        (1 + static_cast<std::int64_t>(scramble(round, atom) % static_cast<std::uint32_t>(near)));
    if (range.contains(value)) return value;
  }
  const std::int64_t spread = round == 0
      ? 0
      : static_cast<std::int64_t>(scramble(round, atom) % static_cast<std::uint32_t>(round < 3 ? near : far));
  std::int64_t value = 0;
  if (__builtin_add_overflow(low,
          range.low == Interval::unbounded_below && range.high != Interval::unbounded_above ? -spread
                                                                                            : spread,
          &value))
    return low;
  return std::min(value, range.high);
}

}  // namespace

bool Context::State::exceeds(Int a, std::int64_t limit, Use use) {
  constexpr std::size_t most_premises = 24;  // each pair is tried: the cost grows with the square
  constexpr std::size_t most_atoms = 24;     // of all of them
  constexpr unsigned rounds = 6;
  const bool with_facts = use == Use::facts && !log.empty();
  // Facts of other things hold for whatever numbers these have.
  const Mentions about = with_facts ? reached(a->mentions) : Mentions();
  const auto is_near = [&](const Mentions& fact) { return meet(fact, about); };
  std::size_t premises = 0;
  std::vector<Int>& atoms = sampled_atoms;
  atoms.clear();
  collect_atoms(a, atoms);
  const std::size_t own = atoms.size();
  if (with_facts) {
    for (Int inequality : inequalities)
      if (is_near(inequality->mentions) && ++premises <= most_premises) collect_atoms(inequality, atoms);
    for (const Rule& rule : rules) {
      if (!is_near(rule.monomial->mentions | rule.rest->mentions) || ++premises > most_premises) continue;
      for (const Factor& factor : rule.monomial->factors) collect_atoms(factor.atom, atoms);
      collect_atoms(rule.rest, atoms);
    }
  }
  if (premises > most_premises) return false;
  if (atoms.size() > most_atoms) return false;
  std::vector<Assignment>& values = sampled_values;
  const auto holds = [&](const Rule& rule) {
    if (!is_near(rule.monomial->mentions | rule.rest->mentions)) return true;
    Wide product = rule.coefficient;
    for (const Factor& factor : rule.monomial->factors)
      for (std::uint32_t i = 0; i < factor.power; ++i) {
        const auto value = evaluate(factor.atom, values);
        if (!value || !fits(product)) return false;
        product *= *value;
      }
    const auto rest = evaluate(rule.rest, values);
    return rest && product == *rest;
  };
  for (unsigned round = 0; round < rounds; ++round) {
    values.clear();
    for (Int atom : atoms)
      if (atom->kind == Kind::atom) values.push_back({atom, sample(bounds(atom, use), atom->number, round)});
    // What an equation gives.
    if (with_facts)
      for (const Rule& rule : rules)
        if (rule.coefficient == 1 && rule.monomial->degree == 1 &&
            rule.monomial->factors[0].atom->kind == Kind::atom)
          for (Assignment& each : values)
            if (each.atom == rule.monomial->factors[0].atom)
              if (const auto rest = evaluate(rule.rest, values)) each.value = *rest;
    // Operands stand after the operations that they were met in: each is computed once.
    const auto in_bounds = [&](std::size_t first, std::size_t last) {
      for (std::size_t i = last; i-- > first;) {
        const auto found = evaluate(atoms[i], values);
        if (!found || !bounds(atoms[i], use).contains(*found)) return false;
        if (atoms[i]->kind != Kind::atom) values.push_back({atoms[i], *found});
      }
      return true;
    };
    if (!in_bounds(0, own)) continue;
    const auto value = evaluate(a, values);
    if (!value || *value <= limit || !in_bounds(own, atoms.size())) continue;
    if (!with_facts) return true;
    const auto is_met = [&](Int inequality) {
      if (!is_near(inequality->mentions)) return true;
      const auto found = evaluate(inequality, values);
      return found && *found <= 0;
    };
    if (std::all_of(inequalities.begin(), inequalities.end(), is_met) &&
        std::all_of(rules.begin(), rules.end(), holds))
      return true;
  }
  return false;
}

// What is known of other things makes no difference to an upper bound.
std::uint64_t Context::State::bounds_near(const Mentions& mentions) const {
  const Mentions near = reached(mentions);
  std::uint64_t name = 2;
  for (const Undo& undo : log) switch (undo.what) {
    case Undo::What::bound:
    case Undo::What::rule:
    case Undo::What::inequality:
      if (meet(undo.mentions, near)) name = named(name, undo.learned);
      break;
    default: break;
    }
  return name;
}

std::int64_t Context::State::best_upper(Int a, std::int64_t goal, Use use) {
  if (a->constant()) return a->bounds.high;
  const std::uint64_t question = named(
      std::uint64_t{a->index} << 1 | (rewriting ? 1u : 0u), static_cast<std::uint64_t>(goal));
  // By the form alone the same is true on every path.
  const bool by_form = use == Use::form || log.empty();
  return uppers.ask(
      named(by_form ? 0 : now, question),
      [&] { return named(by_form ? 0 : bounds_near(a->mentions), question); },
      [&] { return find_upper(a, goal, use); });
}

std::int64_t Context::State::find_upper(Int a, std::int64_t goal, Use use) {
  const std::int64_t simple = bounds(a, use).high;
  if (simple <= goal) return simple;
  // Nothing proves what a number refutes. Who asks with a goal wants to know of it; among the facts, also of
  // 0.
  if (goal != Interval::unbounded_below && (a->depth > 0 || (use == Use::facts && !inequalities.empty())) &&
      exceeds(a, use == Use::facts ? std::max<std::int64_t>(goal, 0) : goal, use))
    return simple;
  Search search{use, use == Use::form ? 24 : 96, {}, {}, {}};
  const std::int64_t plain = search_upper(a, goal, search, use == Use::form ? 2 : 4);
  if (plain <= goal || use == Use::form || rewriting || log.empty()) return plain;
  Int rewritten = rewrite(a);
  if (!rewritten || rewritten == a) return plain;
  search.steps_left = 96;
  search.met.clear();
  return std::min(plain, search_upper(rewritten, goal, search, 4));
}

}  // namespace stepzero::symbolic
