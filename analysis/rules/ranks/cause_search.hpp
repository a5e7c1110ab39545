// The search for why a world stops, as causes.cpp begins it and pair_causes.cpp goes on with two ranks of
// which one makes a call that the other lacks.
#pragma once

#include "rules/ranks/alignment.hpp"
#include "rules/ranks/causes.hpp"
#include "rules/ranks/point_to_point.hpp"

#include <algorithm>

namespace stepzero::rules {

// "this broadcast", "this backward of a DDP module"
inline std::string this_one(std::string_view name) { return "this " + call_text(without_article(name)); }

class CauseSearch {
public:
  CauseSearch(const JobView& view, const CollectiveSimulator& simulator, const Stop& stop)
      : view_(view), simulator_(simulator), stop_(stop) {}

  bool explain(Mismatch& mismatch);

private:
  // A rank waits in a loop for what another sends to all, which that one never does again.
  bool called_no_more(Mismatch& mismatch) const;

  // A way out, and the condition by which ranks take it.
  struct Exit {
    const PathExit* leaving = nullptr;
    Place condition;
    bool own_condition = false;  // each rank decides it for itself
  };

  // The call that stands in the frame of the guard.
  static std::pair<Place, const interpreter::CallSite*> seen_from(
      const CommEvent& comm, const Decision& guard);

  const Decision* decided(const RankTrace& trace, const Decision& like) const;

  bool refuse();

  // Two ranks of a group, of which one waits for the other: what has one of them that the other has not?
  class Pair;
  bool side_by_side(const std::string& group, int a, int b, Mismatch& mismatch);

  // Are these the members of a group that the program has made, and more than one?
  bool is_subgroup(const std::vector<int>& ranks) const;

  // Since PyTorch 2.1 the members alone wait for each other, and a group goes by the number of groups that
  // its rank made before: do all members make each group, and is its number that of no other? Members that
  // are not known may be those that make it.
  bool numbers_fit() const;

  // Have the members used their group between the way out of the others and this call? Then they mean all
  // ranks here.
  bool knows_group(int owner, int other, const Extra& extra, const std::vector<int>& members) const;

  // "Only rank 0 enters ", "Every rank but 0 enters ", "Only ranks 1 and 2 enter "
  std::string enter_alone(const std::vector<int>& ranks) const;
  std::string waits_forever(const std::vector<int>& ranks) const;
  bool is_all_but_one(const std::vector<int>& ranks) const;

  // How often the rank makes this call, in whatever iteration.
  std::ptrdiff_t times_entered(int rank, const CommEvent& call) const;

  // The way out by which `other` missed what `owner` did next.
  Exit exit_of(int owner, int other, const Extra& extra) const;

  // Do the calls lead through the other ones?
  static bool is_within(const interpreter::CallSite* calls, const interpreter::CallSite* outer);

  static bool equal_iterations(const std::vector<Iteration>& a, const std::vector<Iteration>& b);

  bool tell_exit(const PathExit& exit, int owner, const CommEvent& comm, Mismatch& mismatch);

  // Ranks that decide each by itself, and may decide differently.
  bool tell_local(Place condition, Place where, const interpreter::CallSite* calls, int owner, int other,
      const CommEvent& comm, Mismatch& mismatch);

  std::optional<LoopRun> shorter_loop(const CommEvent& comm, int other) const;

  const JobView& view_;
  const CollectiveSimulator& simulator_;
  const Stop& stop_;
  bool refused_ = false;  // something parts the ranks, and it is not known well enough
};

// One call of one of the two that the other lacks: by which choice, way out, exception or iteration they
// part, and how that is told.
class CauseSearch::Pair {
public:
  Pair(CauseSearch& whole, const std::string& name, int a, int b, const std::vector<Extra>& differences,
      Mismatch& into)
      : search(whole), group(name), left(differences), mismatch(into),
        extra(first_of(whole, a, b, differences)), owner(extra.of_first ? a : b),
        other(extra.of_first ? b : a), comm(whole.view_.trace(owner).comms[extra.comm]) {}
  bool explain();

private:
  static const Extra& first_of(const CauseSearch& search, int a, int b, const std::vector<Extra>& left);
  std::vector<int> ranks_that_enter() const;
  const CommEvent* next_of(int rank, std::size_t from) const;
  void find_guard();
  const Extra* same_elsewhere() const;
  bool by_own_choice();
  bool is_of_smaller_group() const;
  bool by_attempt();
  bool by_exit(const Exit& way);
  bool by_iterations(const LoopRun& loop);
  bool may_be_unknown() const;
  void go_out_to_where_paths_part();
  void stand_at_guard();
  std::string where_other_goes() const {
    return next ? other_words() + " goes on to " + call_text(next->name) + search.view_.at_line(next->place)
                : search.view_.doing(other, search.stop_.at);
  }
  bool word();
  void word_guard();
  void word_order();
  void word_making_groups();
  void word_other_group();
  std::string owner_words() const { return "rank " + std::to_string(owner); }
  std::string other_words() const { return "rank " + std::to_string(other); }

  CauseSearch& search;
  const std::string& group;
  const std::vector<Extra>& left;  // what one of the two has alone
  Mismatch& mismatch;
  const Extra& extra;  // that is told of
  const int owner, other;
  const CommEvent& comm;
  std::vector<int> entering = {};   // ranks that make the call
  const CommEvent* next = nullptr;  // what the other makes in its place
  const Decision* guard = nullptr;  // by which the two part
  bool by_rank = false;             // it is about their numbers
  const Extra* swapped = nullptr;   // the same call, where the other has it alone
};

}  // namespace stepzero::rules
