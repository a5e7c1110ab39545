// The device of tensors whose call names none: the innermost `with torch.device(…)`, else the CPU unless the program chose another.
#pragma once

#include "torch/shapes.hpp"

namespace stepzero::torch {

// Null: not known.
const values::Device* device_around(Interpreter& run);

// The device that holds shapes and dtypes alone. What lies there has no numbers to copy.
bool is_meta(const values::Device& device);

} // namespace stepzero::torch
