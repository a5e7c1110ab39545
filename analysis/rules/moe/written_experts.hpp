// Numbers of experts and of those that a token goes to, where they are written side by side: keywords of one
// call, defaults of one signature, fields of one class, options of one command line.
#pragma once

#include "rules/report.hpp"

#include <vector>

namespace stepzero::rules {

// `told`: places of which the same was told already.
void report_written_experts(const Record& record, Report& report, const std::vector<values::Place>& told);

}  // namespace stepzero::rules
