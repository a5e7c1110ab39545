// One value in the place of several.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// Of a choice of tensors of which nothing different is known, and of one of them not even the number of
// dimensions: one tensor of which only what is known of both is known. What is then learned of it holds on
// both ways, which is more than each of them would learn: for what is shown only.
Value one_for_both(values::Heap& heap, Value choice);

// A choice without the sides that are None, where all is done with it that None does not take: who goes on
// has the other side. Only where shapes are shown, and outside of what catches exceptions.
Value without_none(Interpreter& run, Value value);

}  // namespace stepzero::interpreter
