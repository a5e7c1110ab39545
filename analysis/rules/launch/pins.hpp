// The version of a package that a workspace holds itself to: what its requirements say of it.
#pragma once

#include "rules/documents/check.hpp"

#include <string_view>

namespace stepzero::rules::launch {

// Do the requirements beside the document, or in a folder around it, keep the package below that version
// ("4.46", "5")? Those of the nearest file that names it count.
bool is_kept_below(const DocumentInput& input, std::string_view package, std::string_view version);

}  // namespace stepzero::rules::launch
