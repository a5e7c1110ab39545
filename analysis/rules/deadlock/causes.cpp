#include "rules/deadlock/causes.hpp"

#include "rules/deadlock/alignment.hpp"
#include "rules/deadlock/point_to_point.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::rules {

using namespace interpreter;

namespace {

// "this broadcast", "this backward of a DDP module"
std::string this_one(std::string_view name) { return "this " + call_text(without_article(name)); }

class Search {
public:
  Search(const JobView& story, const CollectiveSimulator& player, const Stop& stop)
      : story_(story), player_(player), stop_(stop) {}

  bool explain(Mismatch& mismatch) {
    if (called_no_more(mismatch)) return true;
    if (stop_.kind == Stop::Kind::different) return side_by_side(stop_.group, stop_.a, stop_.b, mismatch);
    if (stop_.kind == Stop::Kind::blocked && never_answered(story_, player_, stop_, mismatch)) return true;
    // Groups are made first: what is wrong there comes before what it leads to.
    auto incomplete = player_.incomplete();
    std::stable_sort(incomplete.begin(), incomplete.end(),
        [](const auto& a, const auto& b) { return (a.first == "world") > (b.first == "world"); });
    for (const auto& [group, i] : incomplete) {
      const auto& there = player_.meeting(group, i);
      for (const int member : player_.members(group)) {
        if (there.contains(member)) continue;
        if (side_by_side(group, there.begin()->first, member, mismatch)) return true;
      }
    }
    if (stop_.kind != Stop::Kind::blocked) return false;
    if (explain_messages(story_, player_, stop_, mismatch)) return true;
    if (refused_) return false;  // … for a reason that is not known well enough
    // Every group fits by itself: ranks enter those of different groups in different orders.
    for (const auto& [group, i] : incomplete) {
      const auto& there = player_.meeting(group, i);
      const auto& [rank, at] = *there.begin();
      const CommEvent& act = story_.trace(rank).acts[at];
      story_.place(mismatch, act);
      mismatch.cause = Cause::order;
      mismatch.text = "Rank " + std::to_string(rank) + " waits forever in " + call_text(act.name) + " here:";
      for (const int member : player_.members(group))
        if (!there.contains(member)) {
          mismatch.text += " " + story_.doing(member, stop_.at) + ", and reaches it only after that.";
          break;
        }
      return true;
    }
    return false;
  }

private:
  // A rank waits in a loop for what another sends to all, which that one never does again.
  bool called_no_more(Mismatch& mismatch) const {
    for (int rank = 0; rank < story_.size(); ++rank) {
      const auto& acts = story_.trace(rank).acts;
      const std::size_t at = stop_.at[static_cast<std::size_t>(rank)];
      if (at >= acts.size() || acts[at].what != CommEvent::What::collective || acts[at].rounds.empty() ||
          acts[at].starts)
        continue;
      const CommEvent& act = acts[at];
      const interpreter::LoopEvent* const loop = act.rounds.back().loop;
      if (!act.root || *act.root == rank || *act.root >= story_.size() ||
          act.info->waits == values::Waiting::root || !loop || !loop->unrolled || !loop->stmt)
        continue;
      // The other sends in rounds of its own, and has sent for the last time.
      const auto root = static_cast<int>(*act.root);
      const auto& sends = story_.trace(root).acts;
      const auto is_same = [&](const CommEvent& other) {
        return other.what == CommEvent::What::collective && same_kind(other, act) &&
            other.group == act.group && other.root == act.root;
      };
      const auto from = sends.begin() + static_cast<std::ptrdiff_t>(stop_.at[static_cast<std::size_t>(root)]);
      if (story_.trace(root).raised || std::any_of(from, sends.end(), is_same) ||
          std::none_of(sends.begin(), from, is_same))
        continue;
      if (std::any_of(sends.begin(), from,
              [&](const CommEvent& other) { return is_same(other) && other.site == act.site; }))
        continue;
      mismatch.cause = Cause::rounds;
      story_.place(mismatch, act);
      mismatch.event = story_.of_main(act);
      mismatch.text = "Rank " + std::to_string(rank) + " waits forever in " + this_one(mismatch.name) +
          " of its loop: rank " + std::to_string(root) +
          " has sent for the last time, and nothing that ends the loop. Now " + story_.doing(root, stop_.at) +
          ". Let rank " + std::to_string(root) + " send what ends it.";
      const auto last = std::find_if(std::make_reverse_iterator(from), sends.rend(), is_same);
      mismatch.related.push_back(
          {last->place, "rank " + std::to_string(root) + " sends for the last time here"});
      return true;
    }
    return false;
  }

