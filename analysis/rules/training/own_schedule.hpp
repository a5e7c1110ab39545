// Schedules that the program writes itself, as a function of the step: what its arithmetic says of the
// warm-up and of the end. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <optional>
#include <vector>

namespace stepzero::rules {

// What the function compares the step with, or divides it by.
std::vector<symbolic::Int> marks_of_function(
    const Record& record, const values::Function& function, symbolic::Int step);

// The learning rate rises until the one, and has come to its end at the other; where they are numbers.
struct OwnSchedule {
  std::optional<std::int64_t> warmup, total;
  bool rises_again = false;  // a cosine that nothing holds at its end
};
OwnSchedule own_schedule(const Record& record, const values::Function& function, symbolic::Int step);
// The same where the step is no symbol to the run, such as a share of an epoch: of what the function computes
// of the parameter by its name.
OwnSchedule own_schedule(
    const Record& record, const values::Function& function, const syntax::Parameter& parameter);

}  // namespace stepzero::rules
