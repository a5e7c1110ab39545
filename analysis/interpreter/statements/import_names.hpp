// What the text of an import, and the names of files, say of where a name is found. Runs nothing.
#pragma once

#include "program/imports.hpp"
#include "syntax/ast.hpp"

#include <functional>
#include <vector>

namespace stepzero::interpreter {

// The body of `if TYPE_CHECKING:`; null: the statement is none.
const syntax::Block* names_for_types(const syntax::Stmt& stmt);
// The imports from the own package in it, also those that a library makes only where what they need is
// installed.
void each_import_for_types(
    syntax::Block block, const std::function<void(const syntax::ImportFromStmt&)>& found);
// The modules whose names a module takes all of, in the order in which they are looked into for the name.
std::vector<program::Target> by_name(const std::vector<program::Target>& stars, syntax::Name name);

}  // namespace stepzero::interpreter
