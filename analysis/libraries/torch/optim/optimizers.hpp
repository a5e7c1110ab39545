// The rows of optimizers.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

std::vector<Row> optimizer_rows();
Value optimizer_step(Call& call);
bool has_step_hooks(Runtime& run, const Instance& optimizer);

}  // namespace stepzero::libraries
