// memory/hooks-pile-up: a loop registers one more hook on the same object in each iteration, and removes
// none.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <vector>

namespace stepzero::rules::memory::hooks_pile_up {

using namespace syntax;
using values::code;

namespace {

bool registers(const Expr& expr) {
  if (expr.kind != ExprKind::call || as<CallExpr>(expr).function->kind != ExprKind::attribute) return false;
  const std::string_view name = as<AttributeExpr>(*as<CallExpr>(expr).function).attribute.text();
  return name.starts_with("register_") && name.ends_with("hook");
}

void names_in(const Expr& expr, std::vector<Name>& found) {
  for_each_expression(expr, [&](const Expr& each) {
    if (each.kind == ExprKind::name) found.push_back(as<NameExpr>(each).id);
  });
}

// The names that each iteration binds anew.
std::vector<Name> bound_in(const Stmt& loop) {
  std::vector<Name> found;
  for_each_statement(loop, [&](const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::assign:
      for (const Expr* target : as<AssignStmt>(stmt).targets) names_in(*target, found);
      break;
    case StmtKind::ann_assign: names_in(*as<AnnAssignStmt>(stmt).target, found); break;
    case StmtKind::for_: names_in(*as<ForStmt>(stmt).target, found); break;
    case StmtKind::with:
      for (const WithItem& item : as<WithStmt>(stmt).items)
        if (item.target) names_in(*item.target, found);
      break;
    default: break;
    }
  });
  for_each_expression(loop, [&](const Expr& expr) {
    if (expr.kind == ExprKind::named) names_in(expr, found);
  });
  return found;
}

// The statements that each iteration of the loop makes whatever happens, and no function in it.
void look_at(
    const Record& record, Report& report, std::uint32_t chunk, const Stmt& loop, Block body, Once& once) {
  for (const Stmt* stmt : body) {
    if (stmt->kind == StmtKind::with) look_at(record, report, chunk, loop, as<WithStmt>(*stmt).body, once);
    if (stmt->kind != StmtKind::expression) continue;
    const Expr& call = *as<ExpressionStmt>(*stmt).value;
    if (!registers(call)) continue;
    const auto& method = as<AttributeExpr>(*as<CallExpr>(call).function);
    std::vector<Name> of;
    names_in(call, of);
    const std::vector<Name> bound = bound_in(loop);
    if (of.empty() ||
        std::ranges::any_of(of, [&](Name name) { return std::ranges::find(bound, name) != bound.end(); }))
      continue;
    if (!once({chunk, call.span})) continue;
    Finding* finding = report.add(Severity::warning, {chunk, call.span}, nullptr,
        "Each iteration registers one more hook here and removes none: in the n-th, " +
            code(std::string(record.text({chunk, method.object->span}))) +
            " runs n of them. Register it once before the loop, or keep the handle and call its `remove()`.");
    if (finding)
      report.relate(*finding,
          {chunk, loop.kind == StmtKind::for_ ? as<ForStmt>(loop).header : as<WhileStmt>(loop).header},
          "in this loop");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (std::uint32_t i = 1; i < record.chunks.size(); ++i) {
    const Stmt* root = record.chunks[i].path == record.path ? record.chunks[i].statement() : nullptr;
    if (!root) continue;
    for_each_statement(*root, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::for_) look_at(record, report, i, stmt, as<ForStmt>(stmt).body, once);
      if (stmt.kind == StmtKind::while_) look_at(record, report, i, stmt, as<WhileStmt>(stmt).body, once);
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/hooks-pile-up",
    .severity = Severity::warning,
    .summary = "a loop registers one more hook on the same object in each iteration",
    .why =
        "A hook stays until its handle's `remove()` is called. Registered in each epoch, it runs once more in each: a forward takes longer and longer, and what the hook keeps grows with it.",
    .wrong = "for epoch in range(epochs):\n"
             "    model.layer.register_forward_hook(keep)\n"
             "    train(model)\n",
    .right = "for epoch in range(epochs):\n"
             "    handle = model.layer.register_forward_hook(keep)\n"
             "    train(model)\n"
             "    handle.remove()\n",
    .silent =
        "Handles that are kept; loops over modules or parameters, which register one hook on each; objects and hooks that the iteration makes; hooks under a condition.",
    .fix = "None: where the hook is needed is yours to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::hooks_pile_up
