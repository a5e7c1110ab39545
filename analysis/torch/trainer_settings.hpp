// The arguments that a program gives the Trainer of transformers: made in a call, or read of a file.
#pragma once

#include "torch/native.hpp"

#include <vector>

namespace stepzero::torch {

std::vector<Row> trainer_setting_rows();

} // namespace stepzero::torch
