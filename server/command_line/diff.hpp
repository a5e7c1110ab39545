// The difference of two texts in the unified format, as patch(1) reads it. Knows no files.
#pragma once

#include <string>
#include <string_view>

namespace stepzero::server {

// Empty if the texts are equal. Lines end at '\n'; three lines of context.
std::string unified_diff(std::string_view before, std::string_view after, std::string_view name);

}  // namespace stepzero::server