  // A way out, and the condition by which ranks take it.
  struct Exit {
    const PathExit* leaving = nullptr;
    Place condition;
    bool own_condition = false;  // each rank decides it for itself
  };

  // The call that stands in the frame of the guard.
  static std::pair<Place, const CallSite*> seen_from(const CommEvent& act, const Decision& guard) {
    const CallSite *own = act.own_calls, *calls = act.calls;
    Place place = act.place;
    while (own && own != guard.own_calls) {
      place = calls->place;
      own = own->outer;
      calls = calls->outer;
    }
    return {place, calls};
  }

  const Decision* decided(const RankTrace& trace, const Decision& like) const {
    for (const Decision& decision : trace.decisions)
      if (decision.site == like.site && decision.nth == like.nth) return &decision;
    return nullptr;
  }

  bool refuse() {
    refused_ = true;
    return false;
  }

  // Two ranks of a group, of which one waits for the other: what has one of them that the other has not?
  class Pair;
  bool side_by_side(const std::string& group, int a, int b, Mismatch& mismatch);

  // Are these the members of a group that the program has made, and more than one?
  bool is_subgroup(const std::vector<int>& ranks) const {
    if (ranks.size() < 2) return false;
    for (const CommEvent& act : story_.trace(ranks[0]).acts)
      if (act.makes_group && act.made == ranks && act.made.size() < story_.world.size()) return true;
    return false;
  }

