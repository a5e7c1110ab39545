#include "interpreter/classes/meant_name.hpp"

#include "syntax/walk.hpp"

namespace stepzero::interpreter {

void offer_name(const Record& record, ProblemEvent& problem, syntax::Name written, std::string_view meant) {
  const ChunkOf& chunk = record.chunk(problem.place);
  if (meant.empty() || !chunk.chunk || !chunk.chunk->stmt) return;
  const syntax::AttributeExpr* found = nullptr;
  syntax::for_each_expression(*chunk.chunk->stmt, [&](const syntax::Expr& expr) {
    if (found || expr.kind != syntax::ExprKind::attribute || !problem.place.span.holds(expr.span) ||
        expr.span.begin != problem.place.span.begin)
      return;
    if (syntax::as<syntax::AttributeExpr>(expr).attribute == written)
      found = &syntax::as<syntax::AttributeExpr>(expr);
  });
  if (!found) return;
  const std::string_view owner = record.text(
      {problem.place.chunk, {found->span.begin, found->attribute_span.begin}});
  problem.suggested_edits.push_back({SuggestedEdit::How::replace, "", found,
      std::string(owner) + std::string(meant), "Write `" + std::string(meant) + "`"});
}

}  // namespace stepzero::interpreter
