// Ways through an iteration of a training loop that lack what the other ways have: the step after the
// backward, the backward before the step. Says nothing to the user.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

struct Lacking {
  const OperationEvent* event = nullptr;  // the backward that nothing steps, or the step that nothing feeds
  const OperationEvent* other = nullptr;  // what another way does
  std::string optimizer;                  // as the program calls it
};
// On every way through it the gradients are cleared, and nobody steps; another way steps, or hands the
// optimizer on.
std::vector<Lacking> unstepped(const Record& record, const TrainingRoot& training_root);
// On every way through it nothing computes gradients that are cleared; another way does.
std::vector<Lacking> unfed(const Record& record, const TrainingRoot& training_root);

}  // namespace stepzero::rules
