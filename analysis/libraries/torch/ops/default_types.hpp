// What new tensors have where nothing is said: torch.set_default_dtype and its like.
#pragma once

#include "libraries/table/op.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<Row> default_type_rows();

}  // namespace stepzero::libraries
