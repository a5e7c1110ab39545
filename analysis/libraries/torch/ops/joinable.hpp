// Which dimensions a view may join: those whose elements follow each other in memory.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

bool lies_in_order(const Op& op, const values::TensorState& state);
// Refuses a view of the input as `out` that would join others.
void check_strides(Op& op, const values::TensorState& input, const values::Shape& out);

}  // namespace stepzero::libraries
