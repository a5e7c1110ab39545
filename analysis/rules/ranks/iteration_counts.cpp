#include "rules/ranks/iteration_counts.hpp"

#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/communication.hpp"
#include "rules/ranks/loop_runs.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

namespace {

using Totals = std::map<std::string_view, std::int64_t>;

// How often a rank makes each collective of a group; `iterations` says how many iterations a loop around
// counts for: one where their number is not known, on all ranks alike.
template <class Iterations>
Totals totals(const RankTrace& trace, const std::string& group, const Iterations& iterations) {
  constexpr std::int64_t most = 1'000'000;  // iterations: of more only that they are many counts
  Totals times;
  for (const CommEvent& comm : trace.comms) {
    if (comm.what != CommEvent::What::collective || comm.group != group) continue;
    std::int64_t made = 1;
    for (const Iteration& iteration : comm.iterations)
      if (const LoopRun* loop = run_of(trace, iteration); loop && loop->stands_for_many)
        made = std::min(most, made * iterations(*loop));
    times[comm.name] += made;
  }
  return times;
}
Totals totals(const RankTrace& trace, const std::string& group) {
  return totals(trace, group, [](const LoopRun& loop) { return loop.count.value_or(1); });
}
// The same for the n-th of the sizes that the counts of a loop are made for.
Totals totals(
    const RankTrace& trace, const std::string& group, const std::vector<std::string>& sizes, std::size_t n) {
  return totals(trace, group, [&](const LoopRun& loop) {
    return loop.counts && loop.counts->sizes == sizes ? std::max<std::int64_t>(loop.counts->iterations[n], 0)
                                                      : 1;
  });
}

// A loop around a collective, as two of its members go through it.
struct InLoop {
  const CommEvent& comm;
  int rank, other;
  const LoopRun &mine, &theirs;
};
// Calls `look` for each of them, until that is true.
template <class Look> bool any_in_loops(const JobView& view, const Look& look) {
  for (int rank = 0; rank < view.size(); ++rank)
    for (const CommEvent& comm : view.trace(rank).comms) {
      if (comm.what != CommEvent::What::collective) continue;
      for (const Iteration& iteration : comm.iterations) {
        const LoopRun* mine = run_of(view.trace(rank), iteration);
        if (!mine) continue;
        for (const int other : comm.members) {
          if (other == rank || other >= view.size()) continue;
          const LoopRun* theirs = run_of(view.trace(other), iteration);
          if (theirs && look(InLoop{comm, rank, other, *mine, *theirs})) return true;
        }
      }
    }
  return false;
}

// What is wrong is the number of the iterations of the loop.
void at_loop(const JobView& view, const CommEvent& comm, const LoopRun& loop, Mismatch& mismatch) {
  mismatch.cause = Cause::iterations;
  view.place(mismatch, comm);
  mismatch.place = loop.place;
  mismatch.calls = loop.calls;
  mismatch.related.push_back({comm.place, call_text(mismatch.name) + " is entered here"});
}
// … and another run may get past.
void perhaps_at_loop(const JobView& view, const CommEvent& comm, const LoopRun& loop, Mismatch& mismatch) {
  at_loop(view, comm, loop, mismatch);
  mismatch.certain = false;
  mismatch.by_surprise = true;
  mismatch.event = view.of_main(comm);
}

std::string iterations_of(int rank, std::int64_t iterations) {
  return "rank " + std::to_string(rank) + " runs " + std::to_string(iterations);
}

}  // namespace

bool uneven(const JobView& view, Mismatch& mismatch) {
  return any_in_loops(view, [&](const InLoop& in) {
    if (!in.mine.count || !in.theirs.count || *in.theirs.count >= *in.mine.count ||
        totals(view.trace(in.rank), in.comm.group) == totals(view.trace(in.other), in.comm.group))
      return false;
    at_loop(view, in.comm, in.mine, mismatch);
    const std::string rank = std::to_string(in.rank);
    mismatch.text = "Rank " + rank + " runs " + std::to_string(*in.mine.count) +
        " iterations of this loop and " + iterations_of(in.other, *in.theirs.count) +
        ": after its last one rank " + rank + " waits forever in " + call_text(mismatch.name) +
        view.at_line(in.comm.place) + ". Give every rank the same number of iterations.";
    return true;
  });
}

