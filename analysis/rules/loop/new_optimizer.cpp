// loop/new-optimizer: an optimizer that is made for every step, and so forgets what it had learned of the
// gradients.
#include "libraries/torch/optim/optimizers.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::new_optimizer {

using namespace interpreter;
using values::code;
using values::Operation;

namespace {

// Does every way to the step come through the constructor, and no other loop in between?
bool is_made_for(const TrainingEvent& made, const TrainingEvent& step) {
  return made.loops == step.loops && made.event->calls == step.event->calls &&
      std::ranges::all_of(made.turns, [&](const Turn& turn) {
        return std::ranges::any_of(step.turns,
            [&](const Turn& other) { return other.branch == turn.branch && other.yes == turn.yes; });
      });
}

// The one step of the optimizer, where each of them has its own.
const TrainingEvent* only_step(
    const Record& record, const TrainingRoot& training_root, const TrainingEvent& made) {
  const Object* optimizer = made.event->self.object();
  const TrainingEvent* only = nullptr;
  // Those that the other iterations create; the state of one may go into the next.
  std::set<const Object*> all;
  for (const TrainingEvent& each : training_root.all)
    if (each.event->row->operation == Operation::optimizer_made && each.event->place == made.event->place)
      all.insert(each.event->self.object());
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation == Operation::state_put && all.contains(event.self.object())) return nullptr;
    if (stepped_optimizer(event).object() != optimizer) continue;
    // A closure is run many times in one step.
    const bool closure = event.row->operation == Operation::optimizer_step && !event.arguments.empty() &&
        event.arguments[0] && !event.arguments[0].is(values::Kind::none);
    if (only || closure || !is_made_for(made, each)) return nullptr;
    only = &each;
  }
  return escapes(record, training_root, optimizer, nullptr) ? nullptr : only;
}

// Is one of the targets of assignments and loops in the statement written like this?
bool sets(const Record& record, std::uint32_t chunk, const syntax::Stmt& around, std::string_view text) {
  bool found = false;
  const auto target = [&](const auto& each, const syntax::Expr* expr) -> void {
    if (!expr) return;
    found = found || record.text({chunk, expr->span}) == text;
    if (expr->kind == syntax::ExprKind::starred) each(each, syntax::as<syntax::StarredExpr>(*expr).value);
    if (expr->kind == syntax::ExprKind::tuple)
      for (const syntax::Expr* part : syntax::as<syntax::TupleExpr>(*expr).elements) each(each, part);
    if (expr->kind == syntax::ExprKind::list)
      for (const syntax::Expr* part : syntax::as<syntax::ListExpr>(*expr).elements) each(each, part);
  };
  for_each_statement(around, [&](const syntax::Stmt& stmt) {
    switch (stmt.kind) {
    case syntax::StmtKind::assign:
      for (const syntax::Expr* each : syntax::as<syntax::AssignStmt>(stmt).targets) target(target, each);
      break;
    case syntax::StmtKind::aug_assign: target(target, syntax::as<syntax::AugAssignStmt>(stmt).target); break;
    case syntax::StmtKind::ann_assign: target(target, syntax::as<syntax::AnnAssignStmt>(stmt).target); break;
    case syntax::StmtKind::for_: target(target, syntax::as<syntax::ForStmt>(stmt).target); break;
    case syntax::StmtKind::with:
      for (const syntax::WithItem& item : syntax::as<syntax::WithStmt>(stmt).items)
        target(target, item.target);
      break;
    // What else binds names may bind this one.
    case syntax::StmtKind::import:
    case syntax::StmtKind::import_from:
    case syntax::StmtKind::try_: found = true; break;
    default: break;
    }
  });
  return found;
}

// `model` of `model.parameters()`, what the optimizer is made of; empty for anything else.
std::string_view module_text(const Record& record, const OperationEvent& made) {
  if (!made.expr || made.expr->arguments.empty() || made.expr->arguments[0]->kind != syntax::ExprKind::call)
    return {};
  const auto& call = syntax::as<syntax::CallExpr>(*made.expr->arguments[0]);
  if (call.function->kind != syntax::ExprKind::attribute || !call.arguments.empty()) return {};
  return record.text({made.place.chunk, syntax::as<syntax::AttributeExpr>(*call.function).object->span});
}

