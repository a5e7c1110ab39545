// One way that the ranks of a job may go: it is played, and where it does not go on, or ranks meet in what
// does not fit, the cause is named.
#include "rules/fact_index.hpp"
#include "rules/ranks/agreement.hpp"
#include "rules/ranks/assumption_words.hpp"
#include "rules/ranks/balance.hpp"
#include "rules/ranks/causes.hpp"
#include "rules/ranks/comm_events.hpp"
#include "rules/ranks/comparer.hpp"
#include "rules/ranks/conditions.hpp"
#include "rules/ranks/iteration_counts.hpp"
#include "rules/ranks/job_size.hpp"
#include "rules/ranks/loop_runs.hpp"
#include "rules/ranks/missing_gradients.hpp"
#include "rules/ranks/point_to_point.hpp"
#include "rules/ranks/questions_for_rank.hpp"
#include "rules/ranks/requests.hpp"
#include "rules/ranks/same_iterations.hpp"
#include "rules/ranks/slow_work.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

// "When `strategy == 'fsdp'`: ", of a call whose object is one of several, by a condition that nobody
// decides; empty for others.
std::string if_it_is_chosen(const symbolic::Context& symbols, const RankTrace& trace, const CommEvent& comm) {
  for (auto turn = comm.turns.rbegin(); turn != comm.turns.rend(); ++turn) {
    const Decision& decision = trace.decisions[*turn];
    if (!decision.branch || decision.branch->stmt || !(decision.place == comm.place) || !comm.event ||
        !decision.open)
      continue;
    const symbolic::Cond chosen_by = decision.branch->condition;
    if (!symbols.is_named(chosen_by) || symbols.form(chosen_by) == symbolic::Context::Form::constant)
      continue;
    const std::string condition = symbols.text(chosen_by);
    return "When `" + (decision.yes ? condition : "not (" + condition + ")") + "`: ";
  }
  return {};
}

// Of ranks that do what is not known from some point on: is the stop one that comes before?
bool stops_where_all_is_known(const JobRun& world, const Stop& stop) {
  if (stop.kind == Stop::Kind::none) return false;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    const bool takes_no_part = stop.kind == Stop::Kind::different && static_cast<int>(rank) != stop.a &&
        static_cast<int>(rank) != stop.b;
    if (world[rank].uncertain && stop.at[rank] >= world[rank].certain_comms && !takes_no_part &&
        !waits_for_who_has_ended(world, stop.at, rank))
      return false;
  }
  return true;
}

// Does a rank wait in a loop of its own, of any number of iterations, for one that goes through another such
// loop? Who leads and who follows is told by what passes between them, and how many iterations each has is
// not known.
bool waits_across_loops(const JobRun& world, const Stop& stop) {
  const auto open = [](const LoopRun& loop) { return loop.stands_for_many && !loop.count && !loop.silent; };
  for (std::size_t rank = 0; rank < world.size() && rank < stop.at.size(); ++rank) {
    const RankTrace& mine = world[rank];
    if (stop.at[rank] >= mine.comms.size()) continue;
    const CommEvent& comm = mine.comms[stop.at[rank]];
    for (const Iteration& iteration : comm.iterations) {
      const LoopRun* const loop = run_of(mine, iteration);
      if (!loop || !open(*loop)) continue;
      for (const int member : comm.members) {
        const auto other = static_cast<std::size_t>(member);
        if (other == rank || other >= world.size() || run_of(world[other], iteration)) continue;
        const auto is_its_own = [&](const LoopRun& each) {
          return open(each) && std::ranges::none_of(mine.loops, [&](const LoopRun& own) {
            return own.site == each.site && own.nth == each.nth;
          });
        };
        if (std::ranges::any_of(world[other].loops, is_its_own)) return true;
      }
    }
  }
  return false;
}

}  // namespace

