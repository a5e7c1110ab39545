// Two ranks of which one makes a call that the other lacks: by what they part, and how that is told.
#include "rules/ranks/cause_search.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules {

using namespace interpreter;

const Extra& CauseSearch::Pair::first_of(
    const CauseSearch& search, int a, int b, const std::vector<Extra>& left) {
  // A group that is missing comes before what it leads to.
  const auto missing_group = std::find_if(left.begin(), left.end(), [&](const Extra& each) {
    return search.view_.trace(each.of_first ? a : b).comms[each.comm].makes_group;
  });
  // So does what an exception leads to, of what the two have alone at the same point.
  const auto other_side = std::find_if(
      left.begin(), left.end(), [&](const Extra& each) { return each.of_first != left.front().of_first; });
  const auto in_handler = [&](const Extra& each) {
    const RankTrace& own = search.view_.trace(each.of_first ? a : b);
    const auto& turns = own.comms[each.comm].turns;
    return std::any_of(turns.begin(), turns.end(),
        [&](std::size_t turn) { return own.decisions[turn].attempt && !own.decisions[turn].yes; });
  };
  return missing_group != left.end()                                                     ? *missing_group
      : other_side != left.end() && in_handler(*other_side) && !in_handler(left.front()) ? *other_side
                                                                                         : left.front();
}

bool CauseSearch::Pair::explain() {
  mismatch.ranks = entering = ranks_that_enter();
  next = next_of(other, extra.before);
  find_guard();
  if (guard && !by_rank && (guard->local || guard->unseen)) return by_own_choice();
  // Who ends in an exception does not come to it for that reason, whatever it decided before.
  if (guard && !guard->attempt && search.view_.trace(other).raised) return search.refuse();
  // Where the run for all ranks knows the answer, what a rank's own run made of it does not count.
  if (guard && guard->branch && !guard->open && !search.view_.of_main(guard->place)) return search.refuse();
  swapped = same_elsewhere();
  if (comm.makes_group)
    mismatch.cause = Cause::making_groups;
  else if (swapped)
    mismatch.cause = Cause::order;
  else if (is_of_smaller_group())
    mismatch.cause = Cause::other_group;
  else if (guard && guard->attempt)
    return by_attempt();
  else if (guard)
    mismatch.cause = Cause::guard;
  else if (const Exit way = search.exit_of(owner, other, extra); way.leaving)
    return by_exit(way);
  else if (const auto loop = search.shorter_loop(comm, other))
    return by_iterations(*loop);
  else if (may_be_unknown())
    return search.refuse();
  else
    mismatch.cause = Cause::guard;
  return word();
}

std::vector<int> CauseSearch::Pair::ranks_that_enter() const {
  std::vector<int> ranks;
  for (const int rank : search.simulator_.members(group))
    if (std::ranges::any_of(search.view_.trace(rank).comms, [&](const CommEvent& each) {
          return each.site == comm.site && equal_iterations(each.iterations, comm.iterations);
        }))
      ranks.push_back(rank);
  return ranks;
}

// The next collective of the group.
const CommEvent* CauseSearch::Pair::next_of(int rank, std::size_t from) const {
  const auto& comms = search.view_.trace(rank).comms;
  for (std::size_t i = from; i < comms.size(); ++i)
    if (comms[i].what == CommEvent::What::collective && comms[i].group == group) return &comms[i];
  return nullptr;
}

// Is there a branch around it of which the other took the other side?
void CauseSearch::Pair::find_guard() {
  for (const std::size_t turn : comm.turns) {
    const Decision& mine = search.view_.trace(owner).decisions[turn];
    const Decision* theirs = search.decided(search.view_.trace(other), mine);
    if (!theirs) return;
    // What the body of a try did before it failed did not hang on its failing.
    if (mine.attempt && !mine.yes && extra.comm < mine.handled_from) continue;
    if (theirs->yes == mine.yes) continue;
    guard = &mine;
    by_rank = search.view_.parted_by_rank(mine, *theirs);
    return;
  }
}

