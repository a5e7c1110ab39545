// Attributes that an object of the program's own class lacks, or a tuple or list that it writes down: nobody
// sets them, and reading them raises.
#pragma once

#include "interpreter/runtime.hpp"
#include "values/kept.hpp"

namespace stepzero::interpreter {

class Interpreter;

// The attribute that says of a module that TorchScript made it anew: it has attributes of its own, such as
// `save`.
inline const syntax::Name scripted{values::ModuleState::scripted};

// The attribute is read, and neither the object nor its class has it.
void judge_lacking(Interpreter& run, const values::Instance& object, syntax::Name name, Place where);

// Has a tuple or list that the program shows the attribute? Unknown of others, and of private names.
symbolic::Answer is_in_display(Value object, syntax::Name name);

// The same of a tuple or a list, where the program shows it: `return x, y`. Null: it has the attribute, or
// nobody knows. Else what the read is taken to give.
Value judge_lacking_of_display(Interpreter& run, Value object, syntax::Name name, Place where);

}  // namespace stepzero::interpreter
