// Is a condition true, by its form, the bounds and the facts? And under given values?
#include "symbolic/state.hpp"

#include <utility>

namespace stepzero::symbolic {
namespace {

constexpr int deepest_trial = 2;       // assumptions within assumptions: each doubles the work
constexpr std::size_t most_cases = 4;  // of a condition "one of these" that are tried

Answer reversed(Answer a) {
  if (a == Answer::unknown) return a;
  return a == Answer::yes ? Answer::no : Answer::yes;
}

}  // namespace

Answer Context::State::decide(Cond a) {
  if (a->form == Form::constant) return answer(a->truth);
  if (assumed[a->index] != Answer::unknown) return assumed[a->index];
  // Only disjunctions tell of what is not assumed itself.
  if (a->form == Form::opaque && clauses.empty()) return Answer::unknown;
  if (a->form == Form::opaque && nesting > 0) {
    static_cast<void>(spend());
    return Answer::unknown;
  }
  if (a->form == Form::negation) return reversed(decide(a->operands[0]));
  const auto depth = static_cast<std::uint64_t>(std::min(nesting, deepest_trial)) << 2 |
      (propagating ? 2u : 0u) | (rewriting ? 1u : 0u);
  const std::uint64_t question = std::uint64_t{a->index} << 8 | depth;
  const std::uint64_t key = named(now, question);
  if (const Decision* made = made_before(key)) return charge(*made);
  // What a trial takes is more than to look at all that is known.
  const std::uint64_t near = nesting == 0 && !clauses.empty() ? named(known_near(a->mentions), question) : 0;
  if (const Decision* made = near ? made_before(near) : nullptr) {
    const Decision same = *made;
    decisions.put(key, same);
    return charge(same);
  }
  const int budget = effort;
  const bool outer = std::exchange(exhausted, false);
  const Answer found = decide_now(a);
  const Decision made{
      static_cast<std::int8_t>(budget), static_cast<std::int8_t>(budget - effort), exhausted, found};
  decisions.put(key, made);
  if (near) decisions.put(near, made);
  exhausted = exhausted || outer;
  return found;
}

const Context::State::Decision* Context::State::made_before(std::uint64_t key) const {
  const Decision* made = decisions.find(key);
  return made && (made->exhausted ? made->budget == effort : made->cost <= effort) ? made : nullptr;
}

Answer Context::State::charge(const Decision& made) {
  effort -= made.cost;
  exhausted = exhausted || made.exhausted;
  return made.found;
}

std::uint64_t Context::State::known_near(const Mentions& mentions) const {
  // Where no more facts are taken, those that are far away count, too.
  constexpr std::size_t spare = 8;
  if (clauses.size() + spare > most_clauses || rules.size() + spare > most_rules ||
      std::max(inequalities.size(), apart.size()) + spare > most_facts)
    return now;
  const Mentions near = reached_by_clauses(mentions);
  std::uint64_t name = 0;
  for (const Undo& undo : log)
    if (meet(undo.mentions, near)) name = named(name, undo.learned);
  // Trials are of the newest disjunctions, wherever these are.
  for (std::size_t i = 0; i < std::min(clauses.size(), most_cases); ++i)
    if (const Cond clause = clauses[clauses.size() - 1 - i]; meet(clause->mentions, near))
      name = named(name, std::uint64_t{clause->index} << 8 | i);
  return name;
}

bool Context::State::spend() {
  if (effort <= 0) {
    exhausted = true;
    return false;
  }
  --effort;
  return true;
}

Answer Context::State::decide_now(Cond a) {
  if (!spend()) return Answer::unknown;
  Answer found = Answer::unknown;
  switch (a->form) {
  case Form::compare:
    if (log.empty()) return Answer::unknown;  // the form alone did not decide it
    if (a->negation && assumed[a->negation->index] != Answer::unknown)
      return reversed(assumed[a->negation->index]);
    found = decide_comparison(a);
    break;
  case Form::conjunction:
  case Form::disjunction: found = decide_combined(a); break;
  default: break;
  }
  return found == Answer::unknown ? decide_by_cases(a) : found;
}

Answer Context::State::decide_comparison(Cond a) {
  Int sum = a->polynomial;
  Int negative = scale(sum, -1);
  Int above = negative ? add(negative, constant(1)) : nullptr;  // <= 0 where the sum is >= 1
  if (!above) return Answer::unknown;
  const auto differs = [&](Int value) {
    Int rewritten = rewrite(value);
    for (Int other : apart) {
      if (value == other) return true;
      Int same = rewrite(other);
      Int opposite = scale(same, -1);
      if (same == rewritten || opposite == rewritten) return true;
    }
    return false;
  };
  if (a->equal) {
    Int rewritten = rewrite(sum);
    if (rewritten->constant()) return answer(rewritten->value() == 0);
    if (rewritten != sum) {
      Cond restated = comparison(true, rewritten, Compare::eq, nullptr, nullptr);
      if (restated->form == Form::constant) return answer(restated->truth);
      if (assumed[restated->index] != Answer::unknown) return assumed[restated->index];
    }
    const std::int64_t upper = best_upper(sum, -1, Use::facts);
    if (upper <= -1) return Answer::no;
    if (at_most_zero(above, Use::facts)) return Answer::no;
    if (differs(sum)) return Answer::no;
    return upper <= 0 && at_most_zero(negative, Use::facts) ? Answer::yes : Answer::unknown;
  }
  if (at_most_zero(sum, Use::facts)) return Answer::yes;
  if (at_most_zero(above, Use::facts)) return Answer::no;
  if (apart.empty()) return Answer::unknown;
  // At most one and not one; at least zero and not zero.
  Int less = sub(sum, constant(1));
  if (less && at_most_zero(less, Use::facts) && differs(less)) return Answer::yes;
  if (at_most_zero(negative, Use::facts) && differs(sum)) return Answer::no;
  return Answer::unknown;
}

// A conjunction is false if its operands contradict each other; it is true if each is. A disjunction is the
// reverse.
Answer Context::State::decide_combined(Cond a) {
  const bool all = a->form == Form::conjunction;
  bool agree = true;
  for (Cond operand : a->operands) {
    const Answer found = decide(operand);
    if (found == answer(!all)) return found;
    agree = agree && found == answer(all);
  }
  if (agree) return answer(all);
  if (nesting >= deepest_trial || a->size > largest_trial) return Answer::unknown;
  const std::size_t mark = log.size();
  ++nesting;
  bool consistent = true;
  for (Cond operand : a->operands) {
    consistent = assume(all ? operand : negation(operand));
    if (!consistent) break;
  }
  --nesting;
  rewind(mark);
  return consistent ? Answer::unknown : answer(!all);
}

// Of an assumed disjunction one operand holds: what follows from each of them is true.
Answer Context::State::decide_by_cases(Cond a) {
  if (clauses.empty() || nesting > 0 || a->size > largest_trial) return Answer::unknown;
  ++nesting;
  Answer common_answer = Answer::unknown;
  const std::size_t mark = log.size(), count = std::min(clauses.size(), most_cases);
  const auto all_meet = [](Cond clause, const Mentions& found) {
    return std::ranges::all_of(
        clause->operands, [&](Cond alternative) { return meet(alternative->mentions, found); });
  };
  const Mentions near = reached_by_clauses(a->mentions);
  for (std::size_t i = 0; i < count && common_answer == Answer::unknown; ++i) {
    const Cond clause = clauses[clauses.size() - 1 - i];
    if (clause->operands.size() > most_cases) continue;
    // An alternative that has nothing to do with the question leaves it open. What is related without the
    // clause is found only where it is more than what the question mentions, and less than what all lead to.
    if (!all_meet(clause, near) || (!all_meet(clause, a->mentions) && !leads_to_each(a->mentions, clause)))
      continue;
    bool first = true;
    for (Cond alternative : clause->operands) {
      const bool possible = assume(alternative);
      const Answer found = possible ? decide(a) : Answer::unknown;
      rewind(mark);
      if (!possible) continue;
      if (!first && found != common_answer) {
        common_answer = Answer::unknown;
        break;
      }
      first = false;
      common_answer = found;
      if (found == Answer::unknown) break;
    }
  }
  --nesting;
  return common_answer;
}

Answer Context::State::evaluate(Cond a, std::span<const Assignment> values, std::span<const Truth> given) {
  for (const Truth& truth : given) {
    if (truth.condition == a) return answer(truth.value);
    if (truth.condition && truth.condition->negation == a) return answer(!truth.value);
  }
  switch (a->form) {
  case Form::constant: return answer(a->truth);
  case Form::opaque: return Answer::unknown;
  case Form::negation: return reversed(evaluate(a->operands[0], values, given));
  case Form::conjunction:
  case Form::disjunction: {
    const Answer neutral = answer(a->form == Form::conjunction);
    Answer result = neutral;
    for (Cond operand : a->operands) {
      const Answer found = evaluate(operand, values, given);
      if (found == reversed(neutral)) return found;
      if (found == Answer::unknown) result = found;
    }
    return result;
  }
  case Form::compare: break;
  }
  Int sum = a->polynomial;
  if (const auto value = evaluate(sum, values)) return answer(a->equal ? *value == 0 : *value <= 0);
  Int replaced = substitute(sum, values);
  if (!replaced || replaced == sum) return Answer::unknown;
  Cond restated = comparison(a->equal, replaced, Compare::eq, nullptr, nullptr);
  return restated->form == Form::constant ? answer(restated->truth) : Answer::unknown;
}

}  // namespace stepzero::symbolic