// The same call elsewhere among what the other has alone: then it is the order that differs.
const Extra* CauseSearch::Pair::same_elsewhere() const {
  for (const Extra& each : left) {
    if (each.of_first == extra.of_first) continue;
    if (same_kind(search.view_.trace(other).comms[each.comm], comm) ||
        (guard && each.before <= extra.comm + 1))
      return &each;
  }
  return nullptr;
}

bool CauseSearch::Pair::by_own_choice() {
  if (!guard->local || guard->unseen || !search.view_.of_own_data(guard->place)) return search.refuse();
  mismatch.cause = Cause::local;
  const auto [where, calls] = CauseSearch::seen_from(comm, *guard);
  mismatch.make<Parting>().whole_job = group == world_group;
  return search.tell_local(guard->place, where, calls, owner, other, comm, mismatch);
}

bool CauseSearch::Pair::is_of_smaller_group() const {
  const PathExit* left_by = search.exit_of(owner, other, extra).leaving;
  return group == world_group && search.is_subgroup(entering) && !(left_by && left_by->fails) &&
      !search.knows_group(owner, other, extra, entering);
}

bool CauseSearch::Pair::by_attempt() {
  const bool surprise = guard->surprise || search.decided(search.view_.trace(other), *guard)->surprise;
  // Who raises again means to end the job.
  if (surprise && guard->yes && search.view_.trace(other).raised) return search.refuse();
  // Of a try around calls whose failure nothing comes after the handler means to end the job, too.
  const auto& failing = search.view_.trace(guard->yes ? other : owner);
  const auto tried = static_cast<std::size_t>(search.decided(failing, *guard) - failing.decisions.data());
  if (surprise && guard->yes && failing.comms.size() <= failing.decisions[tried].handled_from &&
      comm.own_calls != guard->own_calls)
    return search.refuse();
  // What a rank raises by its own data is as much of a surprise.
  bool by_own_data = false;
  for (const PathExit& exit : failing.exits) {
    const auto inside = exit.caught ? std::find(exit.turns.begin(), exit.turns.end(), tried)
                                    : exit.turns.end();
    for (auto turn = inside; turn != exit.turns.end(); ++turn) {
      const Decision& by = failing.decisions[*turn];
      if (!by.open || by.attempt) continue;
      const auto* branch = by.branch ? search.view_.of_main(by.place) : nullptr;
      // Of what is dealt out the first ranks have most.
      const bool first = (guard->yes ? owner : other) < (guard->yes ? other : owner);
      const bool of_parts = first && branch && !branch->stmt &&
          search.view_.record.symbols.sharing(branch->condition) == symbolic::Sharing::divergent;
      if (!by.local || by.unseen || !(of_parts || search.view_.of_own_data(by.place))) return search.refuse();
      by_own_data = true;
    }
  }
  // Who goes on to a loop of such calls meets in it those that are still in their try: when it ends, what
  // they exchange decides.
  if (guard->yes && next && same_kind(*next, comm) && next->iterations.size() > comm.iterations.size())
    return search.refuse();
  mismatch.cause = Cause::handler;
  mismatch.by_surprise = surprise || by_own_data;
  search.view_.place(mismatch, comm);
  std::tie(mismatch.place, mismatch.calls) = CauseSearch::seen_from(comm, *guard);
  mismatch.text = guard->yes ? "Rank " + std::to_string(other) + " skips " + this_one(mismatch.name) +
          " when its `try` raises, and rank " + std::to_string(owner) + " waits in it forever."
                             : "Rank " + std::to_string(owner) + " enters " + this_one(mismatch.name) +
          " only because its `try` raised: that of rank " + std::to_string(other) + " did not, so it " +
          (next ? "goes on to " + call_text(next->name) + search.view_.at_line(next->place)
                : std::string("never enters it")) +
          ".";
  mismatch.text += " Let all ranks enter it after the `try`, with a flag that says which rank failed.";
  mismatch.related.push_back({guard->place, "the try"});
  return true;
}

