// How many parameters the layers of models hold, where a program makes the models: sizes are the program's
// own then.
#pragma once

#include "footprint/footprint.hpp"
#include "server/features/model_outline.hpp"

#include <vector>

namespace stepzero::server {

// Fills in `parameters` of the outlines and their layers. `made`: the models of all programs that are shown
// together; of a class that they make in several sizes nothing is said, and neither of what is not known to
// the last number.
void count_parameters(std::vector<ModelOutline>& outlines, const std::vector<footprint::Model>& made);

}  // namespace stepzero::server
