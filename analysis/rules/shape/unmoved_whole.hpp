// Batches of which no part is moved, and a model that was moved where the loop over them stands.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_batches_left_whole(const Record& record, Report& report);

}  // namespace stepzero::rules