bool CauseSearch::Pair::by_exit(const Exit& way) {
  const auto& [exit, condition, own_condition] = way;
  mismatch.detail = Parting{condition, exit->kind, static_cast<int>(left.size()), group == world_group};
  if (exit->fails) mismatch.severity = Severity::information;
  if (own_condition) {
    if (!search.view_.of_own_data(condition)) return search.refuse();
    mismatch.cause = Cause::local;
    return search.tell_local(condition, exit->place, exit->calls, owner, other, comm, mismatch);
  }
  const auto& decisions = search.view_.trace(other).decisions;
  const bool handling = std::any_of(exit->turns.begin(), exit->turns.end(),
      [&](std::size_t turn) { return decisions[turn].attempt && !decisions[turn].yes; });
  for (const std::size_t turn : exit->turns)
    mismatch.by_surprise = mismatch.by_surprise || (decisions[turn].surprise && !decisions[turn].yes);
  if (mismatch.by_surprise && exit->kind == ExitKind::return_ &&
      search.view_.trace(other).comms.size() <= exit->at && comm.calls != exit->calls)
    return search.refuse();
  if (exit->kind == ExitKind::raise) {
    // Who raises again means to end the job. What raises by what is not known here may not raise at all.
    if (handling) return search.refuse();
    // What says that something is wrong says it on every rank that comes to look: it ends the job.
    if (exit->fails &&
        std::ranges::any_of(exit->turns, [&](std::size_t turn) { return decisions[turn].open; }))
      return search.refuse();
    for (const std::size_t turn : exit->turns) mismatch.certain = mismatch.certain && !decisions[turn].open;
  }
  mismatch.cause = handling ? Cause::handler : Cause::exit;
  return search.tell_exit(*exit, owner, comm, mismatch);
}

bool CauseSearch::Pair::by_iterations(const LoopRun& loop) {
  if (loop.stands_for_many) return search.refuse();  // its one iteration says nothing of how many there are
  mismatch.cause = Cause::iterations;
  search.view_.place(mismatch, comm);
  mismatch.place = loop.place;
  mismatch.calls = loop.calls;
  mismatch.text = "Rank " + std::to_string(owner) + " runs more iterations of this loop than rank " +
      std::to_string(other) + ", which runs " + std::to_string(loop.iterations) + ", and waits forever in " +
      call_text(mismatch.name) + search.view_.at_line(comm.place) + ": " +
      search.view_.doing(other, search.stop_.at) + ". Give every rank the same number of iterations.";
  mismatch.event = search.view_.of_main(comm);
  mismatch.related.push_back({comm.place, call_text(mismatch.name) + " is entered here"});
  return true;
}

// Nothing that was seen parts them: then it may be what is not known.
bool CauseSearch::Pair::may_be_unknown() const {
  // What all ranks decide alike parts nobody, as long as no loop of many iterations follows them.
  for (const int rank : {owner, other}) {
    const RankTrace& own = search.view_.trace(rank);
    for (const Decision& decision : own.decisions) {
      if (!decision.open) continue;
      const Decision* same = search.decided(search.view_.trace(rank == owner ? other : owner), decision);
      if (decision.local || decision.unseen || decision.surprise || (same && same->yes != decision.yes))
        return true;
    }
    const bool any_open = std::ranges::any_of(own.decisions, &Decision::open);
    const bool after_many = std::ranges::any_of(own.loops, [&](const LoopRun& each) {
      return each.stands_for_many && !each.silent &&
          std::ranges::none_of(comm.iterations, [&](const Iteration& iteration) {
            return iteration.site == each.site && iteration.nth == each.nth;
          });
    });
    if (any_open && after_many) return true;
  }
  return false;
}

// The mismatch is told where the guard stands, and not in what is called under it.
void CauseSearch::Pair::stand_at_guard() {
  std::tie(mismatch.place, mismatch.calls) = CauseSearch::seen_from(comm, *guard);
  auto& guarded = mismatch.make<GuardedEntry>();
  if (guard->branch) guarded.guard = search.view_.guard_at(*guard, mismatch.place);
  guarded.side = guard->yes;
}

