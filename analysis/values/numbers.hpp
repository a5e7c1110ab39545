// Which values are numbers, whichever side of a choice they are.
#pragma once

#include "values/value.hpp"

namespace stepzero::values {

// Is what is not known a number: read from a tensor, taken for a size by a layer, or calculated from numbers?
// It may have turned out only after it was made.
bool is_number(const Unknown& unknown);
// The same of a float.
bool is_float(const Unknown& unknown);

// A number that was read from a tensor.
bool is_read_number(Value value);
bool is_float(Value value);
bool is_number(Value value);

}  // namespace stepzero::values
