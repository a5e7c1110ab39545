// What operators share that reduce dimensions or run along one.
#pragma once

#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

// The operand of a reduction; null, after fail() where it is known to be none.
const TensorState* operand(Op& op);
// Does not know what dim= may be: a tensor, a pair or one.
Value anything(Op& op);
Value reduce(Op& op, Dtype dtype);
// An integer or bool operand where only floats have a mean. False after fail().
bool needs_floats(Op& op, const TensorState& input);
// A dimension without elements has no greatest one. False after fail().
bool has_elements(Op& op, const Shape& shape);
// False after fail() where dim= names no dimension.
bool has_axis(Op& op, const Shape& shape);

}  // namespace stepzero::libraries
