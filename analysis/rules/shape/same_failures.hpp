// The same call that fails in the same way, with each of the values that its operands may have: when it fails
// in all.
#pragma once

#include "rules/report.hpp"

#include <vector>

namespace stepzero::rules {

// The questions that a condition is made of: `n > 1` and `n <= 1` are one.
void questions_of(symbolic::Context& symbols, symbolic::Cond condition, std::vector<symbolic::Cond>& found);
// Those of the conditions under which the call fails.
std::vector<symbolic::Cond> questions_of_failures(const Record& record, const ProblemEvent& problem);
// Does the call fail where other values are chosen as well, of other sizes?
bool fails_otherwise(const Record& record, const ProblemEvent& problem);
// Do the branches around rule out the value that fails: on the other side of `isinstance(model, Wrapper)` it
// is none of the wrappers?
bool is_ruled_out(const Record& record, const ProblemEvent& problem, const interpreter::Root& root);
// The same call fails for each of the values that one of its operands may have where it is made: it fails.
bool fails_on_each(const Record& record, const ProblemEvent& problem, const interpreter::Root& root);
// The condition without the questions whose answer changes nothing: the same call fails on their other side,
// too.
symbolic::Cond needed_of(const Record& record, const ProblemEvent& problem);

}  // namespace stepzero::rules
