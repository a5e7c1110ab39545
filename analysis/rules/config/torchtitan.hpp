// The configuration of torchtitan, in TOML: its sections and keys, and what is shown and completed at them.
#pragma once

#include "rules/documents/check.hpp"

namespace stepzero::rules::config::torchtitan {

// Most of its tables are those of torchtitan.
bool is_configuration(const Node& root);

std::optional<KeyHelp> help(const Document& document, std::uint32_t offset);
std::vector<KeyChoice> choices(const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules::config::torchtitan