bool CauseSearch::Pair::word() {
  search.view_.place(mismatch, comm);
  mismatch.event = search.view_.of_main(comm);
  switch (mismatch.cause) {
  case Cause::guard: word_guard(); break;
  case Cause::order: word_order(); break;
  case Cause::making_groups: word_making_groups(); break;
  case Cause::other_group: word_other_group(); break;
  default: break;
  }
  return true;
}

void CauseSearch::Pair::word_guard() {
  if (guard) stand_at_guard();
  if (next) mismatch.make<GuardedEntry>().next_of_others = search.view_.of_main(*next);
  const auto mine = search.times_entered(owner, comm), theirs = search.times_entered(other, comm);
  const bool fewer = (next && next->place == comm.place) || (!next && theirs > 0);
  std::string where;
  if (next && next->place == comm.place)
    where = other_words() + " enters it one time fewer";
  else if (fewer)
    where = other_words() + " enters it " + (mine == theirs + 1 ? "one time fewer" : "fewer times");
  else if (next && next->name == comm.name)
    where = other_words() + " goes on to another " + call_text(without_article(comm.name)) +
        search.view_.at_line(next->place);
  else
    where = where_other_goes();
  mismatch.text = search.enter_alone(entering) + call_text(mismatch.name) + search.waits_forever(entering) +
      where + ". Call it " + (fewer ? "equally often " : "") + "on all ranks" +
      (comm.members.size() < static_cast<std::size_t>(search.view_.size()) ? " of its group." : ".");
}

// Where the paths to what comes first and to what comes next part, unless that is where the guard stands.
void CauseSearch::Pair::go_out_to_where_paths_part() {
  const CommEvent* following = next_of(owner, extra.comm + 1);
  if (!following) return;
  std::vector<const CallSite*> around;
  for (const CallSite* site = following->own_calls; site; site = site->outer) around.push_back(site);
  const CallSite *own = comm.own_calls, *calls = comm.calls;
  while (own && (!guard || own != guard->own_calls) && own->outer &&
      (!guard || own->outer != guard->own_calls) && std::ranges::find(around, own) == around.end()) {
    mismatch.place = calls->place;
    own = own->outer;
    calls = calls->outer;
  }
  mismatch.calls = calls;
}

void CauseSearch::Pair::word_order() {
  go_out_to_where_paths_part();
  const CommEvent* theirs = swapped ? &search.view_.trace(other).comms[swapped->comm] : next;
  mismatch.text = "The ranks enter collectives in different orders: " + owner_words() + " enters " +
      call_text(mismatch.name) + " here" +
      (next ? ", where " + other_words() + " enters " + call_text(next->name) +
                  search.view_.at_line(next->place)
            : std::string()) +
      ". They wait for each other forever, or exchange garbage. Enter them in the same order on all ranks.";
  if (theirs && theirs->place)
    mismatch.related.push_back(
        {theirs->place, other_words() + " enters " + call_text(theirs->name) + " here"});
}

void CauseSearch::Pair::word_making_groups() {
  if (guard) stand_at_guard();
  mismatch.text = owner_words() + " calls " + call_text(mismatch.name) + " here, and " + other_words() +
      (next ? " goes on to " + call_text(next->name) + search.view_.at_line(next->place) : " never does") +
      ": all ranks, members or not, must create process groups together and in the same order. ";
  mismatch.text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(mismatch.text[0])));
  if (search.numbers_fit()) {
    mismatch.severity = Severity::warning;
    mismatch.text +=
        "PyTorch before 2.1 waits here forever; later ones give the next groups of these ranks different numbers. ";
  }
  mismatch.text += "Create every group on every rank.";
}

void CauseSearch::Pair::word_other_group() {
  mismatch.text = "This " + call_text(mismatch.name) + " runs on the group of all ranks, and only " +
      rank_words(entering, mismatch.world) + (entering.size() == 1 ? " enters" : " enter") +
      " it, the members of a smaller group: " + where_other_goes() + ". Pass that group.";
}

}  // namespace stepzero::rules
