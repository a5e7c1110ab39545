#include "rules/shape/same_failures.hpp"

#include "rules/shape/blocks.hpp"
#include "rules/shape/refusal_text.hpp"

#include <algorithm>

namespace stepzero::rules {

using interpreter::BranchEvent;
using interpreter::EventKind;

void questions_of(symbolic::Context& symbols, symbolic::Cond condition, std::vector<symbolic::Cond>& found) {
  const auto operands = symbols.operands(condition);
  const auto form = symbols.form(condition);
  if (form == symbolic::Context::Form::negation || form == symbolic::Context::Form::conjunction ||
      form == symbolic::Context::Form::disjunction) {
    for (const symbolic::Cond operand : operands) questions_of(symbols, operand, found);
  } else if (form != symbolic::Context::Form::constant &&
      std::ranges::find(found, condition) == found.end() &&
      std::ranges::find(found, symbols.logical_not(condition)) == found.end()) {
    found.push_back(condition);
  }
}
static bool holds_with(symbolic::Context& symbols, symbolic::Cond condition,
    const std::vector<symbolic::Cond>& leaves, unsigned answers) {
  const auto operands = symbols.operands(condition);
  const auto holds = [&](symbolic::Cond operand) { return holds_with(symbols, operand, leaves, answers); };
  switch (symbols.form(condition)) {
  case symbolic::Context::Form::negation: return !holds(operands[0]);
  case symbolic::Context::Form::conjunction: return std::all_of(operands.begin(), operands.end(), holds);
  case symbolic::Context::Form::disjunction: return std::any_of(operands.begin(), operands.end(), holds);
  case symbolic::Context::Form::constant: return symbols.decide(condition) == symbolic::Answer::yes;
  default:
    if (const auto at = std::ranges::find(leaves, condition); at != leaves.end())
      return answers >> (at - leaves.begin()) & 1u;
    return !(answers >> (std::ranges::find(leaves, symbols.logical_not(condition)) - leaves.begin()) & 1u);
  }
}

namespace {
// When the same call fails in the same way, with each of the values that its operands may have.
struct Failures {
  std::vector<symbolic::Cond> when, leaves;  // the conditions, and the questions that they are made of
  bool always = false, unguarded = false;    // without a condition
  bool otherwise = false;                    // other sizes do not fit where others are chosen
  std::vector<const ProblemEvent*> all;

  bool complete() const {
    constexpr std::size_t most_leaves = 6;  // conditions that one message names
    return when.size() >= 2 && leaves.size() <= most_leaves;
  }
  bool holds(symbolic::Context& symbols, unsigned answers) const {
    return std::ranges::any_of(
        when, [&](symbolic::Cond condition) { return holds_with(symbols, condition, leaves, answers); });
  }
};
}  // namespace

// Does nothing lie between two events but what the values of one expression do? A call that fails with each
// of them may say each time what does not fit.
static bool of_one_expression(const Record& record, std::size_t a, std::size_t b) {
  for (std::size_t i = std::min(a, b) + 1; i < std::max(a, b); ++i) {
    const Event& event = *record.events[i];
    const bool inner = event.kind == EventKind::operation || event.kind == EventKind::problem ||
        (event.kind == EventKind::branch && !static_cast<const BranchEvent&>(event).stmt);
    if (!inner) return false;
  }
  return true;
}

static Failures failures_like(const Record& record, const ProblemEvent& problem) {
  constexpr std::size_t near = 64;  // events between them
  const auto& events = record.events;
  const std::size_t index = problem.number;
  const auto same_size = [](const values::Dim& a, const values::Dim& b) { return a.size == b.size; };
  Failures found;
  for (std::size_t i = index > near ? index - near : 0; i < std::min(events.size(), index + near); ++i) {
    if (events[i]->kind != EventKind::problem || !(events[i]->place == problem.place) ||
        events[i]->calls != problem.calls)
      continue;
    const auto& other = static_cast<const ProblemEvent&>(*events[i]);
    // What silences one side alone, as that it would take two choices, does not let it pass.
    if (other.problem != problem.problem) continue;
    const bool equivalent = text_of(record, other) == text_of(record, problem) &&
        same_size(other.left, problem.left) && same_size(other.right, problem.right);
    if (!equivalent &&
        (!other.assumption || other.overridable != problem.overridable ||
            !of_one_expression(record, index, i)))
      continue;
    if (!other.assumption) {
      found.always = true;
      found.unguarded = !other.guarded;
      return found;
    }
    found.otherwise = found.otherwise || !equivalent;
    found.when.push_back(other.assumption);
    found.all.push_back(&other);
    questions_of(record.symbols, other.assumption, found.leaves);
  }
  return found;
}

// Does the branch part the values of the call that fails, or of one that led to it? No statement of the
// program asks.
static bool is_of_values(const BranchEvent& branch, const ProblemEvent& problem) {
  if (branch.stmt) return false;
  if (branch.place == problem.place) return true;
  // Of a call of one of two layers, the layer.
  if (problem.self && branch.place.chunk == problem.place.chunk &&
      branch.place.span.holds(problem.place.span))
    return true;
  for (const interpreter::CallSite* site = problem.calls; site; site = site->outer)
    if (branch.place == site->place) return true;
  return false;
}

// What holds wherever the call is made that fails so: the sides of the branches around all of its failures.
// `of_values`: the sides as well that the values of the very call take, which is made whichever they are.
static std::vector<symbolic::Cond> conditions_around(
    const Record& record, const Failures& failures, const interpreter::Root& root, bool of_values) {
  std::vector<std::vector<symbolic::Cond>> around;
  for (const ProblemEvent* each : failures.all) {
    auto& own = around.emplace_back();
    const std::vector<Descent> path = path_to(root.block, *each);
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      const Event& event = *path[i].block->events[path[i].index];
      if (event.kind != EventKind::branch) continue;
      const auto& branch = static_cast<const BranchEvent&>(event);
      if (!branch.condition || (!of_values && is_of_values(branch, *each))) continue;
      own.push_back(
          path[i + 1].block == &branch.yes ? branch.condition : record.symbols.logical_not(branch.condition));
    }
  }
  std::vector<symbolic::Cond> common;
  for (std::size_t i = 0; !around.empty() && i < around[0].size(); ++i) {
    if (!std::ranges::all_of(
            around, [&](const auto& own) { return i < own.size() && own[i] == around[0][i]; }))
      break;
    common.push_back(around[0][i]);
  }
  return common;
}

