// Modules as text, for tests and for debugging. The text says everything that a module holds, with absolute
// spans.
#pragma once

#include "syntax/document.hpp"

#include <string>

namespace stepzero::syntax {

// An S-expression for each item, and a line for each comment: `(assign 0:5 (targets (name 0:1 x)) (integer
// 4:5 1))`. A missing part is `-`; strings are in hexadecimal after `#` where they are not plain.
std::string dump(const Module& module);
// Of one statement, without spans: two of the same dump differ at most in where they stand, in comments and
// in blanks.
std::string dump_without_places(const Stmt& stmt);

}  // namespace stepzero::syntax
