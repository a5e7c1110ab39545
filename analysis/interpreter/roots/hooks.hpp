// Hooks: methods of a library class that a class of the program writes, and the library calls.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// What the library gives to a parameter of a hook, where it has a row for the hook and for that name
// (`$given.control`, whose base is the class of what is given); absent otherwise.
Value given_to_hook(Interpreter& run, const values::Function& function, syntax::Name parameter, Place born);

// The row that is run where an attribute of a library's object is set: `$set.should_save` beside the property
// of that name. May be null.
const Row* setter_row(const Interpreter& run, std::string_view class_path, syntax::Name attribute);

}  // namespace stepzero::interpreter
