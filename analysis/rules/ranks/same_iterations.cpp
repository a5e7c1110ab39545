#include "rules/ranks/same_iterations.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

namespace stepzero::rules {

namespace {

using LoopKey = std::pair<int, int>;  // the site of a loop, and the time that the process came to it

// The loops that a rank followed iteration by iteration, and another by one iteration, by the number of
// iterations.
std::map<LoopKey, int> followed_in_both_ways(const JobRun& world) {
  std::map<LoopKey, int> followed, both;
  for (const RankTrace& trace : world)
    for (const LoopRun& loop : trace.loops)
      if (!loop.stands_for_many && loop.iterations > 1)
        followed.insert({{loop.site, loop.nth}, loop.iterations});
  for (const RankTrace& trace : world)
    for (const LoopRun& loop : trace.loops) {
      const auto other = loop.stands_for_many && loop.count ? followed.find({loop.site, loop.nth})
                                                            : followed.end();
      if (other != followed.end() && other->second == *loop.count) both.insert(*other);
    }
  return both;
}

const Iteration* iteration_of(const std::vector<Iteration>& around, LoopKey loop) {
  const auto found = std::ranges::find_if(
      around, [&](const Iteration& each) { return LoopKey{each.site, each.nth} == loop; });
  return found == around.end() ? nullptr : &*found;
}

// A way out of the loop, not of what it calls or holds.
bool leaves_iterations(const PathExit& exit, const LoopRun& loop) {
  const LoopKey key{loop.site, loop.nth};
  if (!iteration_of(exit.iterations, key)) return false;
  switch (exit.kind) {
  case interpreter::ExitKind::raise: return !exit.caught;
  case interpreter::ExitKind::return_: return exit.calls == loop.calls;
  case interpreter::ExitKind::break_:
    return LoopKey{exit.iterations.back().site, exit.iterations.back().nth} == key;
  case interpreter::ExitKind::continue_: break;
  }
  return false;
}

// Leaves the communication of the first iteration of the loop. False: the iterations differ, or one of them
// leaves it.
bool leave_one_iteration(RankTrace& trace, LoopRun& loop) {
  const LoopKey key{loop.site, loop.nth};
  if (std::ranges::any_of(trace.exits, [&](const PathExit& exit) { return leaves_iterations(exit, loop); }))
    return false;
  std::map<int, std::vector<std::pair<int, std::size_t>>> iterations;  // what is entered, by iteration
  for (const CommEvent& comm : trace.comms)
    if (const Iteration* iteration = iteration_of(comm.iterations, key))
      iterations[iteration->iteration].emplace_back(comm.site, comm.iterations.size());
  const auto stand_for_all = [&] {
    loop.count = loop.iterations;
    loop.iterations = 1;
    loop.stands_for_many = true;
    return true;
  };
  if (iterations.empty()) return stand_for_all();
  const auto& first = iterations.begin()->second;
  if (static_cast<int>(iterations.size()) != loop.iterations ||
      std::ranges::any_of(iterations, [&](const auto& each) { return each.second != first; }))
    return false;
  const int kept = iterations.begin()->first;
  std::vector<std::size_t> before(trace.comms.size() + 1, 0);  // how many are left of those before
  std::vector<CommEvent> left;
  for (std::size_t i = 0; i < trace.comms.size(); ++i) {
    const Iteration* iteration = iteration_of(trace.comms[i].iterations, key);
    if (!iteration || iteration->iteration == kept) left.push_back(std::move(trace.comms[i]));
    before[i + 1] = left.size();
  }
  const auto moved = [&](std::size_t at) { return before[std::min(at, before.size() - 1)]; };
  trace.comms = std::move(left);
  for (PathExit& exit : trace.exits) exit.at = moved(exit.at);
  for (Work& work : trace.works) work.at = moved(work.at);
  for (auto& [at, site] : trace.perhaps) at = moved(at);
  for (Decision& decision : trace.decisions) decision.handled_from = moved(decision.handled_from);
  trace.certain_comms = moved(trace.certain_comms);
  return stand_for_all();
}

}  // namespace

bool followed_differently(const JobRun& world) { return !followed_in_both_ways(world).empty(); }

JobRun with_one_iteration_each(const JobRun& world) {
  const std::map<LoopKey, int> both = followed_in_both_ways(world);
  JobRun made = world;
  for (RankTrace& trace : made)
    for (LoopRun& loop : trace.loops)
      if (!loop.stands_for_many && both.contains({loop.site, loop.nth}))
        static_cast<void>(leave_one_iteration(trace, loop));
  return made;
}

}  // namespace stepzero::rules