bool is_ruled_out(const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  constexpr std::size_t most_leaves = 8;  // each is tried both ways: 256 combinations
  if (!problem.assumption) return false;
  Failures alone;
  alone.all.push_back(&problem);
  std::vector<symbolic::Cond> all = conditions_around(record, alone, root, true);
  std::vector<symbolic::Cond> leaves;
  questions_of(record.symbols, problem.assumption, leaves);
  // Those that ask about other things alone cannot.
  std::erase_if(all, [&](symbolic::Cond condition) {
    std::vector<symbolic::Cond> own, both = leaves;
    questions_of(record.symbols, condition, own);
    for (const symbolic::Cond leaf : own) questions_of(record.symbols, leaf, both);
    return both.size() == leaves.size() + own.size();
  });
  all.push_back(problem.assumption);
  for (const symbolic::Cond condition : all) questions_of(record.symbols, condition, leaves);
  if (leaves.size() > most_leaves) return false;
  for (unsigned answers = 0; answers < 1u << leaves.size(); ++answers)
    if (std::ranges::all_of(all,
            [&](symbolic::Cond condition) { return holds_with(record.symbols, condition, leaves, answers); }))
      return false;
  return true;
}

bool fails_on_each(const Record& record, const ProblemEvent& problem, const interpreter::Root& root) {
  const Failures found = failures_like(record, problem);
  if (found.always) return found.unguarded;
  if (!found.complete()) return false;
  // Those that ask more than the failures do are left out: it fails then on more ways than there are.
  std::vector<symbolic::Cond> around = conditions_around(record, found, root, false);
  std::erase_if(around, [&](symbolic::Cond condition) {
    std::vector<symbolic::Cond> asked = found.leaves;
    questions_of(record.symbols, condition, asked);
    return asked.size() != found.leaves.size();
  });
  for (unsigned answers = 0; answers < 1u << found.leaves.size(); ++answers) {
    const auto holds = [&](symbolic::Cond condition) {
      return holds_with(record.symbols, condition, found.leaves, answers);
    };
    if (std::ranges::all_of(around, holds) && !found.holds(record.symbols, answers)) return false;
  }
  return true;
}

// `a and b or (not a or not b) and b` is `b`: the answers that it needs, where no others will do; else as it
// is.
static symbolic::Cond as_conjunction(symbolic::Context& symbols, symbolic::Cond condition) {
  constexpr std::size_t most_leaves = 6;  // conditions that one message names
  std::vector<symbolic::Cond> leaves;
  questions_of(symbols, condition, leaves);
  if (leaves.size() > most_leaves) return condition;
  unsigned always = ~0u, never = ~0u, count = 0;  // leaves that are so wherever it holds
  for (unsigned answers = 0; answers < 1u << leaves.size(); ++answers)
    if (holds_with(symbols, condition, leaves, answers)) {
      always &= answers;
      never &= ~answers;
      ++count;
    }
  symbolic::Cond needed = nullptr;
  unsigned free = 0;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const unsigned bit = 1u << i;
    if (!(always & bit) && !(never & bit)) {
      ++free;
      continue;
    }
    const symbolic::Cond part = always & bit ? leaves[i] : symbols.logical_not(leaves[i]);
    needed = needed ? symbols.logical_and(needed, part) : part;
  }
  return needed && count == 1u << free ? needed : condition;
}

symbolic::Cond needed_of(const Record& record, const ProblemEvent& problem) {
  symbolic::Context& symbols = record.symbols;
  const symbolic::Cond whole = as_conjunction(symbols, problem.assumption);
  if (symbols.form(whole) != symbolic::Context::Form::conjunction) return whole;
  const Failures found = failures_like(record, problem);
  if (found.always || !found.complete()) return whole;
  const auto changes_nothing = [&](symbolic::Cond leaf) {
    const auto at = std::ranges::find(found.leaves, leaf);
    if (at == found.leaves.end()) return false;
    const unsigned bit = 1u << (at - found.leaves.begin());
    for (unsigned answers = 0; answers < 1u << found.leaves.size(); ++answers)
      if (found.holds(symbols, answers) != found.holds(symbols, answers ^ bit)) return false;
    return true;
  };
  symbolic::Cond needed = nullptr;
  for (const symbolic::Cond part : symbols.operands(whole)) {
    const symbolic::Cond leaf =
        symbols.form(part) == symbolic::Context::Form::negation ? symbols.operands(part)[0] : part;
    if (!changes_nothing(leaf)) needed = needed ? record.symbols.logical_and(needed, part) : part;
  }
  return needed ? needed : whole;
}

std::vector<symbolic::Cond> questions_of_failures(const Record& record, const ProblemEvent& problem) {
  return failures_like(record, problem).leaves;
}
bool fails_otherwise(const Record& record, const ProblemEvent& problem) {
  return failures_like(record, problem).otherwise;
}

}  // namespace stepzero::rules
