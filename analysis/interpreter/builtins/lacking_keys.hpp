// A key that a dict has not: Python raises KeyError where it is read.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Tells it where all keys of the dict are known, and this is none of them.
void judge_lacking_key(Interpreter& run, Value dict, Value key, const syntax::Expr& node, Place where);

}  // namespace stepzero::interpreter