void Comparer::follow(const JobRun& world, std::vector<Mismatch>& here) {
  past_.clear();
  const std::size_t before = here.size();
  play(world, here);
  if (assumed_ == Assumption::nothing)
    conditions_.note(
        world, std::move(past_), here.size() > before ? std::optional(here.back().key) : std::nullopt);
}

void Comparer::play(const JobRun& world, std::vector<Mismatch>& here) {
  bool uncertain = false, all_raise = true;
  for (const RankTrace& trace : world) {
    if (trace.impossible) return;
    if (trace.nowhere) return ends_nowhere(world, here);
    presumes_ = presumes_ || trace.presumes;
    by_gradients_ = by_gradients_ || trace.by_gradients;
    defaults_.insert(trace.defaults.begin(), trace.defaults.end());
    uncertain = uncertain || trace.uncertain;
    all_raise = all_raise && trace.raised;
  }
  impossible_ = false;
  only_fails_ = only_fails_ && std::all_of(world.begin(), world.end(), [](const RankTrace& trace) {
    return trace.raised && !trace.exits.empty() && trace.exits.back().fails;
  });
  if (followed_differently(world)) {
    const JobRun evened = with_one_iteration_each(world);
    if (!followed_differently(evened)) return play(evened, here);
    note(*root_, "a loop was unrolled on one rank and not on another.");
    return passed(world);
  }
  const JobView view{record_, world, of_function_};
  if (all_raise) {
    // Not a world that the program is made for, or the failure follows from what comes first.
    Mismatch mismatch;
    mismatch.world = view.size();
    if (!uncertain && !decide_differently(world) && unequal(view, mismatch, true))
      here.push_back(std::move(mismatch));
    return;
  }
  if (!uncertain && !decide_differently(world)) undefined_names(view);
  if (Mismatch mismatch; to_itself(view, mismatch)) {
    mismatch.world = view.size();
    // A function that nobody calls may be called by other ranks.
    if (!of_function_ && !decide_differently(world)) here.push_back(std::move(mismatch));
    return;
  }
  CollectiveSimulator simulator(world, true);
  const Stop stop = simulator.play();
  if (uncertain) {
    if (!stops_where_all_is_known(world, stop)) {
      for (const RankTrace& trace : world)
        if (trace.uncertain)
          note(*root_,
              "what a rank does is not known " +
                  (trace.certain_comms == 0 || trace.certain_comms > trace.comms.size() ? "from the beginning"
                                                                                        : "after line " +
                              std::to_string(line_of(trace.comms[trace.certain_comms - 1].place))) +
                  ", before the ranks wait.");
      return passed(world, &stop);
    }
  }
  if (met_across_loops(world, simulator) && !never_as_often(world)) {
    note(*root_, "loops of different ranks met.");
    return passed(world, &stop);
  }
  const bool parted = decide_differently(world);
  if (stop.kind != Stop::Kind::none && parted)
    note(*root_, "where ranks wait, they also decide differently what is open.");
  if (stop.kind != Stop::Kind::none) return play_to_stop(view, world, simulator, stop, parted, here);
  Mismatch mismatch;
  mismatch.world = view.size();
  if (unequal(view, mismatch, false) || mixed(view, mismatch) || other_size(view, simulator, mismatch) ||
      uneven(view, mismatch) || unordered(view, mismatch)) {
    if (!parted) here.push_back(std::move(mismatch));
    return;
  }
  CollectiveSimulator strict(world, false);
  const Stop strictly = strict.play();
  if (strictly.kind == Stop::Kind::blocked && explain_messages(view, strict, strictly, mismatch)) {
    mismatch.certain = false;
    // As long as messages are buffered all else is got past.
    const bool was_fine = fine_.contains(mismatch.key),
               was_fine_here = fine_in_[world_].contains(mismatch.key);
    passed(world);
    if (!was_fine) fine_.erase(mismatch.key);
    if (!was_fine_here) fine_in_[world_].erase(mismatch.key);
    if (!parted) here.push_back(std::move(mismatch));
    return;
  }
  if (!of_function_ && never_received(view, simulator, mismatch)) {
    if (!parted) here.push_back(std::move(mismatch));
    return;
  }
  if (uneven_for_some(view, mismatch) || by_own_data(view, mismatch) || dealt_by_data(view, mismatch) ||
      left_by_own_data(view, mismatch) || left_by_rank(view, mismatch) || root_of_own_data(view, mismatch) ||
      outsiders(view, simulator, mismatch))
    here.push_back(std::move(mismatch));
  passed(world);
}

