// Ranks whose losses use other parameters, and who reduce only the gradients that there are.
#pragma once

#include "rules/ranks/comparison.hpp"
#include "rules/ranks/job_explorer.hpp"

namespace stepzero::rules {

std::vector<Mismatch> missing_gradients(const Record& record, JobExplorer& worlds);

}  // namespace stepzero::rules
