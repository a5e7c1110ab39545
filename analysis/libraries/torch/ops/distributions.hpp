// Rows of torch.distributions.
#pragma once

#include "libraries/table/table.hpp"

namespace stepzero::libraries {

std::vector<Row> distribution_rows();

}  // namespace stepzero::libraries
