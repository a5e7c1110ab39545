// What a condition on the number of a tensor's dimensions says of the tensor: `if x.dim() != 3: raise`,
// `assert x.ndim == 4`.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// The condition holds from here on, on this path: the tensors among these variables whose number of
// dimensions it gives have so many.
void learn_ndims(Interpreter& run, const values::Table& variables, Cond holds);

// A branch is taken by such a condition, or by its opposite: the variables of the scope that it asks about
// are marked on this path.
void note_required_ndims(Interpreter& run, values::Scope& scope, Cond holds);
// Was the path since the function began chosen by the number of dimensions of this variable, which was not
// known?
bool asked_for_ndim(const values::Scope& scope, syntax::Name variable);
// The same of a variable that may be no tensor: do these conditions ask for its `ndim`?
bool asked_for_ndim(Interpreter& run, const OpenQuestions& questions, const values::Scope& scope,
    syntax::Name variable, std::span<const Cond> taken);

// A method of something unknown was called without arguments: `x.dim()` of what may be an array.
void note_asked_ndim(Runtime& run, Value method, Value answer);

}  // namespace stepzero::interpreter
