// The options that sbatch and srun of SLURM take.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"

#include <vector>

namespace stepzero::rules::launch {

// Tells of misspelled ones in `#SBATCH` lines, and between `srun` and what it launches.
void judge_slurm_options(
    const DocumentInput& input, const std::vector<LaunchLine>& lines, DocumentReport& report);

}  // namespace stepzero::rules::launch
