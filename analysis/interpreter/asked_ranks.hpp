// What a condition on the number of a tensor's dimensions says of the tensor: `if x.dim() != 3: raise`, `assert x.ndim == 4`.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The condition holds from here on, on this path: the tensors among these variables whose number of dimensions it gives have so many.
void learn_ranks(Interpreter& run, const values::Table& variables, Cond holds);

} // namespace stepzero::interpreter
