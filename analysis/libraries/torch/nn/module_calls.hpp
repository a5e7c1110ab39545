// Calls of modules: their hooks and their forward.
#pragma once

#include "libraries/torch/nn/modules.hpp"

namespace stepzero::libraries {

std::vector<Row> module_call_rows();

}  // namespace stepzero::libraries
