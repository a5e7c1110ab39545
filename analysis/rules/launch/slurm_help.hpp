// What the options on `#SBATCH` lines mean, and what the job has by them together.
#pragma once

#include "rules/documents/check.hpp"

#include <optional>
#include <vector>

namespace stepzero::rules::launch {

std::optional<KeyHelp> slurm_help(const Document& document, std::uint32_t offset);
// The options that may be written on such a line.
std::vector<KeyChoice> slurm_choices(const Document& document, std::uint32_t offset);

}  // namespace stepzero::rules::launch
