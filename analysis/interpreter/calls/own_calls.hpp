// Calls, and reads of items, of what has none: Python raises TypeError.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The value is called: told where it is a text or a container.
void judge_callable(Interpreter& run, Value value, const syntax::CallExpr& expr, Place where);
// An item is read of a method of a tensor: `x.size[0]`.
void judge_indexed(
    Interpreter& run, const values::Bound& method, const syntax::SubscriptExpr& expr, Place where);

}  // namespace stepzero::interpreter
