// The names that an assignment or a loop gives values to. Shared by the searches for batches that stay where
// they are.
#pragma once

#include "syntax/walk.hpp"

#include <set>
#include <string_view>

namespace stepzero::rules {

inline void add_names_of(const syntax::Expr& target, std::set<std::string_view>& names) {
  syntax::for_each_expression(target, [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::name) names.insert(syntax::as<syntax::NameExpr>(expr).id.text());
  });
}

}  // namespace stepzero::rules
