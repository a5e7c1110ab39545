// Ranks that leave a loop of any number of iterations where others go on: declared in iterations.hpp.
#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/iteration_counts.hpp"
#include "rules/ranks/loop_runs.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

// Does the way out lead out of the loop? A function that is called in an iteration returns into it.
bool leaves(const RankTrace& trace, const PathExit& exit, const Iteration& iteration) {
  const auto at = std::find_if(exit.iterations.begin(), exit.iterations.end(),
      [&](const Iteration& each) { return same_loop(each, iteration); });
  if (at == exit.iterations.end() || exit.caught) return false;
  switch (exit.kind) {
  case interpreter::ExitKind::continue_: return false;
  case interpreter::ExitKind::break_: return at + 1 == exit.iterations.end();
  case interpreter::ExitKind::raise: return true;
  case interpreter::ExitKind::return_: {
    const LoopRun* loop = run_of(trace, *at);
    return loop && loop->calls == exit.calls;
  }
  }
  return false;
}

// The first collective of the loop in which one rank waits for the other.
const CommEvent* next_in_loop(const RankTrace& trace, const Iteration& iteration, int a, int b) {
  for (const CommEvent& comm : trace.comms)
    if (comm.what == CommEvent::What::collective && is_member(comm, a) && is_member(comm, b) &&
        std::any_of(comm.iterations.begin(), comm.iterations.end(),
            [&](const Iteration& of) { return same_loop(of, iteration); }))
      return &comm;
  return nullptr;
}

}  // namespace

bool left_by_own_data(const JobView& view, Mismatch& mismatch) {
  for (int rank = 0; rank < view.size(); ++rank)
    for (const PathExit& exit : view.trace(rank).exits) {
      if (exit.iterations.empty() ||
          (exit.kind != interpreter::ExitKind::break_ && exit.kind != interpreter::ExitKind::return_))
        continue;
      const Iteration& iteration = exit.iterations.back();
      const LoopRun* loop = run_of(view.trace(rank), iteration);
      if (!leaves(view.trace(rank), exit, iteration)) continue;
      if (!loop || !loop->stands_for_many || (loop->count && *loop->count < 2)) continue;
      for (std::size_t i = 0; i < exit.turns.size(); ++i) {
        const Decision& mine = view.trace(rank).decisions[exit.turns[i]];
        if (i < iteration.turns || !mine.local || mine.unseen) continue;
        for (int other = 0; other < view.size(); ++other) {
          const RankTrace& theirs = view.trace(other);
          const bool parted = std::any_of(
              theirs.decisions.begin(), theirs.decisions.end(), [&](const Decision& each) {
                return each.site == mine.site && each.nth == mine.nth && each.yes != mine.yes;
              });
          if (!parted || std::any_of(theirs.exits.begin(), theirs.exits.end(), [&](const PathExit& each) {
                return leaves(theirs, each, iteration);
              }))
            continue;
          const CommEvent* const waits = next_in_loop(theirs, iteration, rank, other);
          if (!waits || !view.of_own_data(mine.place)) continue;
          mismatch.cause = Cause::local;
          mismatch.by_surprise = true;
          view.place(mismatch, *waits);
          mismatch.key = exit.site;
          mismatch.place = exit.place;
          mismatch.calls = exit.calls;
          mismatch.detail = Parting{mine.place, exit.kind, 0, waits->group == world_group};
          mismatch.event = view.of_main(*waits);
          mismatch.text =
              "Each rank decides this from its own data: in the next iteration a rank that goes on waits in " +
              call_text(mismatch.name) + view.at_line(waits->place) +
              " for the ranks that left the loop here. Make the ranks agree first: `all_reduce` the value that decides.";
          if (!(mine.place == exit.place))
            mismatch.related.push_back({mine.place, "this condition may differ among the ranks"});
          mismatch.related.push_back({waits->place, call_text(mismatch.name) + " is entered here"});
          return true;
        }
      }
    }
  return false;
}

namespace {

using interpreter::Block;
using interpreter::Event;
using interpreter::EventKind;
using interpreter::ExitKind;

// The loop as the rank knows it; null where it enters nothing in it, or leaves it in some iteration.
const interpreter::LoopEvent* whole_loop(const RankTrace& trace, const Iteration& iteration) {
  for (const CommEvent& comm : trace.comms)
    for (const Iteration& of : comm.iterations) {
      if (!same_loop(of, iteration)) continue;
      const LoopRun* run = run_of(trace, of);
      const bool whole = run && run->stands_for_many && !run->local && of.loop &&
          of.loop->trips != symbolic::Sharing::local && of.loop->trips != symbolic::Sharing::divergent &&
          !run->left;
      return whole ? of.loop : nullptr;
    }
  return nullptr;
}

bool is_endless(const interpreter::LoopEvent& loop) {
  if (!loop.stmt || loop.stmt->kind != syntax::StmtKind::while_) return false;
  const auto kind = syntax::as<syntax::WhileStmt>(*loop.stmt).test->kind;
  return kind == syntax::ExprKind::boolean || kind == syntax::ExprKind::integer;
}

}  // namespace

bool both_went_through(const RankTrace& mine, const RankTrace& theirs, const Iteration& iteration) {
  const interpreter::LoopEvent *const here = whole_loop(mine, iteration),
                                      *const there = whole_loop(theirs, iteration);
  return here && there && here->stmt && here->stmt->kind == syntax::StmtKind::for_;
}

