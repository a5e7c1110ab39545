// What the shape rules have in common: an operator found that it cannot succeed and worded why; a rule tells it.
#pragma once

#include "rules/report.hpp"

#include <functional>

namespace stepzero::rules {

// Reports every problem of the kind: an error, or a warning that names the assumption where the operation fails only under
// one. Problems inside a try, or in a test that expects them, are left out. What would mend them becomes fixes. `refine` may add fixes and related locations.
void report_problems(const Record& record, Report& report, values::ProblemKind kind, Severity severity,
                     const std::function<void(const ProblemEvent&, Finding&)>& refine = {});

} // namespace stepzero::rules
