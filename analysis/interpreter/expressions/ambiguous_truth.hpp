// The truth of a tensor: of one element alone. Python raises RuntimeError where it is asked of more.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The value, whose truth is asked at the place; told where that cannot succeed.
Value asked_for_truth(Interpreter& run, Value value, Place where);

}  // namespace stepzero::interpreter
