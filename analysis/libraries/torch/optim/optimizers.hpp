// The rows of optimizers.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

std::vector<Row> optimizer_rows();
Value optimizer_step(Call& call);
// Does it keep something of the gradients for its next step? Plain descent does not; what a class of the
// program does is its own.
bool keeps_state(const Instance& optimizer);
bool has_step_hooks(Runtime& run, const Instance& optimizer);

}  // namespace stepzero::libraries
