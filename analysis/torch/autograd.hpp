// Rows of functions with a backward of their own, checkpoints, and gradients as values.
#pragma once

#include "torch/table.hpp"

namespace stepzero::torch {

std::vector<Row> autograd_rows();

} // namespace stepzero::torch
