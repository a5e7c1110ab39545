// Paths as the run knows them.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// The text that a path object, an open file or what was read of one stands for; absent if it is not known.
Value path_text(Runtime& run, Value value);

inline Value not_seen(Call& call) { return call.run.heap().unseen("", call.place); }

}  // namespace stepzero::libraries
