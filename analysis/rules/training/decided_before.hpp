// Decisions of a loop that come out the same in each iteration: the program's own choices, such as flags.
// Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// Does each `if` around the place in the loop ask for something that the loop does not change, as far as the
// text shows? An `if` that holds both the place and the other one, on one side, is left out.
bool decided_before(const Record& record, const interpreter::LoopEvent& loop, Place place, Place beside = {});

}  // namespace stepzero::rules
