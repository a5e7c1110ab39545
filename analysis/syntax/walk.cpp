#include "syntax/walk.hpp"

namespace stepzero::syntax {

void for_each_block(const Stmt& stmt, const std::function<void(Block)>& each) {
  switch (stmt.kind) {
  case StmtKind::if_:
    each(as<IfStmt>(stmt).body);
    each(as<IfStmt>(stmt).orelse);
    break;
  case StmtKind::while_:
    each(as<WhileStmt>(stmt).body);
    each(as<WhileStmt>(stmt).orelse);
    break;
  case StmtKind::for_:
    each(as<ForStmt>(stmt).body);
    each(as<ForStmt>(stmt).orelse);
    break;
  case StmtKind::with: each(as<WithStmt>(stmt).body); break;
  case StmtKind::try_:
    each(as<TryStmt>(stmt).body);
    for (const ExceptHandler& handler : as<TryStmt>(stmt).handlers) each(handler.body);
    each(as<TryStmt>(stmt).orelse);
    each(as<TryStmt>(stmt).finally);
    break;
  case StmtKind::function: each(as<FunctionStmt>(stmt).body); break;
  case StmtKind::class_: each(as<ClassStmt>(stmt).body); break;
  case StmtKind::match:
    for (const MatchCase& arm : as<MatchStmt>(stmt).cases) each(arm.body);
    break;
  case StmtKind::error: each(as<ErrorStmt>(stmt).parts); break;
  default: break;
  }
}

void for_each_expression(const Expr& expr, const std::function<void(const Expr&)>& each) {
  each(expr);
  const auto go = [&](const Expr* part) {
    if (part) for_each_expression(*part, each);
  };
  const auto all = [&](List<const Expr*> parts) {
    for (const Expr* part : parts) go(part);
  };
  switch (expr.kind) {
  case ExprKind::format: all(as<FormatExpr>(expr).parts); break;
  case ExprKind::attribute: go(as<AttributeExpr>(expr).object); break;
  case ExprKind::subscript:
    go(as<SubscriptExpr>(expr).object);
    go(as<SubscriptExpr>(expr).index);
    break;
  case ExprKind::slice:
    go(as<SliceExpr>(expr).lower);
    go(as<SliceExpr>(expr).upper);
    go(as<SliceExpr>(expr).step);
    break;
  case ExprKind::call:
    go(as<CallExpr>(expr).function);
    all(as<CallExpr>(expr).arguments);
    for (const Keyword& keyword : as<CallExpr>(expr).keywords) go(keyword.value);
    break;
  case ExprKind::binary:
    go(as<BinaryExpr>(expr).left);
    go(as<BinaryExpr>(expr).right);
    break;
  case ExprKind::unary: go(as<UnaryExpr>(expr).operand); break;
  case ExprKind::boolean_op: all(as<BooleanOpExpr>(expr).operands); break;
  case ExprKind::compare:
    go(as<CompareExpr>(expr).left);
    all(as<CompareExpr>(expr).rights);
    break;
  case ExprKind::conditional:
    go(as<ConditionalExpr>(expr).test);
    go(as<ConditionalExpr>(expr).body);
    go(as<ConditionalExpr>(expr).orelse);
    break;
  case ExprKind::lambda: go(as<LambdaExpr>(expr).body); break;
  case ExprKind::tuple: all(as<TupleExpr>(expr).elements); break;
  case ExprKind::list: all(as<ListExpr>(expr).elements); break;
  case ExprKind::set: all(as<SetExpr>(expr).elements); break;
  case ExprKind::dict:
    for (const DictItem& item : as<DictExpr>(expr).items) {
      go(item.key);
      go(item.value);
    }
    break;
  case ExprKind::comprehension:
    go(as<ComprehensionExpr>(expr).element);
    go(as<ComprehensionExpr>(expr).value);
    for (const Generator& generator : as<ComprehensionExpr>(expr).generators) {
      go(generator.iterable);
      all(generator.conditions);
    }
    break;
  case ExprKind::await: go(as<AwaitExpr>(expr).value); break;
  case ExprKind::yield: go(as<YieldExpr>(expr).value); break;
  case ExprKind::yield_from: go(as<YieldFromExpr>(expr).value); break;
  case ExprKind::starred: go(as<StarredExpr>(expr).value); break;
  case ExprKind::named: go(as<NamedExpr>(expr).value); break;
  case ExprKind::error: all(as<ErrorExpr>(expr).parts); break;
  default: break;
  }
}

void for_each_expression(const Stmt& stmt, const std::function<void(const Expr&)>& each) {
  const auto go = [&](const Expr* part) {
    if (part) for_each_expression(*part, each);
  };
  switch (stmt.kind) {
  case StmtKind::expression: go(as<ExpressionStmt>(stmt).value); break;
  case StmtKind::assign:
    go(as<AssignStmt>(stmt).value);
    for (const Expr* target : as<AssignStmt>(stmt).targets)
      if (target->kind != ExprKind::name) go(target);
    break;
  case StmtKind::aug_assign:
    go(as<AugAssignStmt>(stmt).target);
    go(as<AugAssignStmt>(stmt).value);
    break;
  case StmtKind::ann_assign: go(as<AnnAssignStmt>(stmt).value); break;
  case StmtKind::return_: go(as<ReturnStmt>(stmt).value); break;
  case StmtKind::raise: go(as<RaiseStmt>(stmt).exception); break;
  case StmtKind::assert_:
    go(as<AssertStmt>(stmt).test);
    go(as<AssertStmt>(stmt).message);
    break;
  case StmtKind::if_: go(as<IfStmt>(stmt).test); break;
  case StmtKind::while_: go(as<WhileStmt>(stmt).test); break;
  case StmtKind::for_: go(as<ForStmt>(stmt).iterable); break;
  case StmtKind::with:
    for (const WithItem& item : as<WithStmt>(stmt).items) go(item.context);
    break;
  case StmtKind::match: go(as<MatchStmt>(stmt).subject); break;
  case StmtKind::delete_:
    for (const Expr* target : as<DeleteStmt>(stmt).targets) go(target);
    break;
  default: break;
  }
  for_each_block(stmt, [&](Block block) {
    for (const Stmt* inner : block) for_each_expression(*inner, each);
  });
}

void for_each_statement(const Stmt& stmt, const std::function<void(const Stmt&)>& each) {
  each(stmt);
  for_each_block(stmt, [&](Block block) {
    for (const Stmt* inner : block) for_each_statement(*inner, each);
  });
}

std::string_view last_name(const Expr& expr) {
  if (expr.kind == ExprKind::name) return as<NameExpr>(expr).id.text();
  if (expr.kind == ExprKind::attribute) return as<AttributeExpr>(expr).attribute.text();
  return {};
}

}  // namespace stepzero::syntax