  // Since PyTorch 2.1 the members alone wait for each other, and a group goes by the number of groups that
  // its rank made before: do all members make each group, and is its number that of no other? Members that
  // are not known may be those that make it.
  bool numbers_fit() const {
    std::vector<std::vector<const CommEvent*>> made(story_.world.size());
    std::size_t most = 0;
    for (std::size_t rank = 0; rank < made.size(); ++rank) {
      for (const CommEvent& act : story_.world[rank].acts)
        if (act.makes_group) made[rank].push_back(&act);
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

  // Have the members used their group between the way out of the others and this call? Then they mean all
  // ranks here.
  bool knows_group(int owner, int other, const Extra& extra, const std::vector<int>& members) const {
    if (!exit_of(owner, other, extra).leaving) return false;
    for (std::size_t i = 0; i < extra.act; ++i) {
      const CommEvent& act = story_.trace(owner).acts[i];
      if (act.what == CommEvent::What::collective && act.group != "world" && act.members == members)
        return true;
    }
    return false;
  }

  // "Only rank 0 enters ", "Every rank but 0 enters ", "Only ranks 1 and 2 enter "
  std::string enter_alone(const std::vector<int>& ranks) const {
    std::string text = ranks_do(ranks, story_.size(), "enters", "enter") + " ";
    if (!is_all_but_one(ranks)) return "Only " + text;
    text[0] = 'E';
    return text;
  }
  std::string waits_forever(const std::vector<int>& ranks) const {
    return ranks.size() == 1 || is_all_but_one(ranks) ? " and waits forever: " : " and wait forever: ";
  }
  bool is_all_but_one(const std::vector<int>& ranks) const {
    return ranks.size() > 1 && static_cast<int>(ranks.size()) == story_.size() - 1;
  }

  // How often the rank makes this call, in whatever round.
  std::ptrdiff_t times_entered(int rank, const CommEvent& call) const {
    return std::ranges::count(story_.trace(rank).acts, call.site, &CommEvent::site);
  }

  // The way out by which `other` missed what `owner` did next.
  Exit exit_of(int owner, int other, const Extra& extra) const {
    Exit found;
    for (const PathExit& exit : story_.trace(other).exits) {
      if (exit.at > extra.before || exit.caught) continue;
      // Who returns leaves out what its own call goes on to, and what is called from there.
      if (exit.kind == ExitKind::return_ && !is_within(story_.trace(owner).acts[extra.act].calls, exit.calls))
        continue;
      for (auto turn = exit.turns.rbegin(); turn != exit.turns.rend(); ++turn) {
        const Decision& theirs = story_.trace(other).decisions[*turn];
        const Decision* mine = decided(story_.trace(owner), theirs);
        if (mine && mine->yes != theirs.yes) {
          const bool by_rank = story_.parted_by_rank(theirs, *mine);
          if (theirs.unseen && !by_rank) return {};
          found = {&exit, theirs.place, theirs.local && !by_rank};
          break;
        }
      }
    }
    // What fails without any choice fails on this rank alone if the other goes on.
    const auto& exits = story_.trace(other).exits;
    if (!found.leaving && story_.trace(other).raised && !exits.empty() && exits.back().fails &&
        !exits.back().caught && exits.back().at <= extra.before)
      found.leaving = &exits.back();
    return found;
  }

  // Do the calls lead through the other ones?
  static bool is_within(const CallSite* calls, const CallSite* outer) {
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

  static bool equal_iterations(const std::vector<Round>& a, const std::vector<Round>& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Round& one, const Round& other) {
      return one.site == other.site && one.nth == other.nth && one.round == other.round;
    });
  }

  bool tell_exit(const PathExit& exit, int owner, const CommEvent& act, Mismatch& mismatch) {
    story_.place(mismatch, act);
    mismatch.key = exit.site;
    if (!exit.fails && exit.kind != ExitKind::raise) mismatch.make<Parting>().waits_at = act.site;
    mismatch.place = exit.place;
    mismatch.calls = exit.calls;
    std::vector<int> leaving;
    bool all = true;  // … sooner or later
    for (int rank = 0; rank < story_.size(); ++rank) {
      const auto& exits = story_.trace(rank).exits;
      all = all && std::any_of(exits.begin(), exits.end(), [&](const PathExit& each) {
        return each.site == exit.site;
      });
      if (std::any_of(exits.begin(), exits.end(), [&](const PathExit& each) {
            return each.site == exit.site && equal_iterations(each.rounds, exit.rounds);
          }))
        leaving.push_back(rank);
    }
    if (all && exit.kind == ExitKind::break_ && !exit.rounds.empty() && exit.rounds.back().loop &&
        exit.rounds.back().loop->unrolled) {
      mismatch.cause = Cause::rounds;
    }
    // What the others wait in is entered by those that are there.
    std::vector<int> waiting;
    for (const int rank : act.members)
      if (std::find(leaving.begin(), leaving.end(), rank) == leaving.end()) waiting.push_back(rank);
    if (waiting.empty()) waiting.push_back(owner);
    struct Verb {
      const char *singular, *plural;
    };
    const int round = exit.rounds.empty() ? 0 : exit.rounds.back().round + 1;
    const Verb verb = exit.kind == ExitKind::return_ ? Verb{"returns", "return"}
        : exit.kind == ExitKind::break_              ? Verb{"leaves the loop", "leave the loop"}
        : exit.kind == ExitKind::continue_
        ? Verb{"continues with the next iteration", "continue with the next iteration"}
        : Verb{"ends", "end"};
    mismatch.ranks = leaving;
    mismatch.event = story_.of_main(act);
    const std::string leave = ranks_do(leaving, story_.size(), verb.singular, verb.plural),
                      wait = ranks_do(waiting, story_.size(), "waits", "wait");
    mismatch.text = exit.fails
        ? leave + " in an exception here, and " + wait + " in " + call_text(mismatch.name) +
            story_.at_line(act.place) +
            " until the launcher ends the job. Share the failure with all ranks, and raise on all of them."
        : leave + " here" + (all && round > 0 ? " in iteration " + std::to_string(round) : std::string()) +
            ", and " + wait + " in " + call_text(mismatch.name) + story_.at_line(act.place) + " forever.";
    mismatch.text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(mismatch.text[0])));
    if (const auto* parting = mismatch.as<Parting>(); parting && parting->condition)
      mismatch.related.push_back({parting->condition, "by this condition"});
    mismatch.related.push_back({act.place, wait + " here"});
    return true;
  }

