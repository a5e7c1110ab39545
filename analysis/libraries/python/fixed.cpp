// Numbers that stand in the text: literals, and names of a module that are given one number and never
// another.
#include "libraries/python/fixed.hpp"
#include "interpreter/record.hpp"

#include <algorithm>

namespace stepzero::libraries {

using namespace syntax;

namespace {

bool binds(const Expr* target, Name name) {
  const auto any = [&](const auto& elements) {
    return std::any_of(elements.begin(), elements.end(), [&](const Expr* each) { return binds(each, name); });
  };
  switch (target->kind) {
  case ExprKind::name: return as<NameExpr>(*target).id == name;
  case ExprKind::tuple: return any(as<TupleExpr>(*target).elements);
  case ExprKind::list: return any(as<ListExpr>(*target).elements);
  case ExprKind::starred: return binds(as<StarredExpr>(*target).value, name);
  default: return false;
  }
}

// What the name is assigned in the statement and in the blocks inside it; null where it is bound to something
// else.
void assigned(const Stmt& stmt, Name name, std::vector<const Expr*>& values) {
  const auto inner = [&](syntax::Block block) {
    for (const Stmt* each : block) assigned(*each, name, values);
  };
  switch (stmt.kind) {
  case StmtKind::assign: {
    const Expr* value = as<AssignStmt>(stmt).value;
    for (const Expr* target : as<AssignStmt>(stmt).targets) {
      if (!binds(target, name)) continue;
      const Expr* given = target->kind == ExprKind::name ? value : nullptr;
      // BOS, EOS, PAD = 256, 257, 258
      if (target->kind == ExprKind::tuple && value->kind == ExprKind::tuple) {
        const auto& targets = as<TupleExpr>(*target).elements;
        const auto& items = as<TupleExpr>(*value).elements;
        for (std::size_t i = 0; i < targets.size() && targets.size() == items.size(); ++i)
          if (targets[i]->kind == ExprKind::name && as<NameExpr>(*targets[i]).id == name) given = items[i];
      }
      values.push_back(given);
    }
    return;
  }
  case StmtKind::ann_assign:
    if (as<AnnAssignStmt>(stmt).value && binds(as<AnnAssignStmt>(stmt).target, name))
      values.push_back(as<AnnAssignStmt>(stmt).value);
    return;
  case StmtKind::aug_assign:
    if (binds(as<AugAssignStmt>(stmt).target, name)) values.push_back(nullptr);
    return;
  case StmtKind::if_:
    inner(as<IfStmt>(stmt).body);
    inner(as<IfStmt>(stmt).orelse);
    return;
  case StmtKind::while_:
    inner(as<WhileStmt>(stmt).body);
    inner(as<WhileStmt>(stmt).orelse);
    return;
  case StmtKind::for_:
    if (binds(as<ForStmt>(stmt).target, name)) values.push_back(nullptr);
    inner(as<ForStmt>(stmt).body);
    inner(as<ForStmt>(stmt).orelse);
    return;
  case StmtKind::with: inner(as<WithStmt>(stmt).body); return;
  case StmtKind::try_:
    inner(as<TryStmt>(stmt).body);
    for (const ExceptHandler& handler : as<TryStmt>(stmt).handlers) inner(handler.body);
    inner(as<TryStmt>(stmt).orelse);
    inner(as<TryStmt>(stmt).finally);
    return;
  case StmtKind::match:
  case StmtKind::error: values.push_back(nullptr); return;  // not looked into
  case StmtKind::function: {
    const auto& globals = as<FunctionStmt>(stmt).scope.globals;
    if (std::find(globals.begin(), globals.end(), name) != globals.end()) values.push_back(nullptr);
    return;
  }
  default: return;
  }
}

}  // namespace

bool is_fixed(Runtime& run, const syntax::Expr& expr, values::Place place) {
  switch (expr.kind) {
  case ExprKind::integer: return true;
  case ExprKind::unary: return is_fixed(run, *as<UnaryExpr>(expr).operand, place);
  case ExprKind::binary:
    return is_fixed(run, *as<BinaryExpr>(expr).left, place) &&
        is_fixed(run, *as<BinaryExpr>(expr).right, place);
  case ExprKind::name: {
    const Name name = as<NameExpr>(expr).id;
    // A name of the function, or of one around it, is none of the module.
    const auto has = [&](const ScopeInfo& scope) {
      return std::find(scope.locals.begin(), scope.locals.end(), name) != scope.locals.end();
    };
    const values::Function* function = run.site() ? run.site()->function : nullptr;
    if (function && (!function->stmt || has(function->stmt->scope))) return false;
    for (const values::Scope* scope = function ? function->closure : nullptr;
        scope && scope != scope->globals; scope = scope->parent)
      if (scope->names.find(name)) return false;
    std::vector<const Expr*> values;
    for (const syntax::Item& item : run.record().chunks[place.chunk].module->items)
      if (item.chunk->stmt) assigned(*item.chunk->stmt, name, values);
    return values.size() == 1 && values[0] && values[0]->kind == ExprKind::integer;
  }
  default: return false;
  }
}

}  // namespace stepzero::libraries
