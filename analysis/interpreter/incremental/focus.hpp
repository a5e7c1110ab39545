// The function that an edit changed. Where the rest of the file takes long, what the edit did to this one is
// shown first. Compares two versions of a statement, runs nothing.
#pragma once

#include "syntax/ast.hpp"
#include "values/value.hpp"

#include <optional>
#include <string_view>

namespace stepzero::interpreter {

struct Focus {
  syntax::Name owner;                         // the class whose method it is; empty: a function by itself
  const syntax::FunctionStmt* was = nullptr;  // before the edit; null: there was none of its name
  const syntax::FunctionStmt* is = nullptr;   // now
};

// Of a top-level function or class before and after an edit, with their texts: the function that holds all
// that changed. Nothing where the edit reaches beyond one function, or changed what is defined.
std::optional<Focus> find_focus(
    const syntax::Stmt& was, std::string_view text_before, const syntax::Stmt& is, std::string_view text_now);

// The root that showed what an edit did, by names: the next edit of the same function is shown by it, too.
struct FocusRoot {
  syntax::Name edited_owner, edited;         // the function that was edited
  syntax::Name owner, function;              // the root: see RootRun
  const values::Function* called = nullptr;  // null: there was none
};

}  // namespace stepzero::interpreter
