// Shapes and sizes in the user's names.
#pragma once

#include "values/value.hpp"

#include <string>

namespace stepzero::values {

std::string shape_text(const symbolic::Context& symbols, const Shape& shape);  // "[B, T, 768]", "[*, 768]"
std::string size_text(const symbolic::Context& symbols, const Dim& dim);       // "?" if it is not known

} // namespace stepzero::values
