#include "rules/memory/reset_lists.hpp"

#include "rules/call_at.hpp"
#include "rules/name_hints.hpp"
#include "rules/source.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::code;
using values::Operation;

bool is_of_another(const Record& record, std::string_view sum, Place kept, const interpreter::CallSite* calls,
    const OperationEvent& backward) {
  if (kept.chunk != backward.place.chunk || calls != backward.calls) return false;
  const std::uint32_t chunk = kept.chunk;
  const auto path = enclosing(*record.chunk(kept).chunk->stmt, kept.span);
  const Stmt* around = record.chunk(kept).chunk->stmt;
  for (const Enclosing& each : path)
    if (each.stmt->kind == StmtKind::function) around = each.stmt;
  std::set<std::string_view> of_sum = {sum};
  const auto reads = [&](const Expr& expr) {
    bool any = false;
    for_each_expression(expr, [&](const Expr& part) {
      any = any ||
          ((part.kind == ExprKind::name || part.kind == ExprKind::attribute) &&
              of_sum.contains(record.text({chunk, part.span})));
    });
    return any;
  };
  const auto note = [&](const Expr& target) {
    if (target.kind == ExprKind::name || target.kind == ExprKind::attribute)
      of_sum.insert(record.text({chunk, target.span}));
    for_each_expression(target, [&](const Expr& part) {
      if (part.kind == ExprKind::name) of_sum.insert(record.text({chunk, part.span}));
    });
  };
  for (std::size_t before = 0; before != of_sum.size();) {
    before = of_sum.size();
    for_each_statement(*around, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).value && reads(*as<AssignStmt>(stmt).value))
        for (const Expr* target : as<AssignStmt>(stmt).targets) note(*target);
      if (stmt.kind == StmtKind::aug_assign && reads(*as<AugAssignStmt>(stmt).value))
        note(*as<AugAssignStmt>(stmt).target);
    });
  }
  // Of a loss that is not seen it is found by its place.
  bool found = false, of = false;
  for_each_expression(*around, [&](const Expr& expr) {
    if (expr.kind != ExprKind::call || !(expr.span == backward.place.span)) return;
    found = true;
    of = of || reads(expr);
  });
  return found && !of;
}

bool assigns(const Stmt& stmt, Name name) {
  bool any = false;
  for_each_statement(stmt, [&](const Stmt& part) {
    if (part.kind == StmtKind::assign)
      for (const Expr* target : as<AssignStmt>(part).targets)
        any = any || (target->kind == ExprKind::name && as<NameExpr>(*target).id == name);
  });
  return any;
}
namespace {
// The name whose backward it is, as `loss` of `loss.backward()`; null: another expression.
const Expr* name_of(const Record& record, const OperationEvent& backward) {
  const CallExpr* call = call_at(record, backward.place);
  if (!call || call->function->kind != ExprKind::attribute) return nullptr;
  const Expr* object = as<AttributeExpr>(*call->function).object;
  return object->kind == ExprKind::name ? object : nullptr;
}
// Is the list of that name made empty before the loop, and again now and then in it?
bool begins_anew(const Stmt& function, const Stmt& loop, Name list) {
  bool before = false, within = false;
  for_each_statement(function, [&](const Stmt& stmt) {
    if (stmt.kind != StmtKind::assign) return;
    const auto& assign = as<AssignStmt>(stmt);
    if (assign.targets.size() != 1 || assign.targets[0]->kind != ExprKind::name ||
        !(as<NameExpr>(*assign.targets[0]).id == list) || assign.value->kind != ExprKind::list ||
        !as<ListExpr>(*assign.value).elements.empty())
      return;
    if (!loop.span.holds(stmt.span)) {
      before = before || stmt.span.end <= loop.span.begin;
      return;
    }
    for (const Enclosing& each : enclosing(loop, stmt.span))
      within = within || each.stmt->kind == StmtKind::if_;
  });
  return before && within;
}

}  // namespace

void look_for_reset_lists(const Record& record, Report& report, const TrainingLoop& training, Once& once) {
  const OperationEvent& backward = *training.backward->event;
  const auto path = enclosing(*record.chunk(backward.place).chunk->stmt, backward.place.span);
  const Stmt *function = nullptr, *loop = nullptr;
  for (const Enclosing& each : path) {
    if (each.stmt->kind == StmtKind::function) function = each.stmt, loop = nullptr;
    if (each.stmt->kind == StmtKind::for_ || each.stmt->kind == StmtKind::while_) loop = each.stmt;
  }
  const Expr* loss = function && loop && loop == training.loop->stmt ? name_of(record, backward) : nullptr;
  if (!loss || !repeats(*training.loop)) return;
  const Name name = as<NameExpr>(*loss).id;
  for (std::size_t i = path.back().index + 1; i < path.back().block.size(); ++i) {
    const Stmt& stmt = *path.back().block[i];
    if (assigns(stmt, name)) return;
    if (stmt.kind != StmtKind::expression || as<ExpressionStmt>(stmt).value->kind != ExprKind::call) continue;
    const auto& call = as<CallExpr>(*as<ExpressionStmt>(stmt).value);
    if (call.arguments.size() != 1 || call.arguments[0]->kind != ExprKind::name ||
        !(as<NameExpr>(*call.arguments[0]).id == name) || call.function->kind != ExprKind::attribute)
      continue;
    const auto& method = as<AttributeExpr>(*call.function);
    if (!says(method.attribute.text(), Says::collecting) || method.object->kind != ExprKind::name ||
        !begins_anew(*function, *loop, as<NameExpr>(*method.object).id))
      continue;
    const Place place{backward.place.chunk, call.span};
    const std::string list(as<NameExpr>(*method.object).id.text()), kept(name.text());
    const bool used = std::ranges::any_of(training.training_root->all, [&](const TrainingEvent& each) {
      return each.event->row->operation == Operation::backward && !(each.event->place == backward.place) &&
          !is_of_another(record, list, place, backward.calls, *each.event);
    });
    if (used || !once(place)) continue;
    Finding* finding = report.add(Severity::warning, place, backward.calls,
        code(list) + " collects " + code(kept) +
            " with all that it was computed from, so the memory of every iteration stays in use until it is reset. Keep the value alone: " +
            code(kept + ".detach()") + ".");
    if (finding)
      report.relate(*finding, backward.place, "this backward needs the history, and nothing after it does");
  }
}

}  // namespace stepzero::rules
