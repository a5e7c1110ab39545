#include "rules/training/edits.hpp"

#include "rules/source.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::rules {

namespace {

// The statement that the call of the event is all of.
struct Own {
  const syntax::Stmt* stmt = nullptr;
  std::vector<Enclosing> path;
};
std::optional<Own> own_statement(
    const Record& record, const OperationEvent& event, const SourceLines& source) {
  if (!event.expr || !record.in_file(event.place)) return std::nullopt;
  auto path = enclosing(*record.chunk(event.place).chunk->stmt, event.expr->span);
  if (path.empty() || !source.own_line(*path.back().stmt)) return std::nullopt;
  return Own{path.back().stmt, std::move(path)};
}
bool is_all_of(const syntax::Stmt& stmt, values::Place call, const syntax::CallExpr* expr) {
  const syntax::Expr* value =
      stmt.kind == syntax::StmtKind::expression ? syntax::as<syntax::ExpressionStmt>(stmt).value : nullptr;
  if (!value || expr) return value && value == expr;
  return value->span == call.span;
}
bool is_all_of(const syntax::Stmt& stmt, const OperationEvent& event) {
  return is_all_of(stmt, event.place, event.expr);
}

}  // namespace

std::string object_text(const Record& record, const OperationEvent& event, std::string otherwise) {
  if (!event.expr || event.expr->function->kind != syntax::ExprKind::attribute) return otherwise;
  const auto& object = *syntax::as<syntax::AttributeExpr>(*event.expr->function).object;
  return std::string(record.text({event.place.chunk, object.span}));
}

bool is_statement(const Record& record, const OperationEvent& event) {
  return is_statement(record, event.place, event.expr);
}
bool is_statement(const Record& record, values::Place call, const syntax::CallExpr* expr) {
  if (!record.chunk(call).statement()) return false;
  const auto path = enclosing(*record.chunk(call).chunk->stmt, expr ? expr->span : call.span);
  return !path.empty() && is_all_of(*path.back().stmt, call, expr);
}

bool remove_statement(const Record& record, const OperationEvent& event, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own || !is_all_of(*own->stmt, event)) return false;
  const Enclosing& last = own->path.back();
  if (last.block.size() == 1) {
    fix.edits.push_back({{source.path(), source.absolute(own->stmt->span)}, "pass"});
    return true;
  }
  fix.edits.push_back({{source.path(), source.lines(*own->stmt, *own->stmt)}, ""});
  return true;
}

bool insert_before(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own) return false;
  const auto begin = source.lines(*own->stmt, *own->stmt).begin;
  fix.edits.push_back(
      {{source.path(), {begin, begin}}, source.indentation(*own->stmt) + text + source.line_ending()});
  return true;
}

bool insert_after(const Record& record, const OperationEvent& event, const std::string& text, Fix& fix) {
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source);
  if (!own) return false;
  const syntax::Span lines = source.lines(*own->stmt, *own->stmt);
  const bool ended = source.slice(lines).ends_with('\n') || source.slice(lines).ends_with('\r');
  const std::string line = source.indentation(*own->stmt) + text;
  fix.edits.push_back({{source.path(), {lines.end, lines.end}},
      ended ? line + source.line_ending() : source.line_ending() + line});
  return true;
}

bool move_statement(
    const Record& record, const OperationEvent& event, const OperationEvent& to, bool after, Fix& fix) {
  if (event.calls != to.calls || event.place.chunk != to.place.chunk) return false;
  const SourceLines source(record, event.place.chunk);
  const auto own = own_statement(record, event, source), other = own_statement(record, to, source);
  if (!own || !other || own->stmt == other->stmt || !is_all_of(*own->stmt, event)) return false;
  // Within one block: what runs how often stays as it is.
  if (own->path.back().block.data() != other->path.back().block.data()) return false;
  const std::string text(source.slice(source.absolute(own->stmt->span)));
  const syntax::Span lines = source.lines(*own->stmt, *own->stmt);
  std::string moved(source.slice(lines));
  if (!moved.ends_with('\n')) return false;
  fix.edits.push_back({{source.path(), lines}, ""});
  const syntax::Span target = source.lines(*other->stmt, *other->stmt);
  const auto at = after ? target.end : target.begin;
  if (after && !source.slice(target).ends_with('\n'))
    moved = source.line_ending() + moved.substr(0, moved.find_last_not_of("\r\n") + 1);
  fix.edits.push_back({{source.path(), {at, at}}, moved});
  std::sort(fix.edits.begin(), fix.edits.end(),
      [](const TextEdit& a, const TextEdit& b) { return a.where.span.begin < b.where.span.begin; });
  return true;
}

}  // namespace stepzero::rules
