#include "interpreter/loops/first_iteration.hpp"

#include "syntax/walk.hpp"

#include <algorithm>

namespace stepzero::interpreter {

using namespace syntax;

namespace {

constexpr int deepest_test = 12;  // expressions and statements within each other

bool asks_name(const Expr& expr, Name name, int depth = 0) {
  if (depth > deepest_test) return false;
  const auto within = [&](const Expr* part) { return part && asks_name(*part, name, depth + 1); };
  switch (expr.kind) {
  case ExprKind::name: return as<NameExpr>(expr).id == name;
  case ExprKind::unary: return within(as<UnaryExpr>(expr).operand);
  case ExprKind::binary: return within(as<BinaryExpr>(expr).left) || within(as<BinaryExpr>(expr).right);
  case ExprKind::boolean_op: return std::ranges::any_of(as<BooleanOpExpr>(expr).operands, within);
  case ExprKind::compare:
    return within(as<CompareExpr>(expr).left) || std::ranges::any_of(as<CompareExpr>(expr).rights, within);
  default: return false;
  }
}

bool asks_for(const Expr* test, Name number) {
  return test && test->kind != ExprKind::name && asks_name(*test, number);
}

}  // namespace

bool asks_for(syntax::Block body, Name number, int depth) {
  if (depth > deepest_test) return false;
  const auto within = [&](syntax::Block inner) { return asks_for(inner, number, depth + 1); };
  return std::ranges::any_of(body, [&](const Stmt* stmt) {
    switch (stmt->kind) {
    case StmtKind::if_:
      return asks_for(as<IfStmt>(*stmt).test, number) || within(as<IfStmt>(*stmt).body) ||
          within(as<IfStmt>(*stmt).orelse);
    case StmtKind::while_:
      return asks_for(as<WhileStmt>(*stmt).test, number) || within(as<WhileStmt>(*stmt).body);
    case StmtKind::for_: return within(as<ForStmt>(*stmt).body);
    case StmtKind::with: return within(as<WithStmt>(*stmt).body);
    case StmtKind::try_: return within(as<TryStmt>(*stmt).body) || within(as<TryStmt>(*stmt).finally);
    default: return false;
    }
  });
}

bool reads(syntax::Block body, Name number) {
  bool found = false;
  for (const Stmt* stmt : body)
    for_each_expression(*stmt, [&](const Expr& each) {
      found = found || (each.kind == ExprKind::name && as<NameExpr>(each).id == number);
    });
  return found;
}

bool takes_by(syntax::Block body, Name number) {
  bool found = false;
  for (const Stmt* stmt : body)
    for_each_expression(*stmt, [&](const Expr& each) {
      found = found ||
          (each.kind == ExprKind::subscript && asks_name(*as<SubscriptExpr>(each).index, number));
    });
  return found;
}

}  // namespace stepzero::interpreter
