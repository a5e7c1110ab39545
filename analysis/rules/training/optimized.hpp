// What optimizers have of the parameters that a loss trains. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

#include <optional>

namespace stepzero::rules {

// The tensors that the optimizers of a root have taken, if that is known of all of them, and of each to
// choose from.
std::optional<std::set<const Object*>> all_taken(const TrainingRoot& training_root);
// The tensors among the attributes of a layer that are parameters.
std::vector<const values::Tensor*> own_parameters(const Instance& layer);
// The class of a layer as a message names it: "Linear", "layer".
std::string class_of(const Instance& layer);
// The loss of a backward that a loop repeats; null of any other event.
const values::TensorState* trained_loss(const TrainingEvent& event);

}  // namespace stepzero::rules
