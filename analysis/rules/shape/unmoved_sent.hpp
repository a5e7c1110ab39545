// Tensors on the CPU that are sent to the other ranks, where the others or the backend are on GPUs.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

void look_for_unmoved_messages(const Record& record, Report& report);

}  // namespace stepzero::rules
