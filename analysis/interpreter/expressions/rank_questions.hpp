// Does a comparison ask whether the process was told its rank, as `local_rank != -1`?
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// By its name alone `local_rank` may be what one process without a launcher has, which is below 0 by custom:
// who compares it with such numbers asks for that. Null: the question is another.
Cond asks_for_rank(Interpreter& run, symbolic::Compare op, Int left, Int right);

// Is the value the process's rank, or another number of the job's, and not yet a number of its own? Who asks
// a value of that name for None, or for its type, may have something else.
bool is_role(Interpreter& run, values::Value value);
// `args.rank is None`, of a field or a parameter that is a rank by its name alone: the same answer each time.
// Null: the question is another.
Cond asks_for_none(Interpreter& run, const values::Function* function, const syntax::Expr& asked,
    values::Value value, values::Value other);

}  // namespace stepzero::interpreter
