// What the next iteration of a loop is likely to do to what one of them changed: a loop that foresees it is
// run less often until its head's state holds. Nothing is proven by it.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Of all of these, what was made since then is the iteration's own.

// Was the key made since that time? Then it is one of this iteration: no other asks for it.
bool is_made_since(const symbolic::Context& symbols, Value key, std::uint64_t since);

// `wide` is what a list or a dict holds that held `before`, after one iteration. What the first iteration
// added to one of which not all is known, the second adds another of: that is what it holds after any number.
Value as_of_several(Interpreter& run, Value before, Value wide, std::uint64_t since);

// Is what was widened, as an iteration left `end`, hardly other after the next one? What this one made is
// another then, and what it is not known to be is changed in place once more.
bool is_settled(const symbolic::Context& symbols, Value wide, Value end, std::uint64_t since);

}  // namespace stepzero::interpreter
