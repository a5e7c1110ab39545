#include "rules/deadlock/rounds.hpp"

#include "rules/deadlock/player.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

const LoopRun* run_of(const Trace& trace, const Round& round) {
  for (const LoopRun& loop : trace.loops)
    if (loop.site == round.site && loop.nth == round.nth) return &loop;
  return nullptr;
}

// How often a rank makes each collective of a group; loops of unknown length count as one round, on all ranks alike.
std::map<std::string_view, std::int64_t> totals(const Trace& trace, const std::string& group) {
  std::map<std::string_view, std::int64_t> times;
  constexpr std::int64_t most = 1'000'000;
  for (const Act& act : trace.acts) {
    if (act.what != Act::What::collective || act.group != group) continue;
    std::int64_t rounds = 1;
    for (const Round& round : act.rounds)
      if (const LoopRun* loop = run_of(trace, round); loop && loop->stands_for_many && loop->count) rounds = std::min(most, rounds * *loop->count);
    times[act.name] += rounds;
  }
  return times;
}

} // namespace

bool uneven(const Story& story, Mismatch& mismatch) {
  for (int rank = 0; rank < story.size(); ++rank)
    for (const Act& act : story.trace(rank).acts) {
      if (act.what != Act::What::collective) continue;
      for (const Round& round : act.rounds) {
        const LoopRun* mine = run_of(story.trace(rank), round);
        if (!mine || !mine->count) continue;
        for (const int other : act.members) {
          if (other == rank || other >= story.size()) continue;
          const LoopRun* theirs = run_of(story.trace(other), round);
          if (!theirs || !theirs->count || *theirs->count >= *mine->count || totals(story.trace(rank), act.group) == totals(story.trace(other), act.group)) continue;
          mismatch.cause = Cause::rounds;
          story.place(mismatch, act);
          mismatch.place = mine->place;
          mismatch.calls = mine->calls;
          mismatch.text = "Rank " + std::to_string(rank) + " makes " + std::to_string(*mine->count) + " rounds of this loop, and rank " + std::to_string(other) + " makes " +
                          std::to_string(*theirs->count) + ": behind its last one rank " + std::to_string(rank) + " waits in " + mismatch.name + story.at_line(act.place) + " for ever.";
          mismatch.related.push_back({act.place, mismatch.name + " is entered here"});
          return true;
        }
      }
    }
  return false;
}

bool by_own_data(const Story& story, Mismatch& mismatch) {
  for (const Act& act : story.trace(0).acts) {
    if (act.what != Act::What::collective || act.members.size() < 2) continue;
    for (const Round& round : act.rounds) {
      const LoopRun* loop = run_of(story.trace(0), round);
      if (!loop || !loop->local) continue;
      mismatch.cause = Cause::rounds;
      mismatch.certain = false;
      mismatch.by_surprise = true;
      story.place(mismatch, act);
      mismatch.place = loop->place;
      mismatch.calls = loop->calls;
      mismatch.event = story.of_main(act);
      mismatch.text = "How many rounds this loop makes depends on data of each rank: the ranks that make more wait in " + mismatch.name + story.at_line(act.place) +
                      " for those that have ended. Let the ranks agree on the number first.";
      mismatch.related.push_back({act.place, mismatch.name + " is entered here"});
      return true;
    }
  }
  return false;
}

bool unordered(const Story& story, Mismatch& mismatch) {
  for (const Act& act : story.trace(0).acts) {
    if (act.what != Act::What::collective || !act.info || act.info->tensor < 0) continue;
    // A tensor that is known is the same in every round.
    const auto at = static_cast<std::size_t>(act.info->tensor);
    if (at >= act.event->arguments.size() || act.event->arguments[at].is(values::Kind::tensor)) continue;
    for (const Round& round : act.rounds) {
      const LoopRun* loop = run_of(story.trace(0), round);
      if (!loop || !loop->any_order) continue;
      mismatch.cause = Cause::order;
      mismatch.certain = false;
      story.place(mismatch, act);
      mismatch.text = "This loop goes over a set of texts, whose order is another one in each process: in the same " + mismatch.name +
                      " the ranks send tensors of different names. Sort the set first.";
      mismatch.related.push_back({loop->place, "the loop over the set"});
      return true;
    }
  }
  return false;
}

} // namespace stepzero::rules
