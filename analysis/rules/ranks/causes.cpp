#include "rules/ranks/cause_search.hpp"
#include "rules/sentences.hpp"

namespace stepzero::rules {

using namespace interpreter;

bool CauseSearch::explain(Mismatch& mismatch) {
  if (called_no_more(mismatch)) return true;
  if (stop_.kind == Stop::Kind::different) return side_by_side(stop_.group, stop_.a, stop_.b, mismatch);
  if (stop_.kind == Stop::Kind::blocked && never_answered(view_, simulator_, stop_, mismatch)) return true;
  // Groups are made first: what is wrong there comes before what it leads to.
  auto incomplete = simulator_.incomplete();
  std::stable_sort(incomplete.begin(), incomplete.end(),
      [](const auto& a, const auto& b) { return (a.first == world_group) > (b.first == world_group); });
  for (const auto& [group, i] : incomplete) {
    const auto& there = simulator_.meeting(group, i);
    for (const int member : simulator_.members(group)) {
      if (there.contains(member)) continue;
      if (side_by_side(group, there.begin()->first, member, mismatch)) return true;
    }
  }
  if (stop_.kind != Stop::Kind::blocked) return false;
  if (explain_messages(view_, simulator_, stop_, mismatch)) return true;
  if (refused_) return false;  // … for a reason that is not known well enough
  // Every group fits by itself: ranks enter those of different groups in different orders.
  for (const auto& [group, i] : incomplete) {
    const auto& there = simulator_.meeting(group, i);
    const auto& [rank, at] = *there.begin();
    const CommEvent& comm = view_.trace(rank).comms[at];
    view_.place(mismatch, comm);
    mismatch.cause = Cause::order;
    mismatch.text = "Rank " + std::to_string(rank) + " waits forever in " + call_text(comm.name) + " here:";
    for (const int member : simulator_.members(group))
      if (!there.contains(member)) {
        mismatch.text += " " + view_.doing(member, stop_.at) + ", and reaches it only after that.";
        break;
      }
    return true;
  }
  return false;
}

bool CauseSearch::called_no_more(Mismatch& mismatch) const {
  for (int rank = 0; rank < view_.size(); ++rank) {
    const auto& comms = view_.trace(rank).comms;
    const std::size_t at = stop_.at[static_cast<std::size_t>(rank)];
    if (at >= comms.size() || comms[at].what != CommEvent::What::collective || comms[at].iterations.empty() ||
        comms[at].starts)
      continue;
    const CommEvent& comm = comms[at];
    const interpreter::LoopEvent* const loop = comm.iterations.back().loop;
    if (!comm.root || *comm.root == rank || *comm.root >= view_.size() ||
        comm.info->waits == values::Waiting::root || !loop || !loop->unrolled || !loop->stmt)
      continue;
    // The other sends in iterations of its own, and has sent for the last time.
    const auto root = static_cast<int>(*comm.root);
    const auto& sends = view_.trace(root).comms;
    const auto is_same = [&](const CommEvent& other) {
      return other.what == CommEvent::What::collective && same_kind(other, comm) &&
          other.group == comm.group && other.root == comm.root;
    };
    const auto from = sends.begin() + static_cast<std::ptrdiff_t>(stop_.at[static_cast<std::size_t>(root)]);
    if (view_.trace(root).raised || std::any_of(from, sends.end(), is_same) ||
        std::none_of(sends.begin(), from, is_same))
      continue;
    if (std::any_of(sends.begin(), from,
            [&](const CommEvent& other) { return is_same(other) && other.site == comm.site; }))
      continue;
    mismatch.cause = Cause::iterations;
    view_.place(mismatch, comm);
    mismatch.event = view_.of_main(comm);
    mismatch.text = "Rank " + std::to_string(rank) + " waits forever in " + this_one(mismatch.name) +
        " of its loop: rank " + std::to_string(root) +
        " has sent for the last time, and nothing that ends the loop: " + view_.doing(root, stop_.at) +
        ". Send a value that ends the loop from rank " + std::to_string(root) + ".";
    const auto last = std::find_if(std::make_reverse_iterator(from), sends.rend(), is_same);
    mismatch.related.push_back(
        {last->place, "rank " + std::to_string(root) + " sends for the last time here"});
    return true;
  }
  return false;
}

std::pair<Place, const CallSite*> CauseSearch::seen_from(const CommEvent& comm, const Decision& guard) {
  const CallSite *own = comm.own_calls, *calls = comm.calls;
  Place place = comm.place;
  while (own && own != guard.own_calls) {
    place = calls->place;
    own = own->outer;
    calls = calls->outer;
  }
  return {place, calls};
}

const Decision* CauseSearch::decided(const RankTrace& trace, const Decision& like) const {
  for (const Decision& decision : trace.decisions)
    if (decision.site == like.site && decision.nth == like.nth) return &decision;
  return nullptr;
}

bool CauseSearch::refuse() {
  refused_ = true;
  return false;
}

bool CauseSearch::is_subgroup(const std::vector<int>& ranks) const {
  if (ranks.size() < 2) return false;
  for (const CommEvent& comm : view_.trace(ranks[0]).comms)
    if (comm.makes_group && comm.made == ranks && comm.made.size() < view_.world.size()) return true;
  return false;
}

bool CauseSearch::numbers_fit() const {
  std::vector<std::vector<const CommEvent*>> made(view_.world.size());
  std::size_t most = 0;
  for (std::size_t rank = 0; rank < made.size(); ++rank) {
    for (const CommEvent& comm : view_.world[rank].comms)
      if (comm.makes_group) made[rank].push_back(&comm);
    most = std::max(most, made[rank].size());
  }
  for (std::size_t number = 0; number < most; ++number) {
    const std::vector<int>* group = nullptr;  // that somebody enters under this number
    for (std::size_t rank = 0; rank < made.size(); ++rank) {
      if (number >= made[rank].size()) continue;
      const auto& members = made[rank][number]->made;
      if (members.size() < 2 ||
          std::find(members.begin(), members.end(), static_cast<int>(rank)) == members.end())
        continue;
      if (group && *group != members) return false;
      group = &members;
    }
    if (!group) continue;
    for (const int member : *group)
      if (member >= static_cast<int>(made.size()) ||
          number >= made[static_cast<std::size_t>(member)].size() ||
          made[static_cast<std::size_t>(member)][number]->made != *group)
        return false;
  }
  return true;
}

bool CauseSearch::knows_group(
    int owner, int other, const Extra& extra, const std::vector<int>& members) const {
  if (!exit_of(owner, other, extra).leaving) return false;
  for (std::size_t i = 0; i < extra.comm; ++i) {
    const CommEvent& comm = view_.trace(owner).comms[i];
    if (comm.what == CommEvent::What::collective && comm.group != world_group && comm.members == members)
      return true;
  }
  return false;
}

std::string CauseSearch::enter_alone(const std::vector<int>& ranks) const {
  std::string text = ranks_do(ranks, view_.size(), "enters", "enter") + " ";
  if (!is_all_but_one(ranks)) return "Only " + text;
  text[0] = 'E';
  return text;
}

std::string CauseSearch::waits_forever(const std::vector<int>& ranks) const {
  return ranks.size() == 1 || is_all_but_one(ranks) ? " and waits forever: " : " and wait forever: ";
}

bool CauseSearch::is_all_but_one(const std::vector<int>& ranks) const {
  return ranks.size() > 1 && static_cast<int>(ranks.size()) == view_.size() - 1;
}

std::ptrdiff_t CauseSearch::times_entered(int rank, const CommEvent& call) const {
  return std::ranges::count(view_.trace(rank).comms, call.site, &CommEvent::site);
}

CauseSearch::Exit CauseSearch::exit_of(int owner, int other, const Extra& extra) const {
  Exit found;
  for (const PathExit& exit : view_.trace(other).exits) {
    if (exit.at > extra.before || exit.caught) continue;
    // Who returns leaves out what its own call goes on to, and what is called from there.
    if (exit.kind == ExitKind::return_ && !is_within(view_.trace(owner).comms[extra.comm].calls, exit.calls))
      continue;
    for (auto turn = exit.turns.rbegin(); turn != exit.turns.rend(); ++turn) {
      const Decision& theirs = view_.trace(other).decisions[*turn];
      const Decision* mine = decided(view_.trace(owner), theirs);
      if (mine && mine->yes != theirs.yes) {
        const bool by_rank = view_.parted_by_rank(theirs, *mine);
        if (theirs.unseen && !by_rank) return {};
        found = {&exit, theirs.place, theirs.local && !by_rank};
        break;
      }
    }
  }
  // What fails without any choice fails on this rank alone if the other goes on.
  const auto& exits = view_.trace(other).exits;
  if (!found.leaving && view_.trace(other).raised && !exits.empty() && exits.back().fails &&
      !exits.back().caught && exits.back().at <= extra.before)
    found.leaving = &exits.back();
  return found;
}

bool CauseSearch::is_within(const CallSite* calls, const CallSite* outer) {
  const auto depth = [](const CallSite* site) {
    std::size_t count = 0;
    for (; site; site = site->outer) ++count;
    return count;
  };
  const std::size_t wanted = depth(outer);
  std::size_t own = depth(calls);
  if (own < wanted) return false;
  for (; own > wanted; --own) calls = calls->outer;
  for (; calls && calls != outer; calls = calls->outer, outer = outer->outer)
    if (!(calls->place == outer->place)) return false;
  return true;
}

bool CauseSearch::equal_iterations(const std::vector<Iteration>& a, const std::vector<Iteration>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Iteration& one, const Iteration& other) {
    return one.site == other.site && one.nth == other.nth && one.iteration == other.iteration;
  });
}