// The ranks come to a stop in which they wait.
void Comparer::play_to_stop(const JobView& view, const JobRun& world, const CollectiveSimulator& simulator,
    const Stop& stop, bool parted, std::vector<Mismatch>& here) {
  Mismatch mismatch;
  mismatch.world = view.size();
  if (assumed_ == Assumption::agreement && waits_across_loops(world, stop)) {
    note(*root_, "ranks wait in loops of their own, of which nobody knows how many iterations they have.");
    return passed(world, &stop);
  }
  const bool told = unequal(view, mismatch, true) || explain(view, simulator, stop, mismatch) ||
      left_by_rank(view, mismatch);
  // Where ranks decide differently by what only they have, another run may get past.
  if (told && assumed_ == Assumption::agreement)
    mismatch.jobs = describe_assumption(record_, worlds_asked(), world, mismatch.key, only_few_);
  if (told && mismatch.certain) presume(world, stop, mismatch);
  if (Mismatch left;
      told && mismatch.cause == Cause::exit && !mismatch.by_surprise && !parted && left_by_rank(view, left)) {
    left.world = view.size();
    left_.try_emplace(left.key, std::move(left));
  }
  if (told && (mismatch.cause == Cause::local || mismatch.by_surprise || !parted)) {
    here.push_back(std::move(mismatch));
  } else if (Mismatch left; told && left_by_rank(view, left)) {
    left.world = view.size();
    here.push_back(std::move(left));
  }
}

void Comparer::passed(const JobRun& world, const Stop* stop) {
  const JobView view{record_, world, of_function_};
  requests_.note(view);
  for (Mismatch& mismatch : slow_ranks(view)) slow_.try_emplace(mismatch.key, std::move(mismatch));
  // A run in which a rank fails, or does what is not known, does not show that others get past what comes
  // then.
  bool unknown = false;
  for (const RankTrace& trace : world) unknown = unknown || trace.raised || trace.uncertain;
  for (std::size_t rank = 0; rank < world.size(); ++rank) {
    const RankTrace& trace = world[rank];
    const std::size_t got = stop && stop->kind != Stop::Kind::none ? stop->at[rank] : trace.comms.size();
    for (std::size_t at = 0; at < trace.comms.size(); ++at) {
      const CommEvent& comm = trace.comms[at];
      if (at >= got || (unknown && (trace.raised || at >= trace.certain_comms || !trace.uncertain))) {
        doubtful_.insert(comm.site);
        continue;
      }
      fine_.insert(comm.site);
      past_.insert(comm.site);
      fine_in_[world_].insert(comm.site);
      reached_.insert({comm.place.chunk, comm.place.span.begin});
    }
    for (const PathExit& exit : trace.exits) {
      if (unknown || exit.at > got) {
        doubtful_.insert(exit.site);
        continue;
      }
      fine_.insert(exit.site);
      past_.insert(exit.site);
      reached_.insert({exit.place.chunk, exit.place.span.begin});
    }
  }
}

