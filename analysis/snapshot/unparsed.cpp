#include "snapshot/unparsed.hpp"

#include "rules/source.hpp"

#include <set>

namespace stepzero::snapshot {

std::vector<std::uint32_t> unparsed_lines(const syntax::Module& module) {
  std::set<std::uint32_t> lines;
  for (const syntax::Item& item : module.items) {
    if (!item.chunk || !item.chunk->has_error || !item.chunk->stmt) continue;
    const auto add = [&](syntax::Span span) {
      lines.insert(module.text->position(span.begin + item.offset, syntax::Encoding::utf8).line);
    };
    const std::size_t before = lines.size();
    rules::for_each_statement(*item.chunk->stmt, [&](const syntax::Stmt& stmt) {
      if (stmt.kind == syntax::StmtKind::error) add(stmt.span);
    });
    rules::for_each_expression(*item.chunk->stmt, [&](const syntax::Expr& expr) {
      if (expr.kind == syntax::ExprKind::error) add(expr.span);
    });
    if (lines.size() == before) add(item.chunk->stmt->span);
  }
  return {lines.begin(), lines.end()};
}

}  // namespace stepzero::snapshot
