// Checkpoints of activations that are put around the layers of a model, which are computed again in the
// backward.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// Does a function that wraps a layer, a partial or a function of the program, ask for the reentrant kind by
// its name?
bool wraps_reentrantly(Value wrapper);

std::vector<Row> recomputing_rows();

}  // namespace stepzero::libraries
