// Where a job communicates. Knows no rule.
#pragma once

#include "rules/report.hpp"

#include <string_view>

namespace stepzero::rules {

// The name of the backend of the default group, if it takes tensors on GPUs alone wherever the job makes one;
// else empty.
std::string_view backend_of_gpus(const Record& record);
// Does the program certainly have tensors on a GPU, or such a backend?
bool computes_on_gpus(const Record& record);

}  // namespace stepzero::rules