namespace {

// "len(files) is 3"
std::string sizes_of(const interpreter::IterationCounts& counts, std::size_t n) {
  const auto most = static_cast<std::size_t>(interpreter::IterationCounts::most(counts.sizes.size()));
  std::string text;
  for (std::size_t i = counts.sizes.size(); i-- > 0; n /= most)
    text = values::code(counts.sizes[i]) + " is " + std::to_string(n % most + 1) +
        (text.empty() ? "" : " and ") + text;
  return text;
}

// The first of the sizes for which the rank makes more iterations than the other, and enters more in all.
std::optional<std::size_t> uneven_size(const JobView& view, const InLoop& in) {
  const auto &mine = *in.mine.counts, &theirs = *in.theirs.counts;
  for (std::size_t n = 0; n < mine.iterations.size(); ++n)
    if (theirs.iterations[n] != interpreter::IterationCounts::never &&
        mine.iterations[n] > theirs.iterations[n] &&
        totals(view.trace(in.rank), in.comm.group, mine.sizes, n) !=
            totals(view.trace(in.other), in.comm.group, mine.sizes, n))
      return n;
  return std::nullopt;
}

}  // namespace

bool uneven_for_some(const JobView& view, Mismatch& mismatch) {
  return any_in_loops(view, [&](const InLoop& in) {
    if (!in.mine.stands_for_many || !in.mine.counts || in.mine.counts->sizes.empty() ||
        !in.theirs.stands_for_many || !in.theirs.counts || in.theirs.counts->sizes != in.mine.counts->sizes)
      return false;
    const auto n = uneven_size(view, in);
    if (!n) return false;
    perhaps_at_loop(view, in.comm, in.mine, mismatch);
    mismatch.text = "The ranks may run different numbers of iterations: when " +
        sizes_of(*in.mine.counts, *n) + ", " + iterations_of(in.rank, in.mine.counts->iterations[*n]) +
        " and " + iterations_of(in.other, in.theirs.counts->iterations[*n]) + ", so rank " +
        std::to_string(in.rank) + " waits forever in " + call_text(mismatch.name) +
        view.at_line(in.comm.place) + ". Drop what is left over, or pad the shards.";
    return true;
  });
}

namespace {
// Does the loop stand in a `with Join(…)`, which is there for ranks of which some end before others, and is
// the call none of what Join answers for them?
bool is_for_uneven_iterations(const CommEvent& comm, const Iteration& iteration, const LoopRun& loop) {
  if (!comm.event || !comm.info || comm.info->joins || !loop.stands_for_many || loop.count || !iteration.loop)
    return false;
  const interpreter::Around* join = joined_by(*comm.event);
  return join && join->place.chunk == iteration.loop->place.chunk &&
      join->place.span.begin < iteration.loop->place.span.begin;
}
}  // namespace

bool by_own_data(const JobView& view, Mismatch& mismatch) {
  for (const CommEvent& comm : view.trace(0).comms) {
    if (comm.what != CommEvent::What::collective || comm.members.size() < 2) continue;
    for (const Iteration& iteration : comm.iterations) {
      const LoopRun* loop = run_of(view.trace(0), iteration);
      if (!loop || !(loop->local || is_for_uneven_iterations(comm, iteration, *loop))) continue;
      perhaps_at_loop(view, comm, *loop, mismatch);
      mismatch.text =
          "The number of iterations of this loop depends on the data of each rank: a rank that runs more waits in " +
          call_text(mismatch.name) + view.at_line(comm.place) +
          " for the ranks that have finished. Make the ranks agree on the number first.";
      return true;
    }
  }
  return false;
}

namespace {

// Does the condition deal what is not known among the ranks: `x % world == rank`?
bool deals(const symbolic::Context& symbols, symbolic::Cond condition) {
  if (symbols.form(condition) == symbolic::Context::Form::negation)
    return deals(symbols, symbols.operands(condition)[0]);
  const auto comparison = symbols.comparison(condition);
  if (!comparison || comparison->op != symbolic::Compare::eq) return false;
  bool rank = false, world = false, other = false;
  symbols.parts(
      condition,
      [&](values::Int atom) {
        const auto* info = symbols.atom_info(atom);
        const symbolic::Role role = info ? info->role : symbolic::Role::none;
        (role == symbolic::Role::rank ? rank : role == symbolic::Role::world_size ? world : other) = true;
      },
      [](symbolic::Cond) {});
  return rank && world && other;
}

}  // namespace

