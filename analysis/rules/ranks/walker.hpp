// Walks one rank through its record: which side of each branch it takes, which loops it runs, where it
// leaves.
#pragma once

#include "rules/ranks/questions_for_rank.hpp"
#include "rules/ranks/runs.hpp"

namespace stepzero::rules {

// What was chosen of the conditions that the record does not decide: by all ranks alike, and by this one for
// itself.
struct Choices {
  const std::map<int, bool>& shared;
  const std::map<values::Cond, bool>& own;
  Assumption assumed = Assumption::nothing;
  bool certain = false;  // only what certainly takes place is of interest: of loops that go on the first
                         // iterations, and nothing after them
  bool surprised =
      false;  // something has failed by surprise in some process of this run already: nothing else does
  const std::unordered_set<int>* balanced =
      nullptr;  // sites of branches of which any side will do: see balance.hpp
};

struct Walked {
  RankTrace trace;
  values::Cond missing = nullptr;  // a condition that was asked for and is not chosen
  bool missing_is_shared = false;
  int missing_key = 0;
  bool missing_is_surprise = false;  // whether something fails
  bool too_long = false;
};

// `walked` counts events.
Walked walk_rank(Runs& runs, RankRun& own, int world, const interpreter::Block& block, Choices choices,
    std::uint64_t& walked);

}  // namespace stepzero::rules
