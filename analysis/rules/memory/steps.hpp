// What rules about amounts of memory share: which steps are accounted for on a GPU of their own. Knows no
// rule.
#pragma once

#include "footprint/account.hpp"
#include "rules/report.hpp"

#include <vector>

namespace stepzero::rules {

// Does something divide the model, or its optimizer's state, among processes or devices?
bool is_divided(const footprint::Account& account);
// The steps of the program: those that may run on a GPU, of runs that came to their end. With `open_sizes`:
// those too in which sizes are open.
std::vector<const footprint::StepAccount*> steps_on_gpu(const footprint::Account& account, bool open_sizes);
// Does the program make a backward by its own statements? Else there is nothing to account for. Found out
// once for a record.
bool has_steps(const Record& record);

}  // namespace stepzero::rules
