#include "rules/call_at.hpp"

#include "syntax/walk.hpp"

namespace stepzero::rules {

const syntax::CallExpr* call_at(const interpreter::Record& record, values::Place place) {
  if (!place || place.chunk >= record.chunks.size() || !record.chunk(place).statement()) return nullptr;
  const syntax::CallExpr* found = nullptr;
  syntax::for_each_expression(*record.chunk(place).statement(), [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::call && expr.span == place.span)
      found = &syntax::as<syntax::CallExpr>(expr);
  });
  return found;
}

}  // namespace stepzero::rules
