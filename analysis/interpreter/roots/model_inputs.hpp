// Where what a model takes lies, whose forward nobody calls here.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Whoever calls it has brought what it takes to where the model lies, if nothing says where that is.
void note_model_inputs(
    Interpreter& run, Value module, const values::Function& function, const values::Scope& scope);

}  // namespace stepzero::interpreter
