// The run of a file as a script launches it, and what holds only there.
#pragma once

#include "interpreter/launch.hpp"
#include "snapshot/launches.hpp"
#include "snapshot/run_cache.hpp"
#include "snapshot/standing_findings.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stepzero::snapshot {

using interpreter::Launch;

// A kept run of one launch.
struct LaunchedRun {
  Launch launch;
  Run run;
};

// Does the program read anything that a launch decides?
bool reads_its_launch(const interpreter::Record& record, const program::Sources& sources);
// Those that are run: few, and first those of which the most is known.
std::vector<Launch> launches_to_run(const LaunchesOfOne& known);
// Is the launch one of so few processes, and its run so short, that what each of them does is compared?
bool ranks_are_compared(const Launch& launch, std::uint64_t steps);
// The findings of a launch as they are told beside those that are known: warnings that name it.
void tell_of_launch(const Launch& launch, const std::vector<StandingFindings::One>& known,
    std::vector<rules::Finding>& findings);

}  // namespace stepzero::snapshot
