// Optimizers that a caller gives, or code that is not seen has made: of them only what is done with them here
// is known. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// A loop that does a part of what a training step is, with such an optimizer.
struct GivenOptimizer {
  std::string name;                         // as the program calls it
  const TrainingEvent* cleared = nullptr;   // its zero_grad() in the loop
  const TrainingEvent* stepped = nullptr;   // its step() there; null: none, nor any other step
  const TrainingEvent* backward = nullptr;  // a backward there; null: none
  bool uses_gradients =
      false;  // the function reads gradients, or changes them: they may be of use without a step
};
// Of loops in whose function all is seen that is done with the optimizer, and no gradient is made but by a
// backward.
std::vector<GivenOptimizer> given_optimizers(const Record& record, const TrainingRoot& training_root);

// Does the name mean an optimizer, as programs call theirs?
bool names_optimizer(std::string_view name);

}  // namespace stepzero::rules
