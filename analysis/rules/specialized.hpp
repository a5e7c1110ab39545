// Which rule tells a problem that the run found: one that knows models says some of them better than the
// shape rule.
#pragma once

#include "rules/provenance.hpp"

namespace stepzero::rules {

// The rule's id; empty: the shape rule of the problem's kind.
std::string_view reporting_rule_of(const Record& record, const ProblemEvent& problem);
// Does the class, or the function, around the place speak of experts? Only to say it in their words, or to
// keep silent about others.
bool speaks_of_experts(const Record& record, Place place);
// Reports the problems that the rule tells, as errors; `words` completes the message and may relate places.
void report_specialized(const Record& record, Report& report, std::string_view rule,
    const std::function<std::string(const ProblemEvent&)>& words,
    const std::function<void(const ProblemEvent&, Finding&)>& refine = {});

}  // namespace stepzero::rules
