// Does a comparison ask whether the process was told its rank, as `local_rank != -1`?
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// By its name alone `local_rank` may be what one process without a launcher has, which is below 0 by custom:
// who compares it with such numbers asks for that. Null: the question is another.
Cond asks_for_rank(Interpreter& run, symbolic::Compare op, Int left, Int right);

}  // namespace stepzero::interpreter
