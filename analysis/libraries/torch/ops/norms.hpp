// The norms of torch.linalg that take vectors as well as matrices.
#pragma once

#include "libraries/table/op.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<Row> vector_norm_rows();

}  // namespace stepzero::libraries
