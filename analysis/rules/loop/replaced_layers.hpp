// Layers that are not what the optimizer was given: they were put into the model, adapted or unfrozen after
// it was made. Part of loop/wrong-parameters.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules::loop {

// Whose parameters the optimizer has: an object of the program, or what is not known; null if there is none.
const values::Object* module_of(values::Value optimizer);
// Was the layer made after the optimizer, in the same statements?
bool is_made_after(const Record& record, const values::Instance& layer, const OperationEvent& made);

void look_for_layers_made_later(
    const Record& record, const TrainingRoot& training_root, Report& report, Once& once);

}  // namespace stepzero::rules::loop
