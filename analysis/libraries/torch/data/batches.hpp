// What loaders hand on.
#pragma once

#include "libraries/table/shapes.hpp"

namespace stepzero::libraries {

// The batch, moved to where a framework puts it: its tensors lie on a device that is not known.
Value moved_batch(Runtime& run, Value batch, values::Place place, int depth = 0);
// As a loader hands it on: from another process, where all that it was computed from stays.
Value handed_batch(Runtime& run, Value batch, values::Place place);

}  // namespace stepzero::libraries
