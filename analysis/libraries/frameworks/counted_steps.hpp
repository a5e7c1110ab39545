// The training step that a framework runs by itself, for who counts what it takes. In other runs nothing of
// it is done: what the trainer calls is checked by itself.
#pragma once

#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

// One process alone, and who follows the program counts what a step takes.
bool counts_a_step(const Call& call);

// Lightning's fit(model, loader or data module): configure_optimizers, and training_step of any batch. False:
// something of it is not known.
bool step_of_lightning(Call& call);

// Keeps what Trainer(…) of transformers was given.
void keep_trainer(Call& call);
void keep_training_arguments(Call& call);
// Its train(): the model's forward of any batch, and AdamW.
bool step_of_trainer(Call& call);

}  // namespace stepzero::libraries