  // Ranks that decide each by itself, and may decide differently.
  bool tell_local(Place condition, Place where, const CallSite* calls, int owner, int other,
      const CommEvent& act, Mismatch& mismatch) {
    story_.place(mismatch, act);
    mismatch.place = where;
    mismatch.calls = calls;
    mismatch.make<Parting>().condition = condition;
    mismatch.text = "Each rank decides this from its own data: where rank " + std::to_string(owner) +
        " enters " + call_text(mismatch.name) +
        (where == act.place ? std::string() : story_.at_line(act.place)) + " and rank " +
        std::to_string(other) +
        " does not, it waits forever. Make the ranks agree first: `all_reduce` what decides.";
    if (!(condition == where))
      mismatch.related.push_back({condition, "this condition may differ among the ranks"});
    if (!(act.place == where))
      mismatch.related.push_back({act.place, call_text(mismatch.name) + " is entered here"});
    return true;
  }

  std::optional<LoopRun> shorter_loop(const CommEvent& act, int other) const {
    for (const Round& round : act.rounds) {
      for (const LoopRun& loop : story_.trace(other).loops)
        if (loop.site == round.site && loop.nth == round.nth && loop.rounds <= round.round && !loop.silent)
          return loop;
      // Loops of no rounds leave nothing behind.
      if (round.place &&
          std::none_of(story_.trace(other).loops.begin(), story_.trace(other).loops.end(),
              [&](const LoopRun& loop) { return loop.site == round.site && loop.nth == round.nth; })) {
        return LoopRun{round.site, round.nth, 0, round.place, act.calls, false, {}, false, nullptr};
      }
    }
    return std::nullopt;
  }

  const JobView& story_;
  const CollectiveSimulator& player_;
  const Stop& stop_;
  bool refused_ = false;  // something parts the ranks, and it is not known well enough
};

// One call of one of the two that the other lacks: by which choice, way out, exception or round they part,
// and how that is told.
class Search::Pair {
public:
  Pair(Search& whole, const std::string& name, int a, int b, const std::vector<Extra>& differences,
      Mismatch& into)
      : search(whole), group(name), left(differences), mismatch(into),
        extra(first_of(whole, a, b, differences)), owner(extra.of_first ? a : b),
        other(extra.of_first ? b : a), act(whole.story_.trace(owner).acts[extra.act]) {}
  bool explain();

private:
  static const Extra& first_of(const Search& search, int a, int b, const std::vector<Extra>& left);
  std::vector<int> ranks_that_enter() const;
  const CommEvent* next_of(int rank, std::size_t from) const;
  void find_guard();
  const Extra* same_elsewhere() const;
  bool by_own_choice();
  bool is_of_smaller_group() const;
  bool by_attempt();
  bool by_exit(const Exit& way);
  bool by_rounds(const LoopRun& loop);
  bool may_be_unknown() const;
  void go_out_to_where_paths_part();
  void stand_at_guard();
  std::string where_other_goes() const {
    return next ? other_words() + " goes on to " + call_text(next->name) + search.story_.at_line(next->place)
                : search.story_.doing(other, search.stop_.at);
  }
  bool word();
  void word_guard();
  void word_order();
  void word_making_groups();
  void word_other_group();
  std::string owner_words() const { return "rank " + std::to_string(owner); }
  std::string other_words() const { return "rank " + std::to_string(other); }

