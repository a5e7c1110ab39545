// How much of what an expression asks for has a name in the program. Asked of the symbols, not of their text.
#pragma once

#include "symbolic/expression.hpp"

namespace stepzero::symbolic {

// A truth value of which not even a name is known.
bool is_anonymous(Cond condition);
// Has all that it asks for a name, and is none of it computed anew by a call, as `len(batch)` is?
bool asks_by_names(Cond condition);
// A truth value whose name has a part that nobody knows: "mode == ?". Always a new one.
Cond partly_named(Context& context, std::string name, Sharing sharing);

}  // namespace stepzero::symbolic
