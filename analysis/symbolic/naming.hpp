// How much of what an expression asks for has a name in the program. Asked of the symbols; only in a name
// that was put together a part without one stands as `?`.
#pragma once

#include "symbolic/expression.hpp"

namespace stepzero::symbolic {

// A truth value of which not even a name is known.
bool is_anonymous(Cond condition);
// Has all that it asks for a name, and is none of it computed anew by a call, as `len(batch)` is?
bool asks_by_names(Cond condition);

}  // namespace stepzero::symbolic
