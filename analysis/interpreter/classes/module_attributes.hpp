// What a module does not take under a name: Python raises where it is assigned.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// `value` is put under `name`, where `held` was before, by `running`.
void judge_module_attribute(Interpreter& run, const values::Instance& module, syntax::Name name, Value held,
    Value value, const values::Function* running, Place where);

}  // namespace stepzero::interpreter
