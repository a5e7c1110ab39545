// Rows of torch.distributions.
#pragma once

#include "torch/table.hpp"

namespace stepzero::torch {

std::vector<Row> distribution_rows();

} // namespace stepzero::torch