  Search& search;
  const std::string& group;
  const std::vector<Extra>& left;  // what one of the two has alone
  Mismatch& mismatch;
  const Extra& extra;  // that is told of
  const int owner, other;
  const CommEvent& act;
  std::vector<int> entering = {};   // ranks that make the call
  const CommEvent* next = nullptr;  // what the other makes in its place
  const Decision* guard = nullptr;  // by which the two part
  bool by_rank = false;             // it is about their numbers
  const Extra* swapped = nullptr;   // the same call, where the other has it alone
};

bool Search::side_by_side(const std::string& group, int a, int b, Mismatch& mismatch) {
  const auto left = extras(story_.trace(a), story_.trace(b), group);
  return !left.empty() && Pair(*this, group, a, b, left, mismatch).explain();
}

const Extra& Search::Pair::first_of(const Search& search, int a, int b, const std::vector<Extra>& left) {
  // A group that is missing comes before what it leads to.
  const auto missing_group = std::find_if(left.begin(), left.end(), [&](const Extra& each) {
    return search.story_.trace(each.of_first ? a : b).acts[each.act].makes_group;
  });
  // So does what an exception leads to, of what the two have alone at the same point.
  const auto other_side = std::find_if(
      left.begin(), left.end(), [&](const Extra& each) { return each.of_first != left.front().of_first; });
  const auto in_handler = [&](const Extra& each) {
    const RankTrace& own = search.story_.trace(each.of_first ? a : b);
    const auto& turns = own.acts[each.act].turns;
    return std::any_of(turns.begin(), turns.end(),
        [&](std::size_t turn) { return own.decisions[turn].attempt && !own.decisions[turn].yes; });
  };
  return missing_group != left.end()                                                     ? *missing_group
      : other_side != left.end() && in_handler(*other_side) && !in_handler(left.front()) ? *other_side
                                                                                         : left.front();
}

bool Search::Pair::explain() {
  mismatch.ranks = entering = ranks_that_enter();
  next = next_of(other, extra.before);
  find_guard();
  if (guard && !by_rank && (guard->local || guard->unseen)) return by_own_choice();
  // Who ends in an exception does not come to it for that reason, whatever it decided before.
  if (guard && !guard->attempt && search.story_.trace(other).raised) return search.refuse();
  // Where the run for all ranks knows the answer, what a rank's own run made of it does not count.
  if (guard && guard->branch && !guard->open && !search.story_.of_main(guard->place)) return search.refuse();
  swapped = same_elsewhere();
  if (act.makes_group)
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
  else if (const auto loop = search.shorter_loop(act, other))
    return by_rounds(*loop);
  else if (may_be_unknown())
    return search.refuse();
  else
    mismatch.cause = Cause::guard;
  return word();
}

std::vector<int> Search::Pair::ranks_that_enter() const {
  std::vector<int> ranks;
  for (const int rank : search.player_.members(group))
    if (std::ranges::any_of(search.story_.trace(rank).acts, [&](const CommEvent& each) {
          return each.site == act.site && equal_iterations(each.rounds, act.rounds);
        }))
      ranks.push_back(rank);
  return ranks;
}

// The next collective of the group.
const CommEvent* Search::Pair::next_of(int rank, std::size_t from) const {
  const auto& acts = search.story_.trace(rank).acts;
  for (std::size_t i = from; i < acts.size(); ++i)
    if (acts[i].what == CommEvent::What::collective && acts[i].group == group) return &acts[i];
  return nullptr;
}

