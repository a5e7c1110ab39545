// Operators that take tensors apart.
#pragma once

#include "libraries/table/op.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<Row> split_rows();

}  // namespace stepzero::libraries
