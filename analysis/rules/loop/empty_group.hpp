// Optimizers made of groups of which one is empty, while what it was meant for is in none.
#pragma once

#include "rules/report.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::loop {

void look_for_empty_groups(const TrainingRoot& training_root, Report& report, Once& once);

}  // namespace stepzero::rules::loop
