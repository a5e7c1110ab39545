// Where the iteration over something begins.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// An object of a library whose `__iter__` communicates does so once, before the first element: what it gives
// then. Any other value itself.
Value begin_iteration(Interpreter& run, Value iterable, Place where);

}  // namespace stepzero::interpreter
