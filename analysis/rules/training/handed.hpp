// Loops in which a framework takes a part. Some run the loop; others divide, scale and hold back, and leave
// it to the program to clear and to step: of those loops much the same is wrong as of any other.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// Are its loops its own? An engine that is given the loss sets no mode.
bool loops_itself(const TrainingRoot& training_root);
// Is it for the program to clear and to step?
bool trains_itself(const TrainingRoot& training_root);
// What breaks the loop is no proof beside a framework: what that was told when it was launched may mend it.
Severity at_most(Severity severity, const TrainingRoot& training_root);

}  // namespace stepzero::rules
