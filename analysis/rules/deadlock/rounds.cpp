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

namespace {

// The same for the n-th of the sizes that the counts of a loop are made for.
std::map<std::string_view, std::int64_t> totals(const Trace& trace, const std::string& group, const std::vector<std::string>& sizes, std::size_t n) {
  std::map<std::string_view, std::int64_t> times;
  for (const Act& act : trace.acts) {
    if (act.what != Act::What::collective || act.group != group) continue;
    std::int64_t rounds = 1;
    for (const Round& round : act.rounds)
      if (const LoopRun* loop = run_of(trace, round); loop && loop->stands_for_many && loop->counts && loop->counts->sizes == sizes) rounds *= std::max<std::int64_t>(loop->counts->rounds[n], 0);
    times[act.name] += rounds;
  }
  return times;
}

// "len(files) is 3"
std::string sizes_of(const interpreter::RoundCounts& counts, std::size_t n) {
  const auto most = static_cast<std::size_t>(interpreter::RoundCounts::most(counts.sizes.size()));
  std::string text;
  for (std::size_t i = counts.sizes.size(); i-- > 0; n /= most)
    text = counts.sizes[i] + " is " + std::to_string(n % most + 1) + (text.empty() ? "" : " and ") + text;
  return text;
}

} // namespace

bool uneven_for_some(const Story& story, Mismatch& mismatch) {
  for (int rank = 0; rank < story.size(); ++rank)
    for (const Act& act : story.trace(rank).acts) {
      if (act.what != Act::What::collective) continue;
      for (const Round& round : act.rounds) {
        const LoopRun* mine = run_of(story.trace(rank), round);
        if (!mine || !mine->stands_for_many || !mine->counts || mine->counts->sizes.empty()) continue;
        for (const int other : act.members) {
          if (other == rank || other >= story.size()) continue;
          const LoopRun* theirs = run_of(story.trace(other), round);
          if (!theirs || !theirs->stands_for_many || !theirs->counts || theirs->counts->sizes != mine->counts->sizes) continue;
          for (std::size_t n = 0; n < mine->counts->rounds.size(); ++n) {
            const std::int64_t more = mine->counts->rounds[n], fewer = theirs->counts->rounds[n];
            if (fewer == interpreter::RoundCounts::never || more <= fewer) continue;
            if (totals(story.trace(rank), act.group, mine->counts->sizes, n) == totals(story.trace(other), act.group, mine->counts->sizes, n)) continue;
            mismatch.cause = Cause::rounds;
            mismatch.certain = false;
            mismatch.by_surprise = true;
            story.place(mismatch, act);
            mismatch.place = mine->place;
            mismatch.calls = mine->calls;
            mismatch.event = story.of_main(act);
            mismatch.text = "The ranks may make different numbers of rounds: where " + sizes_of(*mine->counts, n) + ", rank " + std::to_string(rank) + " makes " + std::to_string(more) + " and rank " +
                            std::to_string(other) + " makes " + std::to_string(fewer) + ", and rank " + std::to_string(rank) + " waits in " + mismatch.name + story.at_line(act.place) +
                            " for ever. Drop what is left over, or pad the shards.";
            mismatch.related.push_back({act.place, mismatch.name + " is entered here"});
            return true;
          }
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

bool left_by_own_data(const Story& story, Mismatch& mismatch) {
  for (int rank = 0; rank < story.size(); ++rank)
    for (const Leaving& exit : story.trace(rank).exits) {
      if (exit.caught || exit.rounds.empty() || (exit.kind != interpreter::ExitKind::break_ && exit.kind != interpreter::ExitKind::return_)) continue;
      const Round& round = exit.rounds.back();
      const LoopRun* loop = run_of(story.trace(rank), round);
      if (!loop || !loop->stands_for_many || (loop->count && *loop->count < 2)) continue;
      for (std::size_t i = 0; i < exit.turns.size(); ++i) {
        const Decision& mine = story.trace(rank).decisions[exit.turns[i]];
        if (i < round.turns || !mine.local || mine.unseen) continue;
        for (int other = 0; other < story.size(); ++other) {
          const Trace& theirs = story.trace(other);
          const bool parted = std::any_of(theirs.decisions.begin(), theirs.decisions.end(), [&](const Decision& each) { return each.site == mine.site && each.nth == mine.nth && each.yes != mine.yes; });
          const bool leaves = std::any_of(theirs.exits.begin(), theirs.exits.end(), [&](const Leaving& each) {
            return each.kind != interpreter::ExitKind::continue_ && std::any_of(each.rounds.begin(), each.rounds.end(), [&](const Round& of) { return of.site == round.site && of.nth == round.nth; });
          });
          if (!parted || leaves) continue;
          const auto waits = std::find_if(theirs.acts.begin(), theirs.acts.end(), [&](const Act& act) {
            return act.what == Act::What::collective && is_member(act, rank) && is_member(act, other) &&
                   std::any_of(act.rounds.begin(), act.rounds.end(), [&](const Round& of) { return of.site == round.site && of.nth == round.nth; });
          });
          if (waits == theirs.acts.end() || !story.of_own_data(mine.place)) continue;
          mismatch.cause = Cause::local;
          mismatch.by_surprise = true;
          story.place(mismatch, *waits);
          mismatch.key = exit.site;
          mismatch.place = exit.place;
          mismatch.calls = exit.calls;
          mismatch.condition = mine.place;
          mismatch.exit = exit.kind;
          mismatch.event = story.of_main(*waits);
          mismatch.whole_job = waits->group == "world";
          mismatch.text = "Each rank decides this by data of its own: in the next round the ranks that go on wait in " + mismatch.name + story.at_line(waits->place) +
                          " for those that have left the loop here. Let the ranks agree first: all_reduce what decides.";
          if (!(mine.place == exit.place)) mismatch.related.push_back({mine.place, "this condition may differ among the ranks"});
          mismatch.related.push_back({waits->place, mismatch.name + " is entered here"});
          return true;
        }
      }
    }
  return false;
}

bool unordered(const Story& story, Mismatch& mismatch) {
  for (const Act& act : story.trace(0).acts) {
    if (act.what != Act::What::collective || !act.info || act.info->tensor < 0) continue;
    // A tensor that is known is the same in every round.
    const auto at = static_cast<std::size_t>(act.info->tensor);
    if (at >= act.event->arguments.size() || (act.event->arguments[at].is(values::Kind::tensor) && !act.event->arguments[at].as<values::Tensor>()->any_of)) continue;
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
