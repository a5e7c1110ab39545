#include "rules/memory/added.hpp"

#include "rules/source.hpp"
#include "values/limits.hpp"

namespace stepzero::rules {

using namespace syntax;

std::optional<Added> added_by(const Record& record, const OperationEvent& kept) {
  const auto path = enclosing(*record.chunk(kept.place).chunk->stmt, kept.place.span);
  if (path.empty()) return std::nullopt;
  const auto text = [&](const Expr& expr) { return std::string(record.text({kept.place.chunk, expr.span})); };
  const Stmt& stmt = *path.back().stmt;
  Added added;
  const Expr* target = nullptr;
  const auto lists = [](const Expr& value) {
    return value.kind == ExprKind::list || value.kind == ExprKind::tuple;
  };
  if (stmt.kind == StmtKind::aug_assign) {
    target = as<AugAssignStmt>(stmt).target;
    added.value = as<AugAssignStmt>(stmt).value;
    added.sum = !lists(*added.value);
  } else if (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).value->kind == ExprKind::binary) {
    target = as<AssignStmt>(stmt).targets[0];
    const auto& sum = as<BinaryExpr>(*as<AssignStmt>(stmt).value);
    const auto reads = [&](const Expr& side) {
      bool any = false;
      for_each_expression(side,
          [&](const Expr& part) { any = any || (part.kind == target->kind && text(part) == text(*target)); });
      return any;
    };
    const bool after = reads(*sum.right),
               entry = target->kind == ExprKind::subscript && !after && !reads(*sum.left) &&
        sum.left->kind != ExprKind::call;
    // history[step] = first + second
    added.value = entry ? as<AssignStmt>(stmt).value : after ? sum.left : sum.right;
    added.sum = !entry && !lists(*added.value);
  } else if (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).targets[0]->kind == ExprKind::subscript &&
      stmt.span == kept.place.span) {
    target = as<SubscriptExpr>(*as<AssignStmt>(stmt).targets[0]).object;
    added.value = as<AssignStmt>(stmt).value;
  } else {
    for_each_expression(stmt, [&](const Expr& expr) {
      if (expr.kind != ExprKind::call || !(expr.span == kept.place.span) ||
          as<CallExpr>(expr).arguments.empty())
        return;
      const auto& call = as<CallExpr>(expr);
      if (call.function->kind != ExprKind::attribute) return;
      target = as<AttributeExpr>(*call.function).object;
      added.value = call.arguments[0];
    });
  }
  if (!target || !added.value) return std::nullopt;
  // `outputs += [logits]` adds the one item.
  if (!added.sum && added.value->kind == ExprKind::list && as<ListExpr>(*added.value).elements.size() == 1)
    added.value = as<ListExpr>(*added.value).elements[0];
  added.into = text(*target);
  added.what = text(*added.value);
  if (!values::is_quotable(added.into) || !values::is_quotable(added.what)) return std::nullopt;
  return added;
}

}  // namespace stepzero::rules
