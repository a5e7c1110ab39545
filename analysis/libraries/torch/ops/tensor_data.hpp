// Tensors that are made of data: numbers, nested lists, arrays, other tensors.
#pragma once

#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

// A copy of the data, of that dtype; unknown: of the data's own.
Value tensor_of(Op& op, Value data, Dtype otherwise);
std::vector<Row> tensor_data_rows();

}  // namespace stepzero::libraries
