// Part of shape/loss-target.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_classes_last(const Record& record, Report& report);
// The same of the batch, of a loss that takes it second and is told the lengths of sequences.
void look_for_batch_first(const Record& record, Report& report);

}  // namespace stepzero::rules
