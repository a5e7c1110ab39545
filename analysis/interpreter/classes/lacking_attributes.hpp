// Attributes that an object of the program's own class lacks: nobody sets them, and reading them raises.
#pragma once

#include "interpreter/interpreter.hpp"
#include "values/kept.hpp"

namespace stepzero::interpreter {

// The attribute that says of a module that TorchScript made it anew: it has attributes of its own, such as
// `save`.
inline const syntax::Name scripted{values::ModuleState::scripted};

// The attribute is read, and neither the object nor its class has it.
void judge_lacking(Interpreter& run, const values::Instance& object, syntax::Name name, Place where);

}  // namespace stepzero::interpreter
