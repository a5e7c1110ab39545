// The strides of a tensor whose elements lie in the order of its dimensions.
#pragma once

#include "values/value.hpp"

#include <vector>

namespace stepzero::values {

// Empty if a size is not known.
std::vector<Int> strides_in_order(symbolic::Context& symbols, const Shape& shape);

}  // namespace stepzero::values
