// What is asked of the elements of small tensors of indices.
#pragma once

#include "torch/op.hpp"

namespace stepzero::torch {

// An integer that is among the elements of the tensor and less than `low`, or at least `high`, and is not `except`; null if none is known.
Int number_outside(Op& op, Value indices, Int low, Int high, std::optional<std::int64_t> except = {});

} // namespace stepzero::torch
