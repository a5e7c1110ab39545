// Training steps that are methods: of an object that made its optimizers itself, and that nobody in the
// program uses. Whoever has the object calls them for batch after batch, in a loop that is not seen.
#pragma once

#include "rules/training/training.hpp"

#include <deque>

namespace stepzero::rules {

class StepMethods {
public:
  // Found out once for a record.
  static const StepMethods& of(const Record& record);
  explicit StepMethods(const Record& record);

  // A training root for each method that makes gradients and steps, outside of loops of its own: what the
  // constructor does, then the method as an iteration of a loop, then what the other methods do to gradients
  // in the same loop. `by_caller` is set.
  const std::vector<TrainingRoot>& training_roots() const { return training_roots_; }

private:
  std::vector<TrainingRoot> training_roots_;
  std::deque<interpreter::LoopEvent> loops_;
};

// Does the file, or a base of the class whose method it is, call a method of that name where the training
// root does not show it? Whoever has the object may do so between two calls.
bool calls_elsewhere(const Record& record, const TrainingRoot& training_root, std::string_view method);

}  // namespace stepzero::rules
