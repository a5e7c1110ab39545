// The names that an assignment or a loop gives values to, and old ways to bring a batch to a device. Shared
// by the searches for batches that stay where they are.
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

// `x.type(Tensor)`: the old names of types say the device as well. A dtype is written `torch.float32`.
inline bool may_take_device(const syntax::CallExpr& call) {
  if (call.function->kind != syntax::ExprKind::attribute || call.arguments.size() != 1 ||
      syntax::as<syntax::AttributeExpr>(*call.function).attribute.text() != "type")
    return false;
  const syntax::Expr& type = *call.arguments[0];
  return type.kind != syntax::ExprKind::attribute ||
      syntax::as<syntax::AttributeExpr>(type).attribute.text().ends_with("Tensor");
}

}  // namespace stepzero::rules
