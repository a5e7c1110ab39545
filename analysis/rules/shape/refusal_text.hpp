// What is said of a problem that an operator found: one template for each way to refuse a call.
#pragma once

#include "rules/report.hpp"

#include <string>

namespace stepzero::rules {

// What is wrong, without the last full stop; empty where a rule looks at the operands itself.
std::string text_of(const Record& record, const ProblemEvent& problem);
// Relates where the sizes come from, and what else explains the problem.
void relate_evidence(
    const Record& record, const Report& report, Finding& finding, const ProblemEvent& problem);

}  // namespace stepzero::rules
