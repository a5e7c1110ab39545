// Rows of libraries that may be missing, and whose own files are read where the program has them.
#pragma once

#include "interpreter/library.hpp"

#include <vector>

namespace stepzero::libraries {

// Of flash_attn and xformers.
std::vector<values::Row> kernel_rows();
// Of transformers.
std::vector<values::Row> configuration_rows();
// Of collections.abc.
std::vector<values::Row> mapping_rows();
// Of torch.finfo and torch.iinfo.
std::vector<values::Row> limit_rows();
// Of what the files of packages that are read stand on.
std::vector<values::Row> package_rows();
// Of packaging.version.
std::vector<values::Row> version_rows();

}  // namespace stepzero::libraries
