// perf/python-loop: a training step goes through the positions of a tensor one by one, where one operation
// takes them all.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training_loops.hpp"

#include <algorithm>

namespace stepzero::rules::perf::python_loop {

using namespace interpreter;
using namespace syntax;
using values::Known;
using values::Operation;

namespace {

// What the body of the loop does with its index, and with what the iterations before have left.
class Body {
public:
  Body(const Record& record, const LoopEvent& loop)
      : record_(record), chunk_(loop.place.chunk), loop_(as<ForStmt>(*loop.stmt)),
        index_(as<NameExpr>(*loop_.target).id) {
    for (const Fact& fact : record.facts)
      if (fact.tensor && fact.place.chunk == chunk_ && loop_.span.holds(fact.place.span))
        facts_.push_back(&fact);
  }

  // Every position is computed like the others, and from nothing that the others leave but a sum.
  bool is_independent() {
    for (const Stmt* stmt : loop_.body) look(*stmt);
    return independent_ && used_ > 0 && used_ == uses() && computes_ && !carries();
  }

private:
  const values::TensorState* state_of(const Expr& expr) const {
    for (const Fact* fact : facts_)
      if (fact->place.span == expr.span) return fact->tensor;
    return nullptr;
  }
  bool names_index(const Expr& expr) const {
    bool found = false;
    for_each_expression(expr, [&](const Expr& inner) {
      found = found || (inner.kind == ExprKind::name && as<NameExpr>(inner).id == index_);
    });
    return found;
  }
  std::size_t uses() const {
    std::size_t count = 0;
    for (const Stmt* stmt : loop_.body)
      for_each_expression(*stmt, [&](const Expr& inner) {
        count += inner.kind == ExprKind::name && as<NameExpr>(inner).id == index_;
      });
    return count;
  }
  void look(const Stmt& stmt) {
    switch (stmt.kind) {
    case StmtKind::assign:
    case StmtKind::aug_assign:
    case StmtKind::expression: break;
    default: independent_ = false; return;  // conditions, loops, exits
    }
    const Expr* stored = nullptr;
    if (stmt.kind == StmtKind::assign && as<AssignStmt>(stmt).targets[0]->kind == ExprKind::subscript)
      stored = as<AssignStmt>(stmt).targets[0];
    for_each_expression(stmt, [&](const Expr& expr) {
      if (expr.kind == ExprKind::call) {
        const values::TensorState* made = state_of(expr);
        computes_ = computes_ || (made && made->requires_grad == Known::yes);
      }
      if (expr.kind != ExprKind::subscript) return;
      const auto& subscript = as<SubscriptExpr>(expr);
      if (!names_index(*subscript.index)) return;
      // x[i], x[:, i]; a slice from the index on takes another part of its neighbors.
      const auto plain = [&](const Expr& part) { return part.kind == ExprKind::name; };
      std::size_t own = 0;
      if (plain(*subscript.index))
        own = 1;
      else if (subscript.index->kind == ExprKind::tuple)
        for (const Expr* part : as<TupleExpr>(*subscript.index).elements) {
          if (plain(*part) && names_index(*part))
            ++own;
          else if (names_index(*part))
            independent_ = false;
        }
      used_ += own;
      // Layers and lists by index are others for each position.
      if (own != 1 || (&expr != stored && !state_of(*subscript.object))) independent_ = false;
    });
    stmts_.push_back(&stmt);
  }
  // Does an iteration compute with what an earlier one has left, but for adding to it?
  bool carries() const {
    if (!record_.earlier) return false;
    for (const Fact* fact : facts_) {
      if (fact->role != Fact::Role::expression) continue;
      const auto& graph = fact->tensor->graph;
      if (!graph.contains(record_.earlier)) continue;
      const bool sum = std::any_of(stmts_.begin(), stmts_.end(), [&](const Stmt* stmt) {
        if (stmt->kind == StmtKind::aug_assign)
          return as<AugAssignStmt>(*stmt).op == BinaryOp::add &&
              fact->place.span == as<AugAssignStmt>(*stmt).target->span;
        if (stmt->kind != StmtKind::assign || as<AssignStmt>(*stmt).value->kind != ExprKind::binary)
          return false;
        const auto& value = as<BinaryExpr>(*as<AssignStmt>(*stmt).value);
        return value.op == BinaryOp::add &&
            (fact->place.span == value.span ||
                (fact->place.span == value.left->span && value.left->kind == ExprKind::name));
      });
      // Stored into: the tensor that collects the positions.
      const bool stored = std::any_of(stmts_.begin(), stmts_.end(), [&](const Stmt* stmt) {
        return stmt->kind == StmtKind::assign &&
            as<AssignStmt>(*stmt).targets[0]->kind == ExprKind::subscript &&
            as<SubscriptExpr>(*as<AssignStmt>(*stmt).targets[0]).object->span == fact->place.span;
      });
      if (!sum && !stored) return true;
    }
    return false;
  }