void Comparer::presume(const JobRun& world, const Stop& stop, Mismatch& mismatch) {
  const auto* parting = mismatch.as<Parting>();
  for (std::size_t rank = 0; rank < world.size(); ++rank)
    for (std::size_t i = 0; i < world[rank].comms.size(); ++i) {
      const CommEvent& comm = world[rank].comms[i];
      if (comm.site != mismatch.key && !(parting && comm.site == parting->waits_at) &&
          (rank >= stop.at.size() || i != stop.at[rank]))
        continue;
      std::string words = comm.event ? if_it_is_one(*comm.event) : std::string();
      if (words.empty())
        words = if_it_is_chosen(
            worlds_asked().of(static_cast<int>(rank), static_cast<int>(world.size())).symbols, world[rank],
            comm);
      if (!words.empty()) {
        mismatch.certain = false;
        mismatch.supposed = true;
        mismatch.jobs = std::move(words) + mismatch.jobs;
        return;
      }
    }
}

void Comparer::ends_nowhere(const JobRun& world, std::vector<Mismatch>& here) const {
  if (of_function_ || decide_differently(world)) return;
  for (const RankTrace& trace : world)
    if (trace.uncertain) return;
  const JobView view{record_, world, of_function_};
  CollectiveSimulator simulator(world, true);
  const Stop stop = simulator.play();
  Mismatch mismatch;
  mismatch.world = view.size();
  if (stop.at.size() != world.size()) return;
  for (int rank = 0; rank < view.size(); ++rank) {
    const RankTrace& trace = view.trace(rank);
    if (!trace.nowhere || stop.at[static_cast<std::size_t>(rank)] < trace.comms.size() ||
        left_open(trace, *trace.nowhere))
      continue;
    mismatch.cause = Cause::message;
    mismatch.make<MessageWait>().nowhere = true;
    view.place(mismatch, *trace.nowhere);
    mismatch.text = "Rank " + std::to_string(rank) +
        (trace.nowhere->what == CommEvent::What::send ? " sends to rank "
                                                      : " asks for a message from rank ") +
        std::to_string(trace.nowhere->peer) +
        " here, which does not exist: the call fails, and the other ranks wait until the launcher ends the job. Name a rank that there is.";
    here.push_back(std::move(mismatch));
    return;
  }
  if (stop.kind == Stop::Kind::blocked && never_answered(view, simulator, stop, mismatch) &&
      !view.trace(mismatch.make<MessageWait>().peer).nowhere)
    here.push_back(std::move(mismatch));
}

bool Comparer::as_many_iterations(const Iteration& a, const Iteration& b) const {
  const auto iterable = [&](const Iteration& iteration) {
    const syntax::Stmt* stmt = iteration.loop ? iteration.loop->stmt : nullptr;
    return stmt && stmt->kind == syntax::StmtKind::for_
        ? record_.text({iteration.place.chunk, syntax::as<syntax::ForStmt>(*stmt).iterable->span})
        : std::string_view{};
  };
  return !iterable(a).empty() && iterable(a) == iterable(b) && a.loop->trips == symbolic::Sharing::uniform &&
      b.loop->trips == symbolic::Sharing::uniform;
}

bool Comparer::met_across_loops(const JobRun& world, const CollectiveSimulator& simulator) {
  const auto loop_of = [&](int rank, const Iteration& iteration) {
    return run_of(world[static_cast<std::size_t>(rank)], iteration);
  };
  const auto many = [&](int rank, const CommEvent& comm, int other_rank, const CommEvent& other) {
    return std::any_of(comm.iterations.begin(), comm.iterations.end(), [&](const Iteration& iteration) {
      const LoopRun* const loop = loop_of(rank, iteration);
      if (!loop || !loop->stands_for_many || loop->count) return false;
      // What the other does in an iteration of it was followed.
      if (worlds_asked().follows_one_iteration(other_rank, rank, static_cast<int>(world.size())))
        return false;
      // Who has gone on from as many iterations of it is called by nobody there.
      if (both_went_through(
              world[static_cast<std::size_t>(rank)], world[static_cast<std::size_t>(other_rank)], iteration))
        return false;
      return std::none_of(other.iterations.begin(), other.iterations.end(), [&](const Iteration& theirs) {
        if (theirs.site == iteration.site) return true;
        const LoopRun* const their = loop_of(other_rank, theirs);
        return their && loop->counts && their->counts && as_many_iterations(iteration, theirs);
      });
    });
  };
  const auto held = simulator.held();
  return std::any_of(held.begin(), held.end(), [&](const auto* meeting) {
    return std::any_of(meeting->begin(), meeting->end(), [&](const auto& one) {
      const CommEvent& comm = world[static_cast<std::size_t>(one.first)].comms[one.second];
      return !comm.iterations.empty() &&
          std::any_of(meeting->begin(), meeting->end(), [&](const auto& other) {
            return other.first != one.first &&
                many(one.first, comm, other.first,
                    world[static_cast<std::size_t>(other.first)].comms[other.second]);
          });
    });
  });
}

