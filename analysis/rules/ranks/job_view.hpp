// One possible run of a small world as it is told to the user: lines, who does what, and the file's own
// events. Knows no rule.
#pragma once

#include "rules/ranks/comparison.hpp"

namespace stepzero::rules {

struct JobView {
  const Record& record;
  const JobRun& world;
  bool of_function = false;  // that nobody calls: what it leaves open others may answer

  int size() const { return static_cast<int>(world.size()); }
  const RankTrace& trace(int rank) const { return world[static_cast<std::size_t>(rank)]; }

  // Tells a mismatch of an communication.
  void place(Mismatch& mismatch, const CommEvent& comm) const;
  // The same in the file's own record; may be null.
  const OperationEvent* of_main(const CommEvent& comm) const;
  const interpreter::BranchEvent* of_main(Place place) const;  // a branch
  // The branch of a decision, where it stands in the same function or class as the place.
  const interpreter::BranchEvent* guard_at(const Decision& guard, Place place) const;
  // Is it seen that the condition at a place is about data of each rank: a tensor that differs, the clock,
  // files?
  bool of_own_data(Place condition) const;
  // Does another rank take the other side by its number alone, whatever else is asked there?
  bool parted_by_rank(const Decision& mine, const Decision& theirs) const;
  // May the condition at a place read a tensor, or numbers that were read from one?
  bool may_read_tensors(Place condition) const;
  // " (line 7)"; empty for nowhere.
  std::string at_line(Place place) const;
  // What a rank does where another waits.
  std::string doing(int rank, const std::vector<std::size_t>& at) const;
};

// Does the process come to the communication by this decision about a branch: is it around the communication,
// or leads the other side out?
bool leads_to(const RankTrace& trace, std::size_t decision, const CommEvent& comm);
// Does a condition, or one that it is made of, depend on the rank alone, as in `rank == 0 and cfg.log`?
bool depends_on_rank(const symbolic::Context& symbols, values::Cond condition);
std::string plural(std::size_t count);  // "s", or nothing
// A call that ranks meet in, as messages write it: "`all_reduce`", "the backward of a DDP module".
std::string call_text(std::string_view name);

}  // namespace stepzero::rules
