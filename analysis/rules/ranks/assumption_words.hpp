// The words for what is taken for granted of code that is not seen.
#pragma once

#include "rules/ranks/job_explorer.hpp"

#include <string>

namespace stepzero::rules {

// The questions to code that is not seen by which the ranks come to a site: "Where the ranks agree on
// `use_ema`: ".
std::string describe_assumption(
    const Record& record, JobExplorer& worlds, const JobRun& world, int key, bool only_few);

}  // namespace stepzero::rules