  const Record& record_;
  const std::uint32_t chunk_;
  const ForStmt& loop_;
  const Name index_;
  std::vector<const Fact*> facts_;
  std::vector<const Stmt*> stmts_;
  bool independent_ = true, computes_ = false;
  std::size_t used_ = 0;
};

// Goes the loop through a whole dimension of the tensor?
bool goes_through(const Record& record, const LoopEvent& loop, const OperationEvent& pick) {
  const values::TensorState* state = pick.self_state();
  if (!state) return false;
  if (loop.unrolled) {
    const auto iterations = static_cast<std::int64_t>(loop.iterations.size());
    return iterations > 1 &&
        std::any_of(state->shape.dims.begin(), state->shape.dims.end(),
            [&](const values::Dim& dim) { return dim.size && record.symbols.value(dim.size) == iterations; });
  }
  const Expr& iterable = *as<ForStmt>(*loop.stmt).iterable;
  if (iterable.kind != ExprKind::call || as<CallExpr>(iterable).arguments.size() != 1) return false;
  const Expr& stop = *as<CallExpr>(iterable).arguments[0];
  for (const Fact& fact : record.facts)
    if (fact.place.chunk == loop.place.chunk && fact.place.span == stop.span &&
        fact.value.is(values::Kind::integer))
      return std::any_of(state->shape.dims.begin(), state->shape.dims.end(),
          [&](const values::Dim& dim) { return dim.size && dim.size == fact.value.integer(); });
  return false;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  std::set<std::pair<std::uint32_t, std::uint32_t>> looked;
  for (const TrainingLoop& loop : training_loops(training))
    for (const TrainingEvent& each : loop.training_root->all) {
      if (each.event->row->operation != Operation::picked || each.loops.empty() ||
          each.loops.back() == loop.loop || !in_every_iteration(record, loop, each))
        continue;
      const LoopEvent& inner = *each.loops.back();
      if (!inner.stmt || inner.stmt->kind != StmtKind::for_ ||
          as<ForStmt>(*inner.stmt).target->kind != ExprKind::name ||
          inner.place.chunk != each.event->place.chunk)
        continue;
      if (!record.in_file(inner.place) || !goes_through(record, inner, *each.event)) continue;
      if (!looked.insert({inner.place.chunk, inner.place.span.begin}).second ||
          !Body(record, inner).is_independent())
        continue;
      Finding* finding = report.add(Severity::hint, inner.place, inner.calls,
          "This loop computes the positions of a tensor one by one, and none needs another. Use one operation on the whole tensor: a single call does the same, often a hundred times as fast.");
      if (finding) report.relate(*finding, each.event->place, "one position is taken here");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/python-loop",
    .severity = Severity::hint,
    .summary = "a Python loop over a dimension that one operation computes",
    .why =
        "Each operation costs some microseconds to start, on a GPU as well as on the CPU. A loop over 256 rows starts everything 256 times, for pieces too small to fill "
        "the device, and its backward as often. Measured: a loop over 256 rows takes 162 times as long as the product of the whole batch. Layers and most operations take "
        "any number of dimensions in front.",
    .wrong = "scores = []\n"
             "for i in range(x.size(0)):\n"
             "    scores.append(self.project(x[i]))\n"
             "scores = torch.stack(scores)\n",
    .right = "scores = self.project(x)\n",
    .silent =
        "Recurrences, where a position needs the one before; layers of their own for each position; slices, conditions and inner loops; loops outside a training step.",
    .fix = "None: it is another way to write the computation.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::perf::python_loop
