#include "rules/ranks/conditions.hpp"

#include "rules/ranks/job_view.hpp"
#include "rules/report.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {
constexpr std::size_t most_ways = 2000;  // through the branches of one rank: each is a run
constexpr std::size_t most_asked = 24;   // answers of which pairs are tried
constexpr std::size_t longest = 60;      // text of a question

bool any_branch_at(
    const interpreter::Record& record, Place place, const std::function<bool(values::Cond)>& holds) {
  bool any = false;
  for (const auto& root : record.roots)
    visit(root->block, [&](const interpreter::Event& event) {
      any = any ||
          (event.kind == interpreter::EventKind::branch && event.place == place &&
              holds(static_cast<const interpreter::BranchEvent&>(event).condition));
    });
  return any;
}

bool asks_for_rank(const interpreter::Record& record, Place place) {
  return any_branch_at(
      record, place, [&](values::Cond condition) { return depends_on_rank(record.symbols, condition); });
}

// Does some part of the condition there depend on the rank and on something else at once, as `rank % n == 0`?
bool mixes_ranks(const interpreter::Record& record, Place place) {
  using Form = symbolic::Context::Form;
  const auto& symbols = record.symbols;
  const std::function<bool(values::Cond)> mixed = [&](values::Cond condition) {
    switch (symbols.form(condition)) {
    case Form::constant: return false;
    case Form::negation:
    case Form::conjunction:
    case Form::disjunction: return std::ranges::any_of(symbols.operands(condition), mixed);
    default: break;
    }
    bool rank = false, other = false;
    symbols.parts(
        condition,
        [&](values::Int atom) {
          const auto* info = symbols.atom_info(atom);
          (info && info->role != symbolic::Role::none ? rank : other) = true;
        },
        [&](values::Cond) { other = true; });
    return symbols.sharing(condition) == symbolic::Sharing::divergent && !(rank && !other);
  };
  return any_branch_at(record, place, mixed);
}
}  // namespace

void Conditions::note(const JobRun& world, std::set<int> past, std::optional<int> wrong) {
  if (ways_.size() >= most_ways) return;
  Way made{static_cast<int>(world.size()), {}, {}, std::move(past), wrong};
  std::set<std::pair<int, int>> apart;
  for (std::size_t rank = 0; rank < world.size(); ++rank)
    for (const Decision& decision : world[rank].decisions) {
      // Of what is not the same on all ranks nothing can be said in a word.
      const std::pair<int, int> asked{decision.site, decision.nth};
      if (!decision.open && !decision.attempt) continue;  // a rank whose number answers it
      if (!decision.open || decision.local || decision.unseen || decision.surprise || decision.attempt ||
          !decision.branch || !decision.place) {
        apart.insert(asked);
        continue;
      }
      const auto [it, fresh] = made.answers.try_emplace(
          asked, Answer{decision.yes, decision.place, decision.branch, static_cast<int>(rank)});
      if (fresh)
        made.order.push_back(asked);
      else if (it->second.yes != decision.yes)
        apart.insert(asked);
    }
  for (const auto& asked : apart) made.answers.erase(asked);
  std::erase_if(made.order, [&](const auto& asked) { return apart.contains(asked); });
  ways_.push_back(std::move(made));
}

// The answer in the program's words; empty where they are too long, or ask for the rank and something else at
// once.
std::string Conditions::said(
    const interpreter::Record& record, const interpreter::Record& own, const Answer& answer) {
  if (mixes_ranks(record, answer.place)) return {};
  const std::string known = own.symbols.text(answer.branch->condition);
  const std::string_view written = record.text(answer.place);
  // Of what the program asks of the rank, too, only the rest is a question.
  const bool says_more = known.size() <= written.size() || asks_for_rank(record, answer.place);
  const bool is_known = own.symbols.is_named(answer.branch->condition) && says_more;
  std::string_view text = is_known ? std::string_view(known) : written;
  if (text.empty() || text.size() > longest || text.find('\n') != std::string_view::npos) return {};
  bool yes = answer.yes;
  constexpr std::string_view negation = "not ";
  if (text.starts_with(negation) && text.find(" and ") == std::string_view::npos &&
      text.find(" or ") == std::string_view::npos) {
    text.remove_prefix(negation.size());
    if (text.starts_with('(') && text.find(')') == text.size() - 1) text = text.substr(1, text.size() - 2);
    yes = !yes;
  }
  // What is supposed says so in words, with its own code in backticks.
  if (text.starts_with('`')) return (yes ? "" : "not: ") + std::string(text);
  return (yes ? "`" : "not `") + std::string(text) + "`";
}

std::string Conditions::of(const interpreter::Record& record, JobExplorer& worlds, int key) const {
  using Asked = std::pair<int, int>;
  std::vector<const Way*> wrong, right;
  for (const Way& way : ways_) {
    if (way.wrong == key)
      wrong.push_back(&way);
    else if (way.past.contains(key))
      right.push_back(&way);
  }
  if (wrong.empty()) return {};
  const auto has = [](const Way& way, const Asked& asked, bool yes) {
    const auto it = way.answers.find(asked);
    return it != way.answers.end() && it->second.yes == yes;
  };
  const auto words = [&](const Asked& asked) {
    const Answer& answer = wrong.front()->answers.at(asked);
    return said(record, worlds.of(answer.rank, wrong.front()->size), answer);
  };
  // What all of them answer alike; what was asked last stands nearest.
  std::vector<Asked> common;
  for (auto asked = wrong.front()->order.rbegin();
      asked != wrong.front()->order.rend() && common.size() < most_asked; ++asked) {
    const bool yes = wrong.front()->answers.at(*asked).yes;
    if (std::ranges::all_of(wrong, [&](const Way* way) { return has(*way, *asked, yes); }) &&
        !words(*asked).empty())
      common.push_back(*asked);
  }
  const auto parts = [&](const Asked& one, const Asked& another) {
    return std::ranges::none_of(right, [&](const Way* way) {
      return has(*way, one, wrong.front()->answers.at(one).yes) &&
          has(*way, another, wrong.front()->answers.at(another).yes);
    });
  };
  for (const Asked& asked : common)
    if (parts(asked, asked)) return "When " + words(asked) + ": ";
  for (std::size_t i = 0; i < common.size(); ++i)
    for (std::size_t j = i + 1; j < common.size(); ++j)
      if (parts(common[i], common[j])) return "When " + words(common[j]) + " and " + words(common[i]) + ": ";
  return {};
}

}  // namespace stepzero::rules
