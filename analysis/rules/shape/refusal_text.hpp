// What is said of a problem that the run found: one template for each way to refuse a call.
#pragma once

#include "interpreter/reasons.hpp"
#include "rules/report.hpp"

#include <initializer_list>
#include <string>

namespace stepzero::rules {

// What is wrong, without the last full stop; empty where a rule looks at the operands itself.
std::string text_of(const Record& record, const ProblemEvent& problem);
std::string text_of(const Record& record, const interpreter::RefusalBox* refusal);
// The same of one that has no sizes: what a configuration says.
std::string text_of(const interpreter::Refusal& refusal);

// The refusal of this kind; null: it is another one.
template <class Kind> const Kind* refusal_of(const ProblemEvent& problem) {
  return problem.refusal ? std::get_if<Kind>(&problem.refusal->refusal) : nullptr;
}
bool is_for(const ProblemEvent& problem, std::initializer_list<interpreter::Reason> reasons);
// Is one of the parts that name something this one?
bool names(const ProblemEvent& problem, std::string_view name);

// Relates where the sizes come from, and what else explains the problem.
void relate_evidence(
    const Record& record, const Report& report, Finding& finding, const ProblemEvent& problem);

}  // namespace stepzero::rules
