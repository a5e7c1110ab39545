// What operators make of a gradient that they write in place: a column of meanings.cpp.
#pragma once

#include "interpreter/library.hpp"

namespace stepzero::libraries {

enum class GradientWrite : std::uint8_t {
  other,
  less,     // of what a backward has left, as scaling does
  limited,  // less of it where it was more than a limit
  cut,      // its history
  nothing,  // zeros
};
GradientWrite gradient_write_of(const values::Row& row);
// The same of a method of tensors by its name; `other` if there is none.
GradientWrite gradient_write_of(std::string_view method);

}  // namespace stepzero::libraries
