// Hover and completion at the keys of Accelerate's configuration, and the keys that it has.
#pragma once

#include "rules/documents/check.hpp"

namespace stepzero::rules::accelerate {

// The names of a section; of "distributed_type" and "mixed_precision" the values that are taken.
std::vector<std::string_view> names_of(std::string_view section);
// The values that a key takes; none: any.
std::vector<std::string_view> values_of(std::string_view section, std::string_view name);

std::optional<KeyHelp> help(const Document& document, std::uint32_t offset);
std::vector<KeyChoice> choices(const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules::accelerate
