// Which values are numbers, whichever side of a choice they are.
#pragma once

#include "values/value.hpp"

#include <optional>

namespace stepzero::values {

// A number that was read from a tensor.
bool is_read_number(Value value);
bool may_be_read(Value value);  // the same of one side of a choice
// What was taken for a size by a layer, or calculated from such, is found to be a number when it is asked.
bool is_float(Value value);
bool is_number(Value value);

// The number that it is where the parameters that it was calculated from have their defaults; nullopt if that
// is not known.
std::optional<double> number_by_default(const symbolic::Context& symbols, Value value);

}  // namespace stepzero::values