bool CauseSearch::tell_exit(const PathExit& exit, int owner, const CommEvent& comm, Mismatch& mismatch) {
  view_.place(mismatch, comm);
  mismatch.key = exit.site;
  if (!exit.fails && exit.kind != ExitKind::raise) mismatch.make<Parting>().waits_at = comm.site;
  mismatch.place = exit.place;
  mismatch.calls = exit.calls;
  std::vector<int> leaving;
  bool all = true;  // … sooner or later
  for (int rank = 0; rank < view_.size(); ++rank) {
    const auto& exits = view_.trace(rank).exits;
    all = all &&
        std::any_of(exits.begin(), exits.end(), [&](const PathExit& each) { return each.site == exit.site; });
    if (std::any_of(exits.begin(), exits.end(), [&](const PathExit& each) {
          return each.site == exit.site && equal_iterations(each.iterations, exit.iterations);
        }))
      leaving.push_back(rank);
  }
  if (all && exit.kind == ExitKind::break_ && !exit.iterations.empty() && exit.iterations.back().loop &&
      exit.iterations.back().loop->unrolled) {
    mismatch.cause = Cause::iterations;
  }
  // What the others wait in is entered by those that are there.
  std::vector<int> waiting;
  for (const int rank : comm.members)
    if (std::find(leaving.begin(), leaving.end(), rank) == leaving.end()) waiting.push_back(rank);
  if (waiting.empty()) waiting.push_back(owner);
  struct Verb {
    const char *singular, *plural;
  };
  const int iteration = exit.iterations.empty() ? 0 : exit.iterations.back().iteration + 1;
  const Verb verb = exit.kind == ExitKind::return_ ? Verb{"returns", "return"}
      : exit.kind == ExitKind::break_              ? Verb{"leaves the loop", "leave the loop"}
      : exit.kind == ExitKind::continue_
      ? Verb{"continues with the next iteration", "continue with the next iteration"}
      : Verb{"ends", "end"};
  mismatch.ranks = leaving;
  mismatch.event = view_.of_main(comm);
  const std::string leave = ranks_do(leaving, view_.size(), verb.singular, verb.plural),
                    wait = ranks_do(waiting, view_.size(), "waits", "wait");
  mismatch.text = exit.fails ? leave + " in an exception here, and " + wait + " in " +
          call_text(mismatch.name) + view_.at_line(comm.place) +
          " until the launcher ends the job. Share the failure with all ranks, and raise on all of them."
                             : leave + " here" +
          (all && iteration > 0 ? " in iteration " + std::to_string(iteration) : std::string()) + ", and " +
          wait + " in " + call_text(mismatch.name) + view_.at_line(comm.place) + " forever. Make all ranks " +
          verb.plural + " here, or none.";
  mismatch.text = capitalized(mismatch.text);
  if (const auto* parting = mismatch.as<Parting>(); parting && parting->condition)
    mismatch.related.push_back({parting->condition, "by this condition"});
  mismatch.related.push_back({comm.place, wait + " here"});
  return true;
}

