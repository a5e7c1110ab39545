// The None of a function that returns nothing: what Python refuses to do with it.
#pragma once

#include "interpreter/interpreter.hpp"

#include "interpreter/refusals.hpp"

namespace stepzero::interpreter {

// What a call of the function gives that came to its end without a `return`: None, and of whom, where no
// `return` of its own gives a value and none is to be expected of a class that derives from it. `scope` holds
// the arguments.
Value nothing_of(Interpreter& run, const values::Function& function, const values::Scope& scope);

// Tells that such a None is used; The value that the run goes on with; absent for any other
// value.
Value refuse_nothing(
    Interpreter& run, Value value, NoResult::Use use, Place where, std::string_view attribute = {});

}  // namespace stepzero::interpreter
