#include "rules/ranks/assumption_words.hpp"

#include "rules/ranks/balance.hpp"
#include "rules/ranks/job_view.hpp"
#include "values/limits.hpp"

#include <set>

namespace stepzero::rules {

using namespace interpreter;

namespace {
int line_of(const Record& record, Place place) {
  return static_cast<int>(record.chunk(place)
                 .module->text->position(record.span(place).begin, syntax::Encoding::utf8)
                 .line) +
      1;
}
}  // namespace

std::string describe_assumption(
    const Record& record, JobExplorer& worlds, const JobRun& world, int key, bool only_few) {
  std::set<std::string> asked;
  bool any_local = false;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    const RankTrace& trace = world[rank];
    const Record& own = worlds.of(static_cast<int>(rank), static_cast<int>(world.size()));
    const auto note = [&](const Decision& decision) {
      // Who gets past a check that raises answers it.
      if (!decision.open || !decision.branch || !decision.place ||
          dies(decision.yes ? decision.branch->no : decision.branch->yes))
        return;
      const values::Cond condition = decision.branch->condition;
      if (own.symbols.sharing(condition) == symbolic::Sharing::uniform && !own.unseen.contains(condition))
        return;
      any_local = any_local || own.symbols.sharing(condition) == symbolic::Sharing::local;
      const std::string_view text = record.text(decision.place);
      asked.insert(values::is_quotable(text)
              ? "`" + std::string(text) + "`"
              : "the condition in line " + std::to_string(line_of(record, decision.place)));
    };
    for (const CommEvent& comm : trace.comms)
      if (comm.site == key)
        for (std::size_t i = 0; i < comm.decided && i < trace.decisions.size(); ++i)
          if (trace.decisions[i].branch && leads_to(trace, i, comm)) note(trace.decisions[i]);
    for (const PathExit& exit : trace.exits)
      if (exit.site == key)
        for (const std::size_t turn : exit.turns) note(trace.decisions[turn]);
  }
  std::string groups;
  for (const std::string& clause : world.front().supposed) groups += (groups.empty() ? "" : " and ") + clause;
  if (asked.empty() && !groups.empty()) return "When " + groups + ": ";
  if (asked.empty()) return "On every path that was analyzed: ";
  std::string text = "When the ranks agree on ";
  constexpr std::size_t most_named = 3;  // conditions that one message names
  // So many answers are hardly ever given together; fewer already, where each rank reads them for itself.
  constexpr std::size_t most_asked = 5;
  if (asked.size() > most_asked || (asked.size() > most_named && (any_local || only_few))) return {};
  if (asked.size() > most_named)
    return text + *asked.begin() + " and " + std::to_string(asked.size() - 1) +
        " more questions to code that is not seen" + (groups.empty() ? "" : ", and " + groups) + ": ";
  for (auto it = asked.begin(); it != asked.end(); ++it)
    text += (it == asked.begin() ? "" : std::next(it) == asked.end() ? " and " : ", ") + *it;
  return text + (groups.empty() ? "" : ", and " + groups) + ": ";
}

}  // namespace stepzero::rules
