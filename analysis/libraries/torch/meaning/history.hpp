// What a write leaves of a tensor's history.
#pragma once

#include "libraries/table/shapes.hpp"

namespace stepzero::libraries {

// What is written where gradients are not recorded leaves the history of the tensor that it is written into
// as it was.
void keep_history(Runtime& run, const TensorState& into, TensorState& state);

}  // namespace stepzero::libraries
