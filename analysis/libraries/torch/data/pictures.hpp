// Data sets of pictures and what their samples go through: torchvision's.
#pragma once

#include "libraries/table/table.hpp"

namespace stepzero::libraries {

std::vector<Row> picture_rows();

}  // namespace stepzero::libraries
