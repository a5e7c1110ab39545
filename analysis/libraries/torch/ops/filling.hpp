// Tensors that are written in place as a whole. Knows no layer; their starting values are init_rows.
#pragma once

#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

std::vector<Row> filling_rows();

}  // namespace stepzero::libraries
