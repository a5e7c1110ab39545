// The version of a package that a workspace holds itself to: what its requirements say of it.
#pragma once

#include "rules/documents/check.hpp"

#include <functional>
#include <string>
#include <string_view>

namespace stepzero::rules::launch {

// Do the requirements beside the document, or in a folder around it, keep the package below that version
// ("4.46", "5")? Those of the nearest file that names it count.
bool is_kept_below(const DocumentInput& input, std::string_view package, std::string_view version);
// The same of a program. `asked`: gets the path of each file that is asked for.
bool is_kept_below(const program::Sources& sources, const std::string& path, std::string_view package,
    std::string_view version, const std::function<void(const std::string&)>& asked = {});

// Do they ask for that version or a later one?
bool is_kept_from(const DocumentInput& input, std::string_view package, std::string_view version);

}  // namespace stepzero::rules::launch
