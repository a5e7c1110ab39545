// memory/retained-graph: losses or outputs are kept from round to round with all that they were computed from.
#include "rules/loop/absent.hpp"
#include "rules/list.hpp"
#include "rules/source.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

bool holds(Span outer, Span inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }

// What is run once per round, in the function of the backward: the loop's body, or the function that the loop calls.
struct Region {
  std::uint32_t chunk = 0;
  const Stmt* stmt = nullptr;
  bool is_function = false;
};

std::optional<Region> region_of(const Record& record, const Happening& backward, const LoopEvent& loop) {
  const Place at = backward.event->place;
  if (!record.in_file(at) || !backward.event->expr) return std::nullopt;
  if (loop.stmt && loop.place.chunk == at.chunk && holds(loop.stmt->span, at.span)) return Region{at.chunk, loop.stmt, false};
  const auto path = enclosing(*record.chunk(at).chunk->stmt, at.span);
  for (auto it = path.rbegin(); it != path.rend(); ++it)
    if (it->stmt->kind == StmtKind::function) return Region{at.chunk, it->stmt, true};
  return std::nullopt;
}

class Look {
public:
  Look(const Record& record, Report& report, Once& once, const Happening& backward, const Region& region)
      : record_(record), report_(report), once_(once), backward_(backward), region_(region) {}

  void run() {
    for_each_statement(*region_.stmt, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::aug_assign) {
        const auto& assign = as<AugAssignStmt>(stmt);
        if (assign.op == BinaryOp::add && assign.value->kind == ExprKind::name) keep(stmt, *assign.target, *assign.value, true);
      } else if (stmt.kind == StmtKind::expression && as<ExpressionStmt>(stmt).value->kind == ExprKind::call) {
        const auto& call = as<CallExpr>(*as<ExpressionStmt>(stmt).value);
        if (call.function->kind != ExprKind::attribute || call.arguments.size() != 1 || !call.keywords.empty() || call.arguments[0]->kind != ExprKind::name) return;
        const auto& method = as<AttributeExpr>(*call.function);
        if (method.attribute.text() == "append") keep(stmt, *method.object, *call.arguments[0], false);
      }
    });
  }

