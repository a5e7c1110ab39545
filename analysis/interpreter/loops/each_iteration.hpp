// iter(function, last): what calls the function in each iteration.
#pragma once

#include "interpreter/interpreter.hpp"
#include "values/kept.hpp"

namespace stepzero::interpreter {

// The attribute of such an iterator that holds both, as a tuple.
inline const syntax::Name called_each_iteration{values::EngineNotes::each};

}  // namespace stepzero::interpreter
