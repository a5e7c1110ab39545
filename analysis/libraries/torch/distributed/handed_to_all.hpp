// What a process hands to those that it starts: drawn once, so that they all get the same.
#pragma once

#include "interpreter/runtime.hpp"

namespace stepzero::libraries {

// The value as each of the processes gets it. Numbers and texts that the parent drew are the same on all of
// them, also inside of lists, dicts and attributes, where they are replaced in place.
interpreter::Value handed_to_all(interpreter::Call& call, interpreter::Value value);

}  // namespace stepzero::libraries
