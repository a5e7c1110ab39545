// Hover in scripts of the shell: variables of the environment that libraries read, and options of launchers.
#pragma once

#include "rules/documents/check.hpp"

#include <optional>

namespace stepzero::rules::launch {

std::optional<KeyHelp> word_help(const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules::launch
