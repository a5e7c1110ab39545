// Rows of functions with a backward of their own, checkpoints, and gradients as values.
#pragma once

#include "libraries/table/table.hpp"

namespace stepzero::libraries {

std::vector<Row> autograd_rows();

}  // namespace stepzero::libraries