namespace {

// Does the loop go on as long as it would on any rank, whatever the ranks tell each other in it?
bool goes_on_by_itself(const JobView& view, const Iteration& iteration) {
  const interpreter::LoopEvent& loop = *iteration.loop;
  if (loop.unrolled && (!loop.stmt || loop.stmt->kind != syntax::StmtKind::for_)) return false;
  if (!loop.stmt || (!loop.unrolled && loop.iterations.size() != 1) ||
      loop.trips == symbolic::Sharing::local || loop.trips == symbolic::Sharing::divergent)
    return false;
  if (loop.stmt->kind == syntax::StmtKind::for_ || is_endless(loop)) return true;
  // What a `while` asks may have been received; numbers that are counted were not.
  const syntax::Expr& test = *syntax::as<syntax::WhileStmt>(*loop.stmt).test;
  if (test.kind != syntax::ExprKind::compare) return false;
  bool any = false;
  for (const interpreter::Fact& fact : view.record.facts) {
    if (fact.place.chunk != iteration.place.chunk || !test.span.holds(fact.place.span) ||
        fact.place.span == test.span)
      continue;
    const bool measured = fact.value.is(values::Kind::unknown) && fact.value.as<values::Unknown>()->is_number;
    if (fact.tensor || measured ||
        (!fact.value.is(values::Kind::integer) && !fact.value.is(values::Kind::unknown)))
      return false;
    any = any || fact.value.is(values::Kind::integer);
  }
  return any;
}

// Does the rank enter nothing after its way out that the other does not enter, too?
bool only_what_both_enter(const RankTrace& mine, const RankTrace& theirs, std::size_t from) {
  for (std::size_t i = from; i < mine.comms.size(); ++i)
    if (std::none_of(theirs.comms.begin(), theirs.comms.end(),
            [&](const CommEvent& comm) { return comm.site == mine.comms[i].site; }))
      return false;
  return true;
}

// What the other enters with the rank in an iteration that comes after this one, of those that are followed
// one by one.
const CommEvent* in_later_iteration(const RankTrace& theirs, const Iteration& iteration, int rank) {
  const auto later = [&](const Iteration& of) {
    return same_loop(of, iteration) && of.iteration > iteration.iteration;
  };
  for (const CommEvent& comm : theirs.comms)
    if (comm.what == CommEvent::What::collective && std::ranges::any_of(comm.iterations, later) &&
        std::ranges::find(comm.members, rank) != comm.members.end())
      return &comm;
  return nullptr;
}

// The decision of the iteration by which only the rank's number has it leave, and the other not.
const Decision* parting(
    const RankTrace& mine, const RankTrace& theirs, const PathExit& exit, const Iteration& iteration) {
  for (std::size_t i = iteration.turns; i < exit.turns.size(); ++i) {
    const Decision& decision = mine.decisions[exit.turns[i]];
    // Where it is open whether the rank leaves, the other is known not to.
    if (std::any_of(theirs.decisions.begin(), theirs.decisions.end(), [&](const Decision& each) {
          return each.site == decision.site && each.nth == decision.nth && !each.open &&
              each.yes != decision.yes;
        }))
      return &decision;
  }
  return nullptr;
}

}  // namespace

bool left_by_rank(const JobView& view, Mismatch& mismatch) {
  for (int rank = 0; rank < view.size(); ++rank) {
    const RankTrace& mine = view.trace(rank);
    for (const PathExit& exit : mine.exits)
      for (const Iteration& iteration : exit.iterations) {
        const LoopRun* loop = run_of(mine, iteration);
        if (!loop || (loop->stands_for_many && loop->count && *loop->count < 2) || !iteration.loop ||
            exit.kind == ExitKind::raise || !leaves(mine, exit, iteration))
          continue;
        for (int other = 0; other < view.size(); ++other) {
          const RankTrace& theirs = view.trace(other);
          const Decision* const by = other == rank ? nullptr : parting(mine, theirs, exit, iteration);
          const CommEvent* const waits = !by ? nullptr
              : loop->stands_for_many        ? next_in_loop(theirs, iteration, rank, other)
                                             : in_later_iteration(theirs, iteration, rank);
          if (!waits) continue;
          const Iteration& going = *std::find_if(waits->iterations.begin(), waits->iterations.end(),
              [&](const Iteration& of) { return same_loop(of, iteration); });
          const LoopRun* const there = run_of(theirs, going);
          if (!going.loop || !there || there->left || !goes_on_by_itself(view, going)) continue;
          if (!is_endless(*going.loop) && !only_what_both_enter(mine, theirs, exit.at)) continue;
          std::vector<int> waiting;
          for (const int member : waits->members)
            if (member == other || parting(mine, view.trace(member), exit, iteration))
              waiting.push_back(member);
          const bool whenever = std::any_of(exit.turns.begin() + static_cast<std::ptrdiff_t>(iteration.turns),
              exit.turns.end(), [&](std::size_t turn) { return mine.decisions[turn].open; });
          mismatch.cause = Cause::exit;
          mismatch.by_surprise = true;
          mismatch.certain = is_endless(*going.loop) ||
              (loop->stands_for_many && going.loop->length && loop->count && !whenever);
          view.place(mismatch, *waits);
          mismatch.key = exit.site;
          mismatch.place = exit.place;
          mismatch.calls = exit.calls;
          mismatch.detail = Parting{by->place, exit.kind, 0, waits->group == world_group};
          mismatch.event = view.of_main(*waits);
          mismatch.ranks = {rank};
          mismatch.text = "Only rank " + std::to_string(rank) +
              " leaves the loop here: in the next iteration " +
              ranks_do(waiting, view.size(), "waits", "wait") + " in " + call_text(mismatch.name) +
              view.at_line(waits->place) +
              " forever. Make all ranks leave together: `broadcast` the value that decides.";
          mismatch.related.push_back({by->place, "by this condition"});
          mismatch.related.push_back({waits->place, call_text(mismatch.name) + " is entered here"});
          return true;
        }
      }
  }
  return false;
}

}  // namespace stepzero::rules
