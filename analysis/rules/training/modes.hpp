// Training and evaluation mode of a model: what of it does something else in training, and who sets the mode.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

// A layer in the module that does something else in training; null if there is none.
const Instance* by_mode(const Object* module);
// Its class, or the class of a part, says itself what train() and eval() do.
bool has_own_modes(const Object* module);
// Does the call set training mode?
bool trains_from_here(const Record& record, const OperationEvent& event);
// Does the call set the mode of the model, or of the part of it that holds the layer?
bool is_mode_of(const OperationEvent& event, const Object* model, const Instance* layer);
// May it compute something else in training? Not if all its layers are known and none does, and no class of
// the program asks for the mode.
bool may_differ_by_mode(const Record& record, const Object* module);

}  // namespace stepzero::rules
