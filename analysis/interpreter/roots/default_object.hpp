// What a parameter without a default is taken for where all that may be left out is left out.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The class of the program that the parameter is annotated with; without an annotation the only class known
// in the function's module that has every attribute which the function reads of the parameter. Null: there is
// none, it is a model, or its constructor needs arguments.
values::Class* class_by_default(
    Interpreter& run, const values::Function& function, const syntax::Parameter& parameter);

}  // namespace stepzero::interpreter
