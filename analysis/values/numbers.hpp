// Which values are numbers, whichever side of a choice they are.
#pragma once

#include "values/value.hpp"

namespace stepzero::values {

// A number that was read from a tensor.
bool is_read_number(Value value);
// What was taken for a size by a layer, or calculated from such, is found to be a number when it is asked.
bool is_float(Value value);
bool is_number(Value value);

}  // namespace stepzero::values