bool Comparer::left_open(const RankTrace& trace, const CommEvent& comm) {
  for (std::size_t i = 0; i < comm.decided && i < trace.decisions.size(); ++i) {
    const Decision& decision = trace.decisions[i];
    if (decision.open && (!decision.branch || leads_to(trace, i, comm))) return true;
  }
  return false;
}

bool Comparer::decide_differently(const JobRun& world) const {
  std::map<std::pair<int, int>, const Decision*> sides;
  for (const RankTrace& trace : world)
    for (const Decision& decision : trace.decisions) {
      const auto [it, fresh] = sides.try_emplace({decision.site, decision.nth}, &decision);
      if (fresh || it->second->yes == decision.yes) continue;
      if (decision.open && it->second->open) return true;
      if ((decision.open || it->second->open) &&
          !about_ranks_.contains({decision.place.chunk, decision.place.span.begin}))
        return true;
    }
  return assumed_ == Assumption::agreement && answer_words_differently(world);
}

// Ranks that agree answer what they ask in the same words alike, wherever each of them asks it.
bool Comparer::answer_words_differently(const JobRun& world) const {
  std::map<std::pair<std::string_view, int>, bool> answers;
  for (const RankTrace& trace : world) {
    std::map<std::string_view, int> asked;
    for (const Decision& decision : trace.decisions) {
      if (!decision.open || !decision.branch || !decision.branch->stmt || !decision.place) continue;
      const std::string_view words = record_.text(decision.place);
      const auto [it, fresh] = answers.try_emplace({words, asked[words]++}, decision.yes);
      if (!fresh && it->second != decision.yes) return true;
    }
  }
  return false;
}

void Comparer::undefined_names(const JobView& view) {
  const int size = view.size();
  for (int rank = 0; rank < size; ++rank)
    for (const Missing& missing : view.trace(rank).missing) {
      std::vector<int> without;
      for (int other = 0; other < size; ++other)
        if (std::any_of(view.trace(other).missing.begin(), view.trace(other).missing.end(),
                [&](const Missing& each) { return each.site == missing.site && each.name == missing.name; }))
          without.push_back(other);
      if (static_cast<int>(without.size()) == size) continue;
      const auto turned = std::any_of(missing.turns.begin(), missing.turns.end(),
          [&](std::size_t turn) { return view.trace(rank).decisions[turn].open; });
      if (turned) continue;
      if (std::any_of(undefined_.begin(), undefined_.end(),
              [&](const Mismatch& each) { return each.calls == missing.calls && each.name == missing.name; }))
        continue;
      Mismatch made;
      made.cause = Cause::name;
      made.name = missing.name;
      made.world = size;
      made.key = missing.site;
      made.place = missing.place;
      made.calls = missing.calls;
      made.text = "`" + missing.name + "` is not assigned on " + rank_words(without, size) + ", which use" +
          (without.size() == 1 ? "s" : "") +
          " it here: " + (missing.calls || of_function_ ? "`UnboundLocalError`" : "`NameError`") +
          ", while the other ranks go on and wait. Assign it on every rank.";
      undefined_.push_back(std::move(made));
    }
}

}  // namespace stepzero::rules
