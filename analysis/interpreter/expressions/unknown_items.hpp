// What the program stores under the keys of something of which nothing is known, as in `batch["x"] = x` or
// `outputs[i] = y`.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// What is stored under a key that cannot be compared with others is not kept, nor what is known of those
// others.
void store_item(Interpreter& run, values::Unknown& object, Value index, Value value);
// Has the program stored anything in it, on any path?
bool was_stored_in(const values::Unknown& object);
// What was stored under the key of this item; null if it still is what was there.
const values::Slot* stored_item(const values::Unknown& object, std::size_t item);

}  // namespace stepzero::interpreter