// Is there a branch around it of which the other took the other side?
void Search::Pair::find_guard() {
  for (const std::size_t turn : act.turns) {
    const Decision& mine = search.story_.trace(owner).decisions[turn];
    const Decision* theirs = search.decided(search.story_.trace(other), mine);
    if (!theirs) return;
    // What the body of a try did before it failed did not hang on its failing.
    if (mine.attempt && !mine.yes && extra.act < mine.handled_from) continue;
    if (theirs->yes == mine.yes) continue;
    guard = &mine;
    by_rank = search.story_.parted_by_rank(mine, *theirs);
    return;
  }
}

// The same call elsewhere among what the other has alone: then it is the order that differs.
const Extra* Search::Pair::same_elsewhere() const {
  for (const Extra& each : left) {
    if (each.of_first == extra.of_first) continue;
    if (same_kind(search.story_.trace(other).acts[each.act], act) || (guard && each.before <= extra.act + 1))
      return &each;
  }
  return nullptr;
}

bool Search::Pair::by_own_choice() {
  if (!guard->local || guard->unseen || !search.story_.of_own_data(guard->place)) return search.refuse();
  mismatch.cause = Cause::local;
  const auto [where, calls] = Search::seen_from(act, *guard);
  mismatch.make<Parting>().whole_job = group == "world";
  return search.tell_local(guard->place, where, calls, owner, other, act, mismatch);
}

bool Search::Pair::is_of_smaller_group() const {
  const PathExit* left_by = search.exit_of(owner, other, extra).leaving;
  return group == "world" && search.is_subgroup(entering) && !(left_by && left_by->fails) &&
      !search.knows_group(owner, other, extra, entering);
}

bool Search::Pair::by_attempt() {
  const bool surprise = guard->surprise || search.decided(search.story_.trace(other), *guard)->surprise;
  // Who raises again means to end the job.
  if (surprise && guard->yes && search.story_.trace(other).raised) return search.refuse();
  // Of a try around calls whose failure nothing comes after the handler means to end the job, too.
  const auto& failing = search.story_.trace(guard->yes ? other : owner);
  const auto tried = static_cast<std::size_t>(search.decided(failing, *guard) - failing.decisions.data());
  if (surprise && guard->yes && failing.acts.size() <= failing.decisions[tried].handled_from &&
      act.own_calls != guard->own_calls)
    return search.refuse();
  // What a rank raises by its own data is as much of a surprise.
  bool by_own_data = false;
  for (const PathExit& exit : failing.exits) {
    const auto inside = exit.caught ? std::find(exit.turns.begin(), exit.turns.end(), tried)
                                    : exit.turns.end();
    for (auto turn = inside; turn != exit.turns.end(); ++turn) {
      const Decision& by = failing.decisions[*turn];
      if (!by.open || by.attempt) continue;
      const auto* branch = by.branch ? search.story_.of_main(by.place) : nullptr;
      // Of what is dealt out the first ranks have most.
      const bool first = (guard->yes ? owner : other) < (guard->yes ? other : owner);
      const bool of_parts = first && branch && !branch->stmt &&
          search.story_.record.symbols.sharing(branch->condition) == symbolic::Sharing::divergent;
      if (!by.local || by.unseen || !(of_parts || search.story_.of_own_data(by.place)))
        return search.refuse();
      by_own_data = true;
    }
  }
  // Who goes on to a loop of such calls meets in it those that are still in their try: when it ends, what
  // they exchange decides.
  if (guard->yes && next && same_kind(*next, act) && next->rounds.size() > act.rounds.size())
    return search.refuse();
  mismatch.cause = Cause::handler;
  mismatch.by_surprise = surprise || by_own_data;
  search.story_.place(mismatch, act);
  std::tie(mismatch.place, mismatch.calls) = Search::seen_from(act, *guard);
  mismatch.text = guard->yes ? "Rank " + std::to_string(other) + " skips " + this_one(mismatch.name) +
          " when its `try` raises, and rank " + std::to_string(owner) + " waits in it forever."
                             : "Rank " + std::to_string(owner) + " enters " + this_one(mismatch.name) +
          " only because its `try` raised: rank " + std::to_string(other) + " had none, and " +
          (next ? "goes on to " + call_text(next->name) + search.story_.at_line(next->place)
                : std::string("never enters it")) +
          ".";
  mismatch.related.push_back({guard->place, "the try"});
  return true;
}

