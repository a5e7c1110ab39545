// A method that only raises NotImplementedError, or is marked as abstract, is there for the classes that
// derive from its own. Called on an object of which no more is known, it is unseen code; where shapes are
// shown, it is what those classes make of it.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// `NotImplementedError` or `NotImplementedError()` as a statement: the author forgot to raise it.
bool only_names_not_implemented(const syntax::Stmt& stmt);
// Does the method only raise NotImplementedError, or do nothing and say that it is abstract?
bool is_abstract(const syntax::FunctionStmt& function);
// The same of a value that was found in a class.
bool is_left_to_others(Value method);
// Has the class such a method? Then its objects are of other classes, and what these have is not seen here.
bool is_abstract_class(const values::Class& of);

// What the classes beside `cls`, and those among `globals`, that derive from it have in the place of the
// method, bound by `bind`: one of them under the same condition for each of the object's methods. Absent if
// it is not abstract, or there are too many of them.
Value one_of_overrides(Interpreter& run, const values::Class& cls, syntax::Name name, Value found,
    const values::Scope* globals, const std::function<Value(Value)>& bind);

}  // namespace stepzero::interpreter
