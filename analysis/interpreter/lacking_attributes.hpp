// Attributes that an object of the program's own class lacks: nobody sets them, and reading them raises.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The attribute is read, and neither the object nor its class has it.
void judge_lacking(Interpreter& run, const values::Instance& object, syntax::Name name, Place where);

} // namespace stepzero::interpreter
