// A loop that puts a model into evaluation mode and goes on training it so.
#pragma once

#include "rules/report.hpp"
#include "rules/training/training.hpp"

namespace stepzero::rules::loop::eval_mode {

void look_for_left_in_evaluation(const Record& record, const Training& training, Report& report, Once& once);

}  // namespace stepzero::rules::loop::eval_mode
