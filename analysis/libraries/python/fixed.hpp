// Numbers that stand in the text: literals, names of a module that are given one number and never another,
// and what is computed of these.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// `expr` stands at `place`.
bool is_fixed(Runtime& run, const syntax::Expr& expr, values::Place place);

}  // namespace stepzero::libraries
