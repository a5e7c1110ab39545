// Devices, their streams and seeds, and the names of dtypes: what torch and torch.cuda have beside operators.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

std::vector<Row> device_rows();
std::vector<Row> dtype_rows();

}  // namespace stepzero::libraries
