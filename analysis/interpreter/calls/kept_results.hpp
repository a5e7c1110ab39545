// Functions that keep their results: a call with what one was called with before gives back what came of it
// then, and the body does not run.
#pragma once

#include "interpreter/runtime.hpp"

namespace stepzero::interpreter {

// The same function in another object, which is marked by itself.
values::Function* same_function(values::Heap& heap, const values::Function& function);

// A function that keeps the results of the last `most` calls; of all, if that is None.
Value keeping_results(Runtime& run, const values::Function& function, Value most);
bool keeps_results(const values::Function& function);
// Of `function` a decorator made another that keeps its results: `function` does so itself from here on.
// False: the decorator did something else.
bool takes_over_results(Runtime& run, values::Function& function, Value made);

}  // namespace stepzero::interpreter
