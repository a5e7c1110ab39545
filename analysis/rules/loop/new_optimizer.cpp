// loop/new-optimizer: an optimizer that is made for every step, and so forgets what it had learned of the
// gradients.
#include "libraries/torch/optim/optimizers.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/made_in_loops.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::new_optimizer {

using namespace interpreter;
using syntax::Name;
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

using Owners = std::set<const Object*>;

// What was there before a loop began: the run came to it earlier.
class Earlier {
public:
  Earlier(const Record& record, const LoopEvent& loop) : record_(record), loop_(*loop.stmt) {
    chunk_ = loop.place.chunk;
    first_ = static_cast<std::size_t>(std::ranges::find_if(record.facts, [&](const Fact& fact) {
      return is_inside(fact);
    }) - record.facts.begin());
  }
  bool has(const Object* object) const {
    const auto first = record_.facts.begin() + static_cast<std::ptrdiff_t>(first_);
    return std::any_of(record_.facts.begin(), first,
               [&](const Fact& fact) { return fact.value.object() == object; }) ||
        std::any_of(first, record_.facts.end(),
            [&](const Fact& fact) { return fact.value.object() == object && is_given(fact); });
  }

private:
  bool is_inside(const Fact& fact) const {
    return fact.place.chunk == chunk_ && loop_.span.holds(fact.place.span) &&
        !(loop_.kind == syntax::StmtKind::for_ &&
            syntax::as<syntax::ForStmt>(loop_).iterable->span.holds(fact.place.span));
  }

  // A parameter of the function around: its fact comes after the body.
  bool is_given(const Fact& fact) const {
    return fact.role == Fact::Role::parameter && fact.function && fact.function->stmt &&
        fact.place.chunk == chunk_ && fact.function->stmt->span.holds(loop_.span);
  }

  const Record& record_;
  const syntax::Stmt& loop_;
  std::uint32_t chunk_ = 0;
  std::size_t first_ = 0;  // of the facts that the loop left
};

// What owns the tensors, if all of it was there before the iterations. One of several, or a choice, may be
// another in each iteration: false.
bool add_owners(Value trained, const Earlier& earlier, Owners& owners) {
  switch (trained.kind) {
  case values::Kind::instance: {
    if (const Value of = attribute(trained, values::OptimizerState::of))
      return add_owners(of, earlier, owners);
    owners.insert(trained.object());
    return !trained.as<Instance>()->of_many && earlier.has(trained.object());
  }
  case values::Kind::unknown: {
    const auto& unknown = *trained.as<values::Unknown>();
    owners.insert(&unknown);
    if (unknown.of_many) return false;
    // An attribute is made when it is first read.
    const Value whole = unknown.attributes.value(Name(values::UnknownState::whole));
    return earlier.has(&unknown) || (whole && add_owners(whole, earlier, owners));
  }
  case values::Kind::tensor: {
    const auto& tensor = *trained.as<values::Tensor>();
    const values::TensorState* state = tensor.now();
    if (tensor.any_of)
      return state && state->made && state->made->self && add_owners(state->made->self, earlier, owners);
    owners.insert(&tensor);
    return earlier.has(&tensor);
  }
  default: return false;
  }
}
std::optional<Owners> owners_of(const OperationEvent& made, const Earlier& earlier) {
  Value trained = attribute(made.self, values::OptimizerState::parameters);
  // `model.parameters()` of a model that is not seen.
  if (trained.is(values::Kind::unknown))
    if (const Value by = trained.as<values::Unknown>()->attributes.value(
            Name(values::UnknownState::given_by)))
      trained = by;
  Owners owners;
  if (!add_owners(trained, earlier, owners)) return std::nullopt;
  return owners;
}

// Is the same trained in each iteration, and goes on from where the one before has left it?
bool trains_the_same(const Record& record, const TrainingRoot& training_root, const TrainingEvent& made,
    const LoopEvent& loop) {
  const Earlier earlier(record, loop);
  const auto owners = owners_of(*made.event, earlier);
  if (!owners) return false;
  return std::ranges::none_of(training_root.all, [&](const TrainingEvent& each) {
    if (!each.in(&loop)) return false;
    const OperationEvent& event = *each.event;
    if (event.row->operation == Operation::optimizer_made && event.place == made.event->place)
      return owners_of(event, earlier) != owners;
    return event.row->operation == Operation::state_put && owners->contains(event.self.object());
  });
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

void look_at(const Record& record, Report& report, const TrainingRoot& training_root,
    const TrainingEvent& made, Once& once) {
  if (made.in_handler || !made.event->self.is(values::Kind::instance)) return;
  const LoopEvent& loop = *made.loops.back();
  const auto& optimizer = *made.event->self.as<Instance>();
  if (!loop.stmt || !repeats(loop) || !libraries::keeps_state(optimizer)) return;
  if (!trains_the_same(record, training_root, made, loop)) return;
  const TrainingEvent* step = only_step(record, training_root, made);
  if (!step || !once(made.event->place)) return;
  const std::string kind(values::last_name(optimizer.native->path));
  Finding* finding = report.add(Severity::warning, made.event->place, made.event->calls,
      "Each step uses a new " + code(kind) +
          ", which starts without what the one before had gathered of the gradients: its averages and its momentum are never used. Create the optimizer once, before the loop.");
  if (!finding) return;
  report.relate(*finding, loop.place, "each iteration creates another");
  report.relate(*finding, step->event->place, "its only step");
  if (auto fix = made_before(record, *made.event, loop)) finding->fixes.push_back(std::move(*fix));
}

void check(const Record& record, Report& report) {
  Once once;
  visit_made_in_loops(
      record, Operation::optimizer_made, [&](const TrainingRoot& training_root, const TrainingEvent& made) {
        look_at(record, report, training_root, made, once);
      });
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
        "Plain SGD, which keeps nothing; an optimizer that makes several steps, or whose state is loaded; one whose model the iteration makes, or gives back its weights; one that is handed to code that is not seen.",
    .fix =
        "Moves the line before the loop, where the loop sets nothing that it reads. Not applied by itself: a learning rate may have been meant to change.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::loop::new_optimizer
