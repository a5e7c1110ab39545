// A function that is told which device to use, and runs a model over batches that it moves nowhere.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_unmoved_batches(const Record& record, Report& report);

}  // namespace stepzero::rules
