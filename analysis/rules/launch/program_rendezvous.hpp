// How a program makes its process group: the address that the ranks meet at, and the processes that
// torch.multiprocessing starts for it.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules::launch {

// Is it a port that each process takes for itself? Rules of the environment leave it to this one.
bool is_of_meeting(const interpreter::ProblemEvent& problem);
void check_program_rendezvous(const Record& record, Report& report);
// The processes that `spawn` starts, against those that the group is told of and what its function takes.
void check_spawned(const Record& record, Report& report);

}  // namespace stepzero::rules::launch
