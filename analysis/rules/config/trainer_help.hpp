// What is shown and completed at the keys of files that a Trainer reads: Lightning's, that of transformers,
// and what Hydra itself reads of a file.
#pragma once

#include "rules/documents/check.hpp"

namespace stepzero::rules::trainer_help {

std::optional<KeyHelp> help(Role role, const Document& document, std::uint32_t offset);
std::vector<KeyChoice> choices(Role role, const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules::trainer_help
