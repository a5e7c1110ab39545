// Does the body of a loop ask for the number of its iteration? Then its first iteration is worth a run of its
// own.
#pragma once

#include "syntax/ast.hpp"

namespace stepzero::interpreter {

bool asks_for(syntax::Block body, syntax::Name number, int depth = 0);
// Does an iteration ask which one it is? Else the first is as any other.
bool reads(syntax::Block body, syntax::Name number);
// Is the number, or what is computed of it, an index? Then the last iteration is, too.
bool takes_by(syntax::Block body, syntax::Name number);

}  // namespace stepzero::interpreter