private:
  std::string_view text(const Expr& expr) const { return record_.text({region_.chunk, expr.span}); }

  // Has the name a value with history there? It is the loss itself, or was assigned in the region with one.
  bool has_history(const Expr& name, const Stmt& where) const {
    const Name id = as<NameExpr>(name).id;
    const Expr& loss = *as<AttributeExpr>(*backward_.event->expr->function).object;
    const values::TensorState* state = backward_.event->self_state();
    std::size_t assigned = 0;
    for_each_statement(*region_.stmt, [&](const Stmt& stmt) {
      if (stmt.kind == StmtKind::assign)
        for (const Expr* target : as<AssignStmt>(stmt).targets) assigned += target->kind == ExprKind::name && as<NameExpr>(*target).id == id;
      if (stmt.kind == StmtKind::aug_assign && as<AugAssignStmt>(stmt).target->kind == ExprKind::name) assigned += as<NameExpr>(*as<AugAssignStmt>(stmt).target).id == id;
    });
    if (assigned > 1) return false;
    if (loss.kind == ExprKind::name && as<NameExpr>(loss).id == id) return state && state->requires_grad == values::Known::yes;
    bool known = false;
    for (const Fact& fact : record_.facts)
      if (fact.role == Fact::Role::assignment && fact.place.chunk == region_.chunk && holds(region_.stmt->span, fact.place.span) && fact.place.span.end <= where.span.begin &&
          fact.tensor && record_.text(fact.place) == id.text())
        known = fact.tensor->requires_grad == values::Known::yes && !fact.tensor->graph.empty();
    return known;
  }

  void keep(const Stmt& stmt, const Expr& target, const Expr& value, bool sum) {
    if (target.kind != ExprKind::name && target.kind != ExprKind::attribute) return;
    // A local variable of a function that the loop calls does not outlive the call.
    if (region_.is_function && target.kind == ExprKind::name) return;
    const std::string_view kept = text(target);
    std::size_t mentions = 0;
    bool reset = false;
    for_each_statement(*region_.stmt, [&](const Stmt& other) {
      if (other.kind == StmtKind::assign)
        for (const Expr* each : as<AssignStmt>(other).targets) reset = reset || text(*each) == kept;
      if (other.kind == StmtKind::delete_) reset = true;
      // Under no_grad, or anything else that is entered, it may have no history.
      if (other.kind == StmtKind::with && holds(other.span, stmt.span)) reset = true;
    });
    for_each_expression(*region_.stmt, [&](const Expr& expr) {
      if (expr.kind == target.kind && text(expr) == kept) ++mentions;
      // total.backward(), total.detach_()
      if (expr.kind == ExprKind::call && as<CallExpr>(expr).function->kind == ExprKind::attribute) {
        const auto& method = as<AttributeExpr>(*as<CallExpr>(expr).function);
        const std::string_view name = method.attribute.text();
        if (name == "backward" && text(*method.object).find(kept) != std::string_view::npos) reset = true;
        if (name.ends_with("_") && (text(*method.object) == kept || text(*method.object) == text(value))) reset = true;
      }
    });
    if (reset || (!sum && mentions > 1) || !has_history(value, stmt)) return;
    // What is kept in a deque is let go of.
    for (const ChunkOf& chunk : record_.chunks)
      if (!sum && chunk.chunk && chunk.path == record_.path && chunk.module->text->bytes().find("deque") != std::string::npos) return;
    const Place place{region_.chunk, stmt.span};
    if (!once_(place)) return;
    const std::string name(text(value));
    Finding* finding = report_.add(Severity::warning, place, nullptr,
                                   std::string(kept) + (sum ? " adds up " : " collects ") + name + " with all that it was computed from, so the memory of every round stays in use. Keep the value alone: " +
                                       name + (sum ? ".item() or " + name : std::string()) + ".detach()" + ".");
    if (!finding) return;
    report_.relate(*finding, backward_.event->place, "the backward needs that history here, and nobody behind it");
    Fix fix;
    fix.title = "Keep " + name + ".detach()";
    fix.preferred = true;
    fix.edits.push_back({report_.location({region_.chunk, value.span}), name + ".detach()"});
    finding->fixes.push_back(std::move(fix));
  }

  const Record& record_;
  Report& report_;
  Once& once_;
  const Happening& backward_;
  const Region& region_;
};

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  std::set<std::pair<std::uint32_t, std::uint32_t>> looked;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    for (const Happening& backward : scene.all) {
      if (backward.event->row->operation != Operation::backward || backward.loops.empty() || !repeats(*backward.loops.back()) || backward.in_handler) continue;
      if (!backward.event->expr || backward.event->expr->function->kind != ExprKind::attribute) continue;
      // The parameters are stepped in the same loop: what is kept has no later use for its history.
      const bool stepped = std::any_of(scene.all.begin(), scene.all.end(), [&](const Happening& each) {
        return stepped_optimizer(*each.event) && each.in(backward.loops.back());
      });
      if (!stepped || !looked.insert({backward.event->place.chunk, backward.event->place.span.begin}).second) continue;
      if (const auto region = region_of(record, backward, *backward.loops.back())) Look(record, report, once, backward, *region).run();
    }
  }
}

} // namespace

constexpr Rule retained_graph = complete({
    .id = "memory/retained-graph",
    .severity = Severity::warning,
    .summary = "losses or outputs are kept from round to round with their history",
    .why = "A loss refers to all tensors that its backward needs. `total += loss` and `outputs.append(out)` keep these references, so what "
           "each round has computed stays in memory until the end of the epoch, and the GPU runs out of memory after some hundred steps. "
           "`loss.detach()` and `loss.item()` keep the value alone.",
    .wrong = "for x, y in loader:\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    total += loss\n",
    .right = "for x, y in loader:\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n"
             "    total += loss.item()\n",
    .silent = "Sums of the losses of one step, on which backward is called; what each round begins anew; values without history (`no_grad`, "
              "`detach`, `item`); bounded collections.",
    .fix = "Adds `.detach()`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
