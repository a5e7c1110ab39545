// Hover in scripts of the shell: variables of the environment that libraries read, options of launchers, and
// those of the programs that are launched.
#pragma once

#include "rules/documents/check.hpp"

#include <optional>

namespace stepzero::rules::launch {

std::optional<KeyHelp> word_help(const Document& document, std::uint32_t offset);
// At each argument that the launched program declares: what it takes, and where it says so.
std::vector<KeyHelp> argument_help(const DocumentInput& input);

}  // namespace stepzero::rules::launch
