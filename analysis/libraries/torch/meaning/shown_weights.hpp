// Which parameter or buffer a tensor shows: what is written into `p.data` or `p.detach()` is written into
// `p`.
#pragma once

#include "libraries/torch/meaning/op_semantics.hpp"

namespace stepzero::libraries {

// Is the result the tensor that was given first, written into? `p.mul_(m)`, `p.copy_(…)`.
bool writes_in_place(const values::Producer& made);

// The tensor itself, or what is behind `.data`, `detach()` and writes in place; null if that is no parameter
// and no buffer, or is not known.
const values::Tensor* shown_weights(values::Value value);

// May a write of this kind be the last of a weighted sum? `p.mul_(m).add_(q, alpha=1 - m)`, `p.copy_(…)`.
bool averages(OpSemantics semantics);

}  // namespace stepzero::libraries