bool Search::Pair::by_exit(const Exit& way) {
  const auto& [exit, condition, own_condition] = way;
  mismatch.detail = Parting{condition, exit->kind, static_cast<int>(left.size()), group == "world"};
  if (exit->fails) mismatch.severity = Severity::information;
  if (own_condition) {
    if (!search.story_.of_own_data(condition)) return search.refuse();
    mismatch.cause = Cause::local;
    return search.tell_local(condition, exit->place, exit->calls, owner, other, act, mismatch);
  }
  const auto& decisions = search.story_.trace(other).decisions;
  const bool handling = std::any_of(exit->turns.begin(), exit->turns.end(),
      [&](std::size_t turn) { return decisions[turn].attempt && !decisions[turn].yes; });
  for (const std::size_t turn : exit->turns)
    mismatch.by_surprise = mismatch.by_surprise || (decisions[turn].surprise && !decisions[turn].yes);
  if (mismatch.by_surprise && exit->kind == ExitKind::return_ &&
      search.story_.trace(other).acts.size() <= exit->at && act.calls != exit->calls)
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
  return search.tell_exit(*exit, owner, act, mismatch);
}

bool Search::Pair::by_rounds(const LoopRun& loop) {
  if (loop.stands_for_many) return search.refuse();  // its one round says nothing of how many there are
  mismatch.cause = Cause::rounds;
  search.story_.place(mismatch, act);
  mismatch.place = loop.place;
  mismatch.calls = loop.calls;
  mismatch.text = "Rank " + std::to_string(owner) + " runs more iterations of this loop than rank " +
      std::to_string(other) + ", which runs " + std::to_string(loop.rounds) + ", and waits forever in " +
      call_text(mismatch.name) + search.story_.at_line(act.place) + ": " +
      search.story_.doing(other, search.stop_.at) + ". Give every rank the same number of iterations.";
  mismatch.event = search.story_.of_main(act);
  mismatch.related.push_back({act.place, call_text(mismatch.name) + " is entered here"});
  return true;
}

// Nothing that was seen parts them: then it may be what is not known.
bool Search::Pair::may_be_unknown() const {
  // What all ranks decide alike parts nobody, as long as no loop of many rounds lies behind them.
  for (const int rank : {owner, other}) {
    const RankTrace& own = search.story_.trace(rank);
    for (const Decision& decision : own.decisions) {
      if (!decision.open) continue;
      const Decision* same = search.decided(search.story_.trace(rank == owner ? other : owner), decision);
      if (decision.local || decision.unseen || decision.surprise || (same && same->yes != decision.yes))
        return true;
    }
    const bool any_open = std::ranges::any_of(own.decisions, &Decision::open);
    const bool behind_many = std::ranges::any_of(own.loops, [&](const LoopRun& each) {
      return each.stands_for_many && !each.silent &&
          std::ranges::none_of(act.rounds,
              [&](const Round& round) { return round.site == each.site && round.nth == each.nth; });
    });
    if (any_open && behind_many) return true;
  }
  return false;
}

// The mismatch is told where the guard stands, and not in what is called under it.
void Search::Pair::stand_at_guard() {
  std::tie(mismatch.place, mismatch.calls) = Search::seen_from(act, *guard);
  auto& guarded = mismatch.make<GuardedEntry>();
  if (guard->branch) guarded.guard = search.story_.guard_at(*guard, mismatch.place);
  guarded.side = guard->yes;
}

