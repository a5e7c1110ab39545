// launch/environment in programs: variables that the program sets for itself and for the libraries that it
// uses.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules::launch {

void check_program_environment(const Record& record, Report& report);

}  // namespace stepzero::rules::launch
