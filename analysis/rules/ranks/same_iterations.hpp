// Loops that were followed iteration by iteration on one rank, and by one iteration that stands for all of
// them on another.
#pragma once

#include "rules/ranks/trace.hpp"

namespace stepzero::rules {

// Was a loop of as many iterations followed in both ways?
bool followed_differently(const JobRun& world);
// Of such loops one iteration is left of those that were followed one by one, where each enters the same.
JobRun with_one_iteration_each(const JobRun& world);

}  // namespace stepzero::rules
