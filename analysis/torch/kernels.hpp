// Rows of libraries that may be missing, and whose own files are read where the program has them.
#pragma once

#include "interpreter/library.hpp"

#include <vector>

namespace stepzero::torch {

// Of flash_attn and xformers.
std::vector<values::Row> kernel_rows();
// Of transformers.
std::vector<values::Row> configuration_rows();

} // namespace stepzero::torch
