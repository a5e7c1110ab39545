// Names of the command line's namespace that no parser declares.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// `args.name` is asked for, and nobody was seen setting it: a problem where all that the namespace has is
// known.
void judge_declared(Interpreter& run, const values::Instance& object, syntax::Name name, Place where);

}  // namespace stepzero::interpreter
