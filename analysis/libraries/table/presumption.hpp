// Is a value taken for a tensor because of what is done with it, or is it one?
#pragma once

#include "libraries/table/shapes.hpp"

namespace stepzero::libraries {

// Is it a tensor because methods were called on it, or an annotation says so? Others have some of these
// methods, too: a TensorDict.
bool is_presumed(const TensorState* state);
// A float of Python, which is no size.
bool is_fraction(Value value);

}  // namespace stepzero::libraries
