// What a loop leaves out: operations of an optimizer that a training loop has to make, looked for in all that
// it may run.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// Does the loop run its body again and again, as far as the text shows?
bool repeats(const interpreter::LoopEvent& loop);
// Is the object handed to unseen code in the loop (anywhere, if null)? What only makes a schedule of an
// optimizer does not count.
bool escapes(const Record& record, const TrainingRoot& training_root, const Object* object,
    const interpreter::LoopEvent* loop);
// The optimizer of a step, by the optimizer itself or through a scaler; absent if it is none.
Value stepped_optimizer(const OperationEvent& event);
// As the program calls it there.
std::string stepped_text(const Record& record, const OperationEvent& event);
// Was the optimizer made by the program, and not only presumed by its name?
bool is_made(const TrainingRoot& training_root, const Object* optimizer);

}  // namespace stepzero::rules
