// The rows of optimizers.
#pragma once

#include "torch/native.hpp"

namespace stepzero::torch {

std::vector<Row> optimizer_rows();
Value optimizer_step(Call& call);
bool has_step_hooks(Interpreter& run, const Instance& optimizer);

} // namespace stepzero::torch
