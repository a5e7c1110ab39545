// Losses whose targets are classes, and what all losses share.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// The loss as a result: a single number, or what each element has.
Value reduced(Op& op, const Shape& each, values::Dtype dtype);
bool known_unequal(Op& op, const Shape& a, const Shape& b);
bool certainly_equal(Op& op, const Shape& a, const Shape& b);
// Of two shapes that have to be equal, what is known of either.
Shape better_shape(Op& op, const Shape& a, const Shape& b);

Value cross_entropy(Op& op);
Value negative_likelihood(Op& op);
Value linear_cross_entropy(Op& op);

}  // namespace stepzero::libraries
