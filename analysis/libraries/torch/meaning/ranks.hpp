// Tensors of one rank: where a tensor of which not even the rank is known was made from another by an
// operator that keeps the leading dimensions, what is found out of the one is true of the other.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// After an operator that answered `made`: remembers what it was made from, if that is worth it.
void follow_rank(Op& op, Value made);

// The tensor that had this `shape_value` was found to have the shape: so has what it was made from, as far as
// they agree.
void learn_source(Runtime& run, Value shape_value, const Shape& learned);
// The same where only its last dimension was found, to be shown: what has the same last dimension ends with
// it, too.
void learn_ends(Runtime& run, Value shape_value, const Shape& learned);

}  // namespace stepzero::libraries
