// Going through typed syntax, outermost first. Knows no meaning.
#pragma once

#include "syntax/ast.hpp"

#include <functional>
#include <string_view>

namespace stepzero::syntax {

// Calls `each` for the blocks that stand directly in a statement: bodies, else branches, handlers, arms.
void for_each_block(const Stmt& stmt, const std::function<void(Block)>& each);
// Calls `each` for a statement and the statements in it.
void for_each_statement(const Stmt& stmt, const std::function<void(const Stmt&)>& each);
// Calls `each` for every expression that a statement, or one in it, evaluates as it is run; targets that are
// plain names, targets of loops and of `with`, annotations, decorators, and defaults are left out.
void for_each_expression(const Stmt& stmt, const std::function<void(const Expr&)>& each);
void for_each_expression(const Expr& expr, const std::function<void(const Expr&)>& each);

// `c` of `c` and of `a.b.c`; empty for another expression.
std::string_view last_name(const Expr& expr);

}  // namespace stepzero::syntax
