// Gradients that no_sync() holds back and that the optimizer steps all the same. Knows the wrapper's own
// manager alone.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_held_back(const Record& record, Report& report);

}  // namespace stepzero::rules
