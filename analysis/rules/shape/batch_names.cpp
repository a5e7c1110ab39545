#include "rules/shape/batch_names.hpp"

#include "rules/call_at.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

BatchLoop batch_loop_around(const Record& record, Place place) {
  BatchLoop found;
  const ChunkOf& chunk = record.chunk(place);
  if (!chunk.statement()) return found;
  for (const Enclosing& each : enclosing(*chunk.chunk->stmt, place.span)) {
    if (each.stmt->kind == StmtKind::function) found = {&as<FunctionStmt>(*each.stmt), nullptr};
    if (each.stmt->kind == StmtKind::for_) found.loop = &as<ForStmt>(*each.stmt);
  }
  return found;
}

const CallExpr* call_of(const Record& record, const OperationEvent& event) {
  return event.expr ? event.expr : call_at(record, event.place);
}

void add_names_of(const Expr& target, std::set<std::string_view>& names) {
  for_each_expression(target, [&](const Expr& expr) {
    if (expr.kind == ExprKind::name) names.insert(as<NameExpr>(expr).id.text());
  });
}

std::set<std::string_view> names_of_batch(const ForStmt& loop, std::string_view (*base)(const Expr*)) {
  std::set<std::string_view> names;
  add_names_of(*loop.target, names);
  for (bool grows = true; grows;) {
    const std::size_t before = names.size();
    for_each_statement(loop, [&](const Stmt& stmt) {
      if (stmt.kind != StmtKind::assign || !as<AssignStmt>(stmt).value) return;
      if (!names.contains(base(as<AssignStmt>(stmt).value))) return;
      for (const Expr* target : as<AssignStmt>(stmt).targets)
        if (target->kind == ExprKind::name || target->kind == ExprKind::tuple ||
            target->kind == ExprKind::list)
          add_names_of(*target, names);
    });
    grows = names.size() > before;
  }
  return names;
}

bool may_take_device(const CallExpr& call) {
  if (call.function->kind != ExprKind::attribute || call.arguments.size() != 1 ||
      !is_attribute(*call.function, Says::casting))
    return false;
  const Expr& type = *call.arguments[0];
  return type.kind != ExprKind::attribute || is_attribute(type, Says::old_type);
}

bool fails_by_device(const Record& record, std::uint32_t chunk, Span span) {
  const auto inside = [&](Place place) { return place.chunk == chunk && span.holds(place.span); };
  bool found = false;
  visit_kind(record, EventKind::problem, [&](const Event& event) {
    if (found) return;
    const auto& problem = static_cast<const ProblemEvent&>(event);
    if (problem.problem != values::ProblemKind::device) return;
    found = inside(problem.place);
    for (const CallSite* site = problem.calls; site && !found; site = site->outer)
      found = inside(site->place);
  });
  return found;
}

}  // namespace stepzero::rules
