// Loops that were followed round by round on one rank, and by one round that stands for all of them on
// another.
#pragma once

#include "rules/ranks/trace.hpp"

namespace stepzero::rules {

// Was a loop of as many rounds followed in both ways?
bool followed_differently(const JobRun& world);
// Of such loops one round is left of those that were followed one by one, where each enters the same.
JobRun with_one_round_each(const JobRun& world);

}  // namespace stepzero::rules
