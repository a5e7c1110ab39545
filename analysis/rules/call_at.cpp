#include "rules/call_at.hpp"

#include "syntax/walk.hpp"

namespace stepzero::rules {

const syntax::CallExpr* call_at(const interpreter::Record& record, values::Place place) {
  if (!place || place.chunk >= record.chunks.size()) return nullptr;
  // What an edit elsewhere left standing is written in the text before it, which is the same.
  const auto& chunk = record.chunk(place).chunk;
  if (!chunk || !chunk->stmt) return nullptr;
  const syntax::CallExpr* found = nullptr;
  syntax::for_each_expression(*chunk->stmt, [&](const syntax::Expr& expr) {
    if (expr.kind == syntax::ExprKind::call && expr.span == place.span)
      found = &syntax::as<syntax::CallExpr>(expr);
  });
  return found;
}

}  // namespace stepzero::rules
