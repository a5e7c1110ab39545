#include "rules/training/decided_before.hpp"

#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;

namespace {

// What the statement gives values to: names, and attributes as they are written.
std::set<std::string_view> written_in(const Record& record, std::uint32_t chunk, const Stmt& stmt) {
  std::set<std::string_view> found;
  const auto add = [&](const Expr& target) {
    if (target.kind == ExprKind::attribute) found.insert(record.text({chunk, target.span}));
    for_each_expression(target, [&](const Expr& part) {
      if (part.kind == ExprKind::name && target.kind != ExprKind::attribute)
        found.insert(as<NameExpr>(part).id.text());
    });
  };
  for_each_statement(stmt, [&](const Stmt& each) {
    switch (each.kind) {
    case StmtKind::assign:
      for (const Expr* target : as<AssignStmt>(each).targets) add(*target);
      break;
    case StmtKind::aug_assign: add(*as<AugAssignStmt>(each).target); break;
    case StmtKind::ann_assign: add(*as<AnnAssignStmt>(each).target); break;
    case StmtKind::for_: add(*as<ForStmt>(each).target); break;
    case StmtKind::with:
      for (const WithItem& item : as<WithStmt>(each).items)
        if (item.target) add(*item.target);
      break;
    default: break;
    }
  });
  return found;
}

// Attributes that methods of the class change after it is made.
std::set<std::string_view> changed_by_methods(const Record& record, Place place) {
  std::set<std::string_view> found;
  const ChunkOf& chunk = record.chunk(place);
  for (const Enclosing& each : enclosing(*chunk.chunk->stmt, place.span))
    if (each.stmt->kind == StmtKind::class_)
      for (const Stmt* method : as<ClassStmt>(*each.stmt).body)
        if (method->kind == StmtKind::function && as<FunctionStmt>(*method).name.text() != "__init__")
          found.merge(written_in(record, place.chunk, *method));
  return found;
}

bool asks_of_none(const Record& record, std::uint32_t chunk, const Expr& test,
    const std::set<std::string_view>& changed, const std::set<std::string_view>& by_methods) {
  bool free = true;
  for_each_expression(test, [&](const Expr& expr) {
    switch (expr.kind) {
    case ExprKind::name: free = free && !changed.contains(as<NameExpr>(expr).id.text()); break;
    case ExprKind::attribute: {
      const std::string_view text = record.text({chunk, expr.span});
      free = free && !changed.contains(text) && !by_methods.contains(text);
      break;
    }
    case ExprKind::call: {
      const std::string_view called = last_name(*as<CallExpr>(expr).function);
      free = free && (called == "hasattr" || called == "isinstance" || called == "bool");
      break;
    }
    case ExprKind::subscript: break;
    default: break;
    }
  });
  return free;
}

}  // namespace

bool decided_before(const Record& record, const LoopEvent& loop, Place place, Place beside) {
  if (!loop.stmt || loop.place.chunk != place.chunk || !loop.stmt->span.holds(place.span)) return false;
  const auto changed = written_in(record, place.chunk, *loop.stmt);
  const auto by_methods = changed_by_methods(record, place);
  const auto path = enclosing(*loop.stmt, place.span),
             other_path = beside && beside.chunk == place.chunk && loop.stmt->span.holds(beside.span)
      ? enclosing(*loop.stmt, beside.span)
      : decltype(path){};
  for (std::size_t i = 0; i < path.size(); ++i) {
    const Stmt& each = *path[i].stmt;
    const bool other = each.kind == StmtKind::while_ || each.kind == StmtKind::try_ ||
        each.kind == StmtKind::match || each.kind == StmtKind::function;
    if (other && &each != loop.stmt) return false;
    const bool together = i + 1 < path.size() && i + 1 < other_path.size() && other_path[i].stmt == &each &&
        other_path[i + 1].block.data() == path[i + 1].block.data();
    if (each.kind == StmtKind::if_ && !together &&
        !asks_of_none(record, place.chunk, *as<IfStmt>(each).test, changed, by_methods))
      return false;
  }
  return true;
}

}  // namespace stepzero::rules
