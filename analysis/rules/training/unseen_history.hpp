// What unseen code computed, and what a loss was computed from through it: a model and a criterion of which
// nothing is known but that one was given what the other gave.
#pragma once

#include "rules/training/training.hpp"

#include <vector>

namespace stepzero::rules {

// What unseen code computed, of which the tensor was made; or that the value itself is, which need not be a
// tensor.
std::vector<const values::Unknown*> unseen_sources(
    Value value, const values::TensorState* state, int depth = 0);
// Is the part one of the whole, at any depth?
bool holds(const values::Unknown* whole, const values::Unknown* part);
// Is the loss computed from it, through whatever unseen code?
bool leads_to(const values::Unknown* source, const values::Unknown* loss, int depth = 0);
// Was the loss of the backward computed with the model? With one that is not seen, if it goes through what a
// call of it gave.
bool is_trained_by(const TrainingRoot& training_root, const OperationEvent& backward, Value model);

}  // namespace stepzero::rules
