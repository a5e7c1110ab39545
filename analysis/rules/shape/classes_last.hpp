// Part of shape/loss-target.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_classes_last(const Record& record, Report& report);

}  // namespace stepzero::rules