// Moves the statement out of the loop, where all that it reads is there before.
std::optional<Fix> made_before(const Record& record, const OperationEvent& made, const LoopEvent& loop) {
  if (!record.in_file(made.place) || made.calls != loop.calls) return std::nullopt;
  const auto path = enclosing(*record.chunk(made.place).chunk->stmt, made.expr->span);
  const SourceLines source(record, made.place.chunk);
  if (path.size() < 2 || path[path.size() - 2].stmt != loop.stmt || path.back().block.size() < 2 ||
      path.back().stmt->kind != syntax::StmtKind::assign ||
      syntax::as<syntax::AssignStmt>(*path.back().stmt).value != made.expr ||
      !source.own_line(*path.back().stmt))
    return std::nullopt;
  bool is_free = true;
  for_each_expression(*made.expr, [&](const syntax::Expr& part) {
    if (part.kind == syntax::ExprKind::name || part.kind == syntax::ExprKind::attribute)
      is_free = is_free && !sets(record, made.place.chunk, *loop.stmt, source.text(part));
  });
  if (!is_free) return std::nullopt;
  const syntax::Stmt& own = *path.back().stmt;
  const syntax::Span lines = source.lines(own, own);
  const auto at = source.lines(*loop.stmt, *loop.stmt).begin;
  Fix fix;
  fix.title = "Create the optimizer before the loop";
  fix.edits.push_back({{source.path(), {at, at}},
      reindent(source.slice(lines), source.indentation(own), source.indentation(*loop.stmt))});
  fix.edits.push_back({{source.path(), lines}, ""});
  return fix;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    for (const TrainingEvent& made : training_root.all) {
      if (made.event->row->operation != Operation::optimizer_made || made.loops.empty() || made.in_handler ||
          !made.event->self.is(values::Kind::instance))
        continue;
      const LoopEvent& loop = *made.loops.back();
      const auto& optimizer = *made.event->self.as<Instance>();
      if (!loop.stmt || !repeats(loop) || !libraries::keeps_state(optimizer)) continue;
      // What is trained is another in each iteration.
      const std::string_view module = module_text(record, *made.event);
      if (module.empty() || made.event->calls != loop.calls ||
          sets(record, made.event->place.chunk, *loop.stmt, module))
        continue;
      const TrainingEvent* step = only_step(record, training_root, made);
      if (!step || !once(made.event->place)) continue;
      const std::string kind(values::last_name(optimizer.native->path));
      Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
          "Each step uses a new " + code(kind) +
              ", which starts without what the one before had gathered of the gradients: its averages and its momentum are never used. Create the optimizer once, before the loop.");
      if (!finding) continue;
      report.relate(*finding, loop.place, "each iteration creates another");
      report.relate(*finding, step->event->place, "its only step");
      if (auto fix = made_before(record, *made.event, loop)) finding->fixes.push_back(std::move(*fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/new-optimizer",
    .severity = Severity::warning,
    .summary = "an optimizer that is made for every step",
    .why =
        "Adam divides the average of the gradients by the root of the average of their squares, SGD adds up a momentum: both are kept in the optimizer, and are gone with it. The first step "
        "of a new Adam goes by the learning rate along the sign of each gradient, however small that is, and with a new one for every step all of them do.",
    .wrong = "for x, y in loader:\n"
             "    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .right = "optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)\n"
             "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss_fn(model(x), y).backward()\n"
             "    optimizer.step()\n",
    .silent =
        "Plain SGD, which keeps nothing; an optimizer that makes several steps, or whose state is loaded; one whose model the iteration makes as well; one that is handed to code that is not seen.",
    .fix =
        "Moves the line before the loop, where the loop sets nothing that it reads. Not applied by itself: a learning rate may have been meant to change.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::new_optimizer
