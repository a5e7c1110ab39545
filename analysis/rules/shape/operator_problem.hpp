// What the shape rules have in common: an operator found that it cannot succeed and worded why; a rule tells
// it.
#pragma once

#include "rules/report.hpp"

#include <functional>

namespace stepzero::rules {

// Why nothing is said of a problem, for developers; empty: it is told.
std::string_view silence_of(const Record& record, const ProblemEvent& problem, const interpreter::Root& root,
    std::string_view message);

// How severe a problem is, and its message completed: an error that happens under an assumption, or with the
// defaults of what nobody calls, is a warning that says so. Nothing where it is not told: inside a try, in a
// test that expects it, or in another file on a way that the call here need not take.
std::optional<Severity> qualify(const Record& record, const ProblemEvent& problem,
    const interpreter::Root& root, Severity severity, std::string& message);

// Reports every problem of the kind: an error, or a warning that names the assumption where the operation
// fails only under one. What would mend them becomes fixes. `refine` may add fixes and related locations.
// `reporting_rule` is the rule that tells them (reporting_rule_of).
void report_problems(const Record& record, Report& report, values::ProblemKind kind, Severity severity,
    const std::function<void(const ProblemEvent&, Finding&)>& refine = {},
    std::string_view reporting_rule = {});

}  // namespace stepzero::rules