bool dealt_by_data(const JobView& view, Mismatch& mismatch) {
  const RankTrace& trace = view.trace(0);
  for (const CommEvent& comm : trace.comms) {
    if (comm.what != CommEvent::What::collective || comm.members.size() < 2) continue;
    for (const Iteration& iteration : comm.iterations) {
      const LoopRun* loop = run_of(trace, iteration);
      if (!loop || !loop->stands_for_many || loop->count || !iteration.loop || !iteration.loop->stmt)
        continue;
      for (std::size_t i = 0; i < comm.decided && i < trace.decisions.size(); ++i) {
        const Decision& decision = trace.decisions[i];
        const auto* branch = decision.open && decision.branch &&
                decision.place.chunk == iteration.place.chunk &&
                iteration.loop->stmt->span.holds(decision.place.span) && leads_to(trace, i, comm)
            ? view.of_main(decision.place)
            : nullptr;
        if (!branch || !deals(view.record.symbols, branch->condition)) continue;
        perhaps_at_loop(view, comm, *loop, mismatch);
        mismatch.text =
            "Each rank picks its own iterations of this loop, and not equally many: a rank that runs more waits in " +
            call_text(mismatch.name) + view.at_line(comm.place) +
            " for the ranks that have finished. Give every rank the same number of iterations.";
        mismatch.related.push_back({decision.place, "each rank takes its own here"});
        return true;
      }
    }
  }
  return false;
}

bool unordered(const JobView& view, Mismatch& mismatch) {
  for (const CommEvent& comm : view.trace(0).comms) {
    if (comm.what != CommEvent::What::collective || !comm.info || comm.info->tensor < 0) continue;
    // A tensor that is known is the same in every iteration.
    const auto at = static_cast<std::size_t>(comm.info->tensor);
    if (at >= comm.event->arguments.size() ||
        (comm.event->arguments[at].is(values::Kind::tensor) &&
            !comm.event->arguments[at].as<values::Tensor>()->any_of))
      continue;
    for (const Iteration& iteration : comm.iterations) {
      const LoopRun* loop = run_of(view.trace(0), iteration);
      if (!loop || !loop->any_order) continue;
      mismatch.cause = Cause::order;
      mismatch.certain = false;
      view.place(mismatch, comm);
      mismatch.text =
          "This loop iterates over a set of strings, whose order differs from process to process: in the same " +
          call_text(mismatch.name) + " the ranks send tensors of different names. Sort the set first.";
      mismatch.related.push_back({loop->place, "the loop over the set"});
      return true;
    }
  }
  return false;
}

namespace {

// A loop: which it is, and how many iterations it has for each of the sizes that decide that.
using Many = std::pair<std::pair<int, int>, std::vector<std::int64_t>>;
// How often a rank enters a collective, by the loops around of which it is not known how many rounds they
// have.
struct Times {
  std::map<std::vector<Many>, int> by_loops;
  bool known = true;  // no loop around has iterations that may differ among the ranks, or is left
};
using Often = std::map<std::pair<std::string, std::string_view>, Times>;  // each collective of each group

// Nothing: it is not known which it enters.
std::optional<Often> how_often(const RankTrace& trace) {
  if (trace.raised || trace.uncertain || !trace.perhaps.empty()) return std::nullopt;
  Often often;
  for (const CommEvent& comm : trace.comms) {
    if (comm.what != CommEvent::What::collective) continue;
    Times& times = often[{comm.group, comm.name}];
    std::vector<Many> loops;
    for (const Iteration& iteration : comm.iterations) {
      const LoopRun* loop = run_of(trace, iteration);
      if (!loop || !loop->stands_for_many) continue;
      if (loop->count || !loop->counts || loop->local || !iteration.loop ||
          iteration.loop->trips != symbolic::Sharing::uniform)
        times.known = false;
      else
        loops.push_back({{iteration.site, iteration.nth},
            {loop->counts->iterations.begin(), loop->counts->iterations.end()}});
    }
    ++times.by_loops[loops];
  }
  return often;
}

// Does the one enter it more often than the other, however many rounds the loops have, if each has one?
bool is_more_often(const Times& one, const Times& other) {
  const auto at = [](const Times& times, const std::vector<Many>& loops) {
    const auto found = times.by_loops.find(loops);
    return found == times.by_loops.end() ? 0 : found->second;
  };
  bool more = false;
  for (const auto& [loops, count] : one.by_loops) {
    if (count < at(other, loops)) return false;
    more = more || count > at(other, loops);
  }
  return more && std::ranges::all_of(other.by_loops, [&](const auto& each) {
    return one.by_loops.contains(each.first);
  });
}

}  // namespace

bool never_as_often(const JobRun& world) {
  std::vector<Often> all;
  for (const RankTrace& trace : world) {
    auto often = how_often(trace);
    if (!often) return false;
    all.push_back(std::move(*often));
  }
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    for (const auto& [collective, times] : all[0]) {
      const auto other = all[rank].find(collective);
      if (other == all[rank].end() || collective.first != world_group) continue;
      const Times& theirs = other->second;
      if (times.known && theirs.known && (is_more_often(times, theirs) || is_more_often(theirs, times)))
        return true;
    }
  return false;
}

}  // namespace stepzero::rules