bool Search::Pair::word() {
  search.story_.place(mismatch, act);
  mismatch.event = search.story_.of_main(act);
  switch (mismatch.cause) {
  case Cause::guard: word_guard(); break;
  case Cause::order: word_order(); break;
  case Cause::making_groups: word_making_groups(); break;
  case Cause::other_group: word_other_group(); break;
  default: break;
  }
  return true;
}

void Search::Pair::word_guard() {
  if (guard) stand_at_guard();
  if (next) mismatch.make<GuardedEntry>().next_of_others = search.story_.of_main(*next);
  const auto mine = search.times_entered(owner, act), theirs = search.times_entered(other, act);
  std::string where;
  if (next && next->place == act.place)
    where = other_words() + " enters it one time fewer";
  else if (!next && theirs > 0)
    where = other_words() + " enters it " + (mine == theirs + 1 ? "one time fewer" : "fewer times");
  else if (next && next->name == act.name)
    where = other_words() + " goes on to another " + call_text(without_article(act.name)) +
        search.story_.at_line(next->place);
  else
    where = where_other_goes();
  mismatch.text = search.enter_alone(entering) + call_text(mismatch.name) + search.waits_forever(entering) +
      where + ".";
}

// Where the paths to what comes first and to what comes next part, unless that is where the guard stands.
void Search::Pair::go_out_to_where_paths_part() {
  const CommEvent* following = next_of(owner, extra.act + 1);
  if (!following) return;
  std::vector<const CallSite*> around;
  for (const CallSite* site = following->own_calls; site; site = site->outer) around.push_back(site);
  const CallSite *own = act.own_calls, *calls = act.calls;
  while (own && (!guard || own != guard->own_calls) && own->outer &&
      (!guard || own->outer != guard->own_calls) && std::ranges::find(around, own) == around.end()) {
    mismatch.place = calls->place;
    own = own->outer;
    calls = calls->outer;
  }
  mismatch.calls = calls;
}

void Search::Pair::word_order() {
  go_out_to_where_paths_part();
  const CommEvent* theirs = swapped ? &search.story_.trace(other).acts[swapped->act] : next;
  mismatch.text = "The ranks enter collectives in different orders: " + owner_words() + " enters " +
      call_text(mismatch.name) + " here" +
      (next ? ", where " + other_words() + " enters " + call_text(next->name) +
                  search.story_.at_line(next->place)
            : std::string()) +
      ". They wait for each other forever, or exchange garbage.";
  if (theirs && theirs->place)
    mismatch.related.push_back(
        {theirs->place, other_words() + " enters " + call_text(theirs->name) + " here"});
}

void Search::Pair::word_making_groups() {
  if (guard) stand_at_guard();
  mismatch.text = "All ranks, members or not, must create process groups together and in the same order: " +
      owner_words() + " calls " + call_text(mismatch.name) + " here, and " + other_words() +
      (next ? " goes on to " + call_text(next->name) + search.story_.at_line(next->place) : " never does") +
      ". ";
  if (search.numbers_fit()) {
    mismatch.severity = Severity::warning;
    mismatch.text +=
        "PyTorch before 2.1 waits here forever; later ones give the next groups of these ranks different numbers. ";
  }
  mismatch.text += "Create every group on every rank.";
}

void Search::Pair::word_other_group() {
  mismatch.text = "This " + call_text(mismatch.name) + " runs on the group of all ranks, and only " +
      rank_words(entering, mismatch.world) + (entering.size() == 1 ? " enters" : " enter") +
      " it, the members of a smaller group: " + where_other_goes() + ". Pass that group.";
}

}  // namespace

bool explain(const JobView& story, const CollectiveSimulator& player, const Stop& stop, Mismatch& mismatch) {
  return Search(story, player, stop).explain(mismatch);
}

}  // namespace stepzero::rules
