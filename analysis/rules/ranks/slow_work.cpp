#include "rules/ranks/slow_work.hpp"

#include "rules/ranks/collective_simulator.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

constexpr double usual_limit = 600;  // seconds: NCCL's; gloo's is three times as long

bool works_there(const RankTrace& trace, const Work& work) {
  return std::any_of(
      trace.works.begin(), trace.works.end(), [&](const Work& each) { return each.site == work.site; });
}

std::string in_seconds(double seconds) {
  std::string text = std::to_string(seconds);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + (text == "1" ? " second" : " seconds");
}

}  // namespace

namespace {
// Does the program start its process group where that is seen? Else others set its limit.
bool starts_group(const Record& record) {
  return any_operation(record, with_operation(values::Operation::group_settings));
}
}  // namespace

std::vector<Mismatch> slow_ranks(const JobView& view) {
  std::vector<Mismatch> found;
  if (std::none_of(view.world.begin(), view.world.end(),
          [](const RankTrace& trace) { return !trace.works.empty(); }) ||
      !starts_group(view.record))
    return found;
  for (int rank = 0; rank < view.size(); ++rank) {
    const RankTrace& own = view.trace(rank);
    for (std::size_t i = 0; i < own.comms.size(); ++i) {
      const CommEvent& comm = own.comms[i];
      if (comm.what != CommEvent::What::collective || !is_member(comm, rank)) continue;
      for (const int other : comm.members) {
        if (other == rank || other >= view.size()) continue;
        // What this rank does alone since it met the others last.
        double seconds = 0;
        bool unknown = false;
        const Work* first = nullptr;
        for (const Work& work : own.works) {
          if (work.at > i || works_there(view.trace(other), work)) continue;
          const auto met = std::find_if(own.comms.begin() + static_cast<std::ptrdiff_t>(work.at),
              own.comms.end(), [&](const CommEvent& each) {
                return each.what == CommEvent::What::collective && is_member(each, other);
              });
          if (met == own.comms.end() || &*met != &comm) continue;
          if (!first) first = &work;
          unknown = unknown || !work.seconds;
          seconds += work.seconds.value_or(0);
        }
        if (!first) continue;
        const auto set = own.limits.find(comm.group);
        const bool is_set = set != own.limits.end();
        if (is_set && !set->second) continue;
        const double limit = is_set ? *set->second : usual_limit;
        if (unknown ? is_set && limit >= usual_limit : seconds < limit) continue;
        Mismatch made;
        made.cause = Cause::slow;
        made.world = view.size();
        view.place(made, comm);
        made.text = "Rank " + std::to_string(rank) + " gets here only after its own work" +
            view.at_line(first->place) + (unknown ? std::string() : ", which takes " + in_seconds(seconds)) +
            ": rank " + std::to_string(other) + " waits in this " + call_text(made.name) +
            " and gives up after " + in_seconds(limit) + ". Give the process group a longer timeout.";
        made.related.push_back({first->place, "the work of rank " + std::to_string(rank)});
        found.push_back(std::move(made));
        break;
      }
    }
  }
  return found;
}

}  // namespace stepzero::rules
