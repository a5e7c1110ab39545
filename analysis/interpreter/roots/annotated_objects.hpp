// What an annotation says of a parameter that nobody gives: an object of a dataclass of the program, whose
// fields are symbols.
#pragma once

#include "interpreter/interpreter.hpp"

namespace stepzero::interpreter {

// A number, a dataclass of the program, a `Literal[…]` of texts, and `Optional[…]` and `… | None` of the last
// two; absent for every other annotation. Names are looked up from `scope` on; the object and its fields go
// by `name`. A class derived from the one that is named may do otherwise, and nothing makes a caller keep to
// what is annotated: for what is shown only.
Value annotated_object(Interpreter& run, const values::Scope* scope, const syntax::Expr* annotation,
    std::string_view name, Place born);

// `Optional[T]`, `T | None` and `None | T` are T, or None: then `optional` is set. Null for other unions.
const syntax::Expr* annotation_without_none(const syntax::Expr* annotation, bool& optional);

// The class of the program that an annotation names; None if it names none.
Value class_of_annotation(Interpreter& run, const values::Scope* scope, const syntax::Expr* annotation);

}  // namespace stepzero::interpreter
