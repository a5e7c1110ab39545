// Where shapes are shown: a residual connection, `x = x + block(norm(x))`, keeps the shape of x, whatever is
// known of the block.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// `sum` made `made`: if one operand is a name, and the other a call that was given it, the tensor has as many
// dimensions as the name's.
void keep_residual(Interpreter& run, const syntax::BinaryExpr& sum, Value left, Value right, Value made);
// The same of `x = x + …` and its like, whatever is added: `before` is what the name held.
void keep_updated(Interpreter& run, Value before, Value made);

}  // namespace stepzero::interpreter
