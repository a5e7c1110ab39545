// What is known on the current path, and how to forget it. An assumption becomes a truth, bounds of atoms, an
// inequality, and for an equation a rule of rewrite.cpp; each is one entry of the undo log.
#include "symbolic/state.hpp"

#include <utility>

namespace stepzero::symbolic {

void Context::State::rewind(std::size_t mark) {
  while (!assumptions.empty() && assumptions.back().first >= mark) assumptions.pop_back();
  while (log.size() > mark) {
    const Undo& undo = log.back();
    switch (undo.what) {
    case Undo::What::bound: known[undo.index] = undo.old; break;
    case Undo::What::truth: assumed[undo.index] = Answer::unknown; break;
    case Undo::What::rule:
      rules.pop_back();
      disconnect();
      break;
    case Undo::What::inequality:
      inequalities.pop_back();
      disconnect();
      break;
    case Undo::What::apart:
      apart.pop_back();
      disconnect();
      break;
    case Undo::What::clause:
      clauses.pop_back();
      watched.pop_back();
      by_clauses.disconnect();
      break;
    }
    now = undo.before;
    bounded = undo.bounded;
    log.pop_back();
  }
}

bool Context::State::assume(Cond condition) {
  switch (decide(condition)) {
  case Answer::no: return false;
  case Answer::yes: return true;
  case Answer::unknown: break;
  }
  return learn(condition) && propagate(condition->mentions);
}

bool Context::State::set_truth(Cond condition, bool value) {
  Answer& slot = assumed[condition->index];
  if (slot != Answer::unknown) return slot == answer(value);
  note({Undo::What::truth, condition->index}, condition->mentions, value ? 1 : 0);
  slot = answer(value);
  return true;
}

bool Context::State::learn(Cond condition) {
  if (!set_truth(condition, true)) return false;
  switch (condition->form) {
  case Form::constant: return condition->truth;
  case Form::opaque: return true;
  case Form::conjunction:
    for (Cond operand : condition->operands)
      if (!assume(operand)) return false;
    return true;
  case Form::disjunction:
    if (clauses.size() < most_clauses && condition->size <= largest_trial) {
      note({Undo::What::clause}, condition->mentions, condition->index);
      clauses.push_back(condition);
      watched.push_back({condition->mentions,
          watched.empty() ? condition->mentions : watched.back().so_far | condition->mentions, {}, false});
      by_clauses.connect(condition->mentions);
    }
    return true;
  case Form::negation: {
    Cond inner = condition->operands[0];
    if (!set_truth(inner, false)) return false;
    if (inner->form == Form::compare && inner->equal && apart.size() < most_facts) {
      note({Undo::What::apart}, inner->polynomial->mentions, inner->polynomial->index);
      apart.push_back(inner->polynomial);
      connect(inner->polynomial->mentions);
    }
    return nudge_apart();
  }
  case Form::compare: break;
  }
  if (condition->negation && !set_truth(condition->negation, false)) return false;
  if (condition->equal) return add_equation(condition->polynomial, 0, false) && nudge_apart();
  if (inequalities.size() < most_facts) {
    note({Undo::What::inequality}, condition->polynomial->mentions, condition->polynomial->index);
    inequalities.push_back(condition->polynomial);
    connect(condition->polynomial->mentions);
    std::vector<Int> meanings;
    for (const Term& term : condition->polynomial->terms)
      for (const Factor& factor : term.monomial->factors) axioms(factor.atom, Use::facts, meanings);
    for (Int meaning : meanings) {
      if (inequalities.size() >= most_facts) break;
      if (std::find(inequalities.begin(), inequalities.end(), meaning) != inequalities.end()) continue;
      note({Undo::What::inequality}, meaning->mentions, meaning->index);
      inequalities.push_back(meaning);
      connect(meaning->mentions);
    }
  }
  return tighten(condition->polynomial) && nudge_apart();
}

bool Context::State::set_bounds(Int atom, Interval range) {
  const Interval old = known[atom->number], narrowed = intersect(old, range);
  if (narrowed != old) {
    note({Undo::What::bound, atom->number, old}, atom->mentions, static_cast<std::uint64_t>(narrowed.low),
        static_cast<std::uint64_t>(narrowed.high));
    known[atom->number] = narrowed;
  }
  return !bounds(atom, Use::facts).empty();
}

// From sum <= 0: each atom that stands alone in a term is bounded by the bounds of the other terms.
bool Context::State::tighten(Int sum) {
  for (const Term& term : sum->terms) {
    if (term.monomial->degree != 1) continue;
    Interval others = Interval::point(0);
    for (const Term& other : sum->terms)
      if (&other != &term) others = others + bounds(other, Use::facts);
    if (!others.has_low()) continue;
    // coefficient * atom <= -others.low
    Interval range;
    if (term.coefficient > 0) {
      const Wide high = floor_divide(-Wide{others.low}, Wide{term.coefficient});
      if (fits(high)) range.high = static_cast<std::int64_t>(high);
    } else {
      const Wide low = -floor_divide(-Wide{others.low}, -Wide{term.coefficient});
      if (fits(low)) range.low = static_cast<std::int64_t>(low);
    }
    if (!set_bounds(term.monomial->factors[0].atom, range)) return false;
  }
  return true;
}

// What differs from a bound of its own moves the bound.
bool Context::State::nudge_apart() {
  for (std::size_t i = 0; i < apart.size(); ++i) {
    Int differs = apart[i];
    const Interval range = bounds(differs, Use::facts);
    if (range.low == 0 && range.high == 0) return false;
    if (range.low != 0 && range.high != 0) continue;
    // differs >= 1, or differs <= -1
    Int sum = range.low == 0 ? scale(differs, -1) : differs;
    sum = sum ? add(sum, constant(1)) : nullptr;
    if (sum && !tighten(sum)) return false;
  }
  return true;
}

bool Context::State::leads_to_each(Mentions from, Cond clause) const {
  static_assert(most_clauses <= 64);
  std::uint64_t passed = 0;
  from = by_facts.reached(from);
  for (std::uint64_t before = 1; before != passed;) {
    if (std::ranges::all_of(
            clause->operands, [&](Cond alternative) { return meet(alternative->mentions, from); }))
      return true;
    before = passed;
    for (std::size_t i = 0; i < clauses.size(); ++i) {
      if ((passed >> i & 1) || clauses[i] == clause || !meet(watched[i].clause, from)) continue;
      from = by_facts.reached(from | watched[i].clause);
      passed |= std::uint64_t{1} << i;
    }
  }
  return false;
}

// Looking at a disjunction that stays open takes as much whether its alternatives are asked again or not:
// what is found must not depend on what was asked before.
void Context::State::spend_on_open_clause(int before) {
  constexpr int of_two_alternatives = 2;
  exhausted = exhausted || before < of_two_alternatives;
  effort = std::max(before - of_two_alternatives, 0);
}

// A disjunction of which all but one are false makes that one true.
bool Context::State::propagate(const Mentions& learned) {
  if (propagating || clauses.empty()) return true;
  propagating = true;
  ++nesting;
  bool consistent = true;
  Mentions touched = reached(learned);
  for (std::size_t i = 0; consistent && i < clauses.size() && meet(watched.back().so_far, touched);) {
    Watched& seen = watched[i];
    const Cond clause = clauses[i++];
    if (!meet(seen.clause, touched)) continue;
    if (seen.is_open && !meet(seen.open, touched)) {
      spend_on_open_clause(effort);
      continue;
    }
    const int before = effort;
    const bool outer = std::exchange(exhausted, false);
    std::array<Cond, 2> undecided{};
    bool holds = false;
    for (Cond operand : clause->operands) {
      const Answer found = decide(operand);
      holds = found == Answer::yes;
      if (found == Answer::unknown) undecided[undecided[0] ? 1 : 0] = operand;
      if (holds || undecided[1]) break;
    }
    // What is open for want of effort may not be so for the next who asks.
    if (!holds && undecided[1]) {
      if (!exhausted)
        watched[i - 1] = {
            clause->mentions, watched[i - 1].so_far, undecided[0]->mentions | undecided[1]->mentions, true};
      spend_on_open_clause(before);
    }
    exhausted = exhausted || outer;
    if (holds || undecided[1]) continue;
    consistent = undecided[0] && learn(undecided[0]);
    if (!consistent) break;
    touched = reached(touched | undecided[0]->mentions);
    i = 0;  // what was learned may settle an earlier one
  }
  --nesting;
  propagating = false;
  return consistent;
}

}  // namespace stepzero::symbolic
