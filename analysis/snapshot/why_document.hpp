// Why nothing is said of a line of a configuration or a script, for who works on the engine: what the file is
// taken for, what the line launches, and which of its words are not known.
#pragma once

#include "rules/documents/check.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepzero::snapshot {

// `line` counts from 1. One sentence each.
std::vector<std::string> why_silent(
    const rules::DocumentInput& input, const std::vector<rules::Finding>& told, std::uint32_t line);

}  // namespace stepzero::snapshot