bool CauseSearch::tell_local(Place condition, Place where, const CallSite* calls, int owner, int other,
    const CommEvent& comm, Mismatch& mismatch) {
  view_.place(mismatch, comm);
  mismatch.place = where;
  mismatch.calls = calls;
  mismatch.make<Parting>().condition = condition;
  mismatch.text = "Each rank decides this from its own data: where rank " + std::to_string(owner) +
      " enters " + call_text(mismatch.name) +
      (where == comm.place ? std::string() : view_.at_line(comm.place)) + " and rank " +
      std::to_string(other) +
      " does not, it waits forever. Make the ranks agree first: `all_reduce` the value that decides.";
  if (!(condition == where))
    mismatch.related.push_back({condition, "this condition may differ among the ranks"});
  if (!(comm.place == where))
    mismatch.related.push_back({comm.place, call_text(mismatch.name) + " is entered here"});
  return true;
}

std::optional<LoopRun> CauseSearch::shorter_loop(const CommEvent& comm, int other) const {
  for (const Iteration& iteration : comm.iterations) {
    for (const LoopRun& loop : view_.trace(other).loops)
      if (loop.site == iteration.site && loop.nth == iteration.nth &&
          loop.iterations <= iteration.iteration && !loop.silent)
        return loop;
    // Loops of no iterations leave nothing after.
    if (iteration.place &&
        std::none_of(view_.trace(other).loops.begin(), view_.trace(other).loops.end(),
            [&](const LoopRun& loop) { return loop.site == iteration.site && loop.nth == iteration.nth; })) {
      return LoopRun{
          iteration.site, iteration.nth, 0, iteration.place, comm.calls, false, {}, false, nullptr};
    }
  }
  return std::nullopt;
}

bool CauseSearch::side_by_side(const std::string& group, int a, int b, Mismatch& mismatch) {
  const auto left = extras(view_.trace(a), view_.trace(b), group);
  return !left.empty() && Pair(*this, group, a, b, left, mismatch).explain();
}

bool explain(
    const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch) {
  return CauseSearch(view, simulator, stop).explain(mismatch);
}

}  // namespace stepzero::rules
