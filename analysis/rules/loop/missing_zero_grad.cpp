// loop/missing-zero-grad: a training loop in which nothing ever clears the gradients.
#include "rules/condition_text.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/methods.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::missing_zero_grad {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool steps_in(const TrainingRoot& training_root, const LoopEvent& loop, Value optimizer) {
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    return stepped_optimizer(*each.event).object() == optimizer.object() && each.in(&loop);
  });
}

// Is what a branch asks written nowhere but where the object is made: an attribute that only a constructor
// sets? Then each iteration takes the same side.
bool is_settled(const Record& record, const BranchEvent& branch) {
  const std::string_view text = record.text(branch.place);
  std::string_view name = text.substr(text.starts_with("not ") ? 4 : 0);
  if (!name.starts_with("self.") || name.find_first_of(" ([<>=%") != std::string_view::npos) return false;
  const ChunkOf& chunk = record.chunk(branch.place);
  if (!chunk.statement()) return false;
  bool settled = true;
  for_each_statement(*chunk.chunk->stmt, [&](const syntax::Stmt& stmt) {
    if (stmt.kind != syntax::StmtKind::function ||
        syntax::as<syntax::FunctionStmt>(stmt).name.text() == "__init__")
      return;
    for_each_statement(stmt, [&](const syntax::Stmt& inner) {
      const auto writes = [&](const syntax::Expr& target) {
        settled = settled && record.text({branch.place.chunk, target.span}) != name;
      };
      if (inner.kind == syntax::StmtKind::assign)
        for (const syntax::Expr* target : syntax::as<syntax::AssignStmt>(inner).targets) writes(*target);
      if (inner.kind == syntax::StmtKind::aug_assign)
        writes(*syntax::as<syntax::AugAssignStmt>(inner).target);
    });
  });
  return settled;
}

// Do all iterations that come to the one pass by the other?
const BranchEvent* parts_them(const Record& record, const TrainingEvent& one, const TrainingEvent& other) {
  for (const Turn& mine : one.turns)
    for (const Turn& theirs : other.turns)
      if (mine.yes != theirs.yes && mine.branch->condition &&
          mine.branch->condition == theirs.branch->condition && is_settled(record, *mine.branch))
        return mine.branch;
  return nullptr;
}

// The training root as it is for who makes the step, and the branch by which others do something else; null
// if none does.
struct Way {
  TrainingRoot training_root;
  const BranchEvent* parted = nullptr;
  bool yes = false;
};
Way way_of(const Record& record, const TrainingRoot& training_root, const TrainingEvent& step) {
  Way way{training_root, nullptr, false};
  std::erase_if(way.training_root.all, [&](const TrainingEvent& each) {
    const BranchEvent* branch = parts_them(record, step, each);
    if (!branch) return false;
    way.parted = branch;
    for (const Turn& turn : step.turns)
      if (turn.branch == branch) way.yes = turn.yes;
    return true;
  });
  return way;
}

// What is wrong, for a loop of the program and for one that calls a method of it.
std::string told(const TrainingRoot& training_root, const std::string& name, const std::string& when) {
  const std::string step = name.empty() ? "the optimizer" : code(name);
  const std::string clear = code((name.empty() ? "optimizer" : name) + ".zero_grad()");
  if (!training_root.by_caller)
    return "Gradients are never cleared in this loop" + when + ", so each step of " + step +
        " also applies the gradients of all earlier batches. Call " + clear + " once per step.";
  const std::string method(training_root.root->function->name.text());
  return "No method of " + code(training_root.root->owner->name.text()) + " clears the gradients" + when +
      ", so each step of " + step + " also applies the gradients of all earlier calls of " + code(method) +
      ". Call " + clear + " once per step.";
}

void look_at(
    const Record& record, const std::vector<TrainingRoot>& training_roots, Report& report, Once& once) {
  for (const TrainingRoot& whole : training_roots) {
    if (!trains_itself(whole) || whole.root->truncated) continue;
    if (whole.by_caller && calls_elsewhere(record, whole, "zero_grad")) continue;
    for (const TrainingEvent& step : whole.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (!optimizer || !whole.optimizers.contains(optimizer.object()) || step.in_handler) continue;
      const Way way = way_of(record, whole, step);
      const TrainingRoot& training_root = way.training_root;
      // What an engine owns, it clears: the step beside it is what is wrong.
      if (attribute(optimizer, values::EngineState::engine)) continue;
      // The innermost loop that makes both the gradients and the step.
      const LoopEvent* loop = nullptr;
      const OperationEvent* backward = nullptr;
      for (auto it = step.loops.rbegin(); it != step.loops.rend() && !loop; ++it)
        for (const TrainingEvent& each : training_root.all)
          if (each.event->row->operation == Operation::backward && each.in(*it) &&
              feeds(training_root, *each.event, optimizer) == Answer::yes) {
            loop = *it;
            backward = each.event;
            break;
          }
      if (!loop || !repeats(*loop) || makes_gradients(record, training_root, loop)) continue;
      std::size_t steps = 0;
      bool cleared = false, doubted = false;
      for (const TrainingEvent& each : training_root.all) {
        if (!each.in(loop)) continue;
        const OperationEvent& event = *each.event;
        const Operation operation = event.row->operation;
        if (stepped_optimizer(event).object() == optimizer.object()) ++steps;
        if (operation == Operation::optimizer_made &&
            training_root.standing(event.self.object()) == optimizer.object())
          cleared = true;
        cleared = cleared || clears_gradient(event);
        if (operation == Operation::zero_grad) {
          const bool other_optimizer = event.self.object() != optimizer.object() &&
              training_root.optimizers.contains(event.self.object());
          const Answer shared = event.self.object() == optimizer.object()
              ? Answer::yes
              : shares_parameters(training_root,
                    other_optimizer ? attribute(event.self, values::OptimizerState::parameters) : event.self,
                    optimizer);
          // One that clears and steps for itself has parameters of its own, as far as is known; not if ours
          // is something that only is stepped.
          const bool own = other_optimizer && optimizer.is(Kind::instance) &&
              steps_in(training_root, *loop, event.self);
          cleared = cleared || shared == Answer::yes || (shared == Answer::unknown && !own);
          doubted = doubted || shared == Answer::unknown;
        }
      }
      if (cleared || (loop->unrolled && steps < 2) ||
          escapes(record, training_root, optimizer.object(), loop))
        continue;
      if (!once(step.event->place)) continue;
      const std::string name = stepped_text(record, *step.event);
      const bool made = is_made(whole, optimizer.object()) && !doubted && !way.parted;
      const std::string when = way.parted ? when_text(record, Turn{way.parted, way.yes}) : std::string();
      Finding* finding = report.add(at_most(made ? Severity::error : Severity::warning, whole),
          step.event->place, step.event->calls, told(whole, name, when));
      if (!finding) continue;
      report.relate(*finding, backward->place, "the gradients add up here");
      Fix fix;
      fix.title = "Clear the gradients after the step";
      fix.preferred = true;
      if (!name.empty() && insert_after(record, *step.event, name + ".zero_grad()", fix))
        finding->fixes.push_back(std::move(fix));
    }
  }
}

void check(const Record& record, Report& report) {
  Once once;
  look_at(record, Training::of(record).training_roots(), report, once);
  look_at(record, StepMethods::of(record).training_roots(), report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/missing-zero-grad",
    .severity = Severity::error,
    .summary = "a training loop that never clears the gradients",
    .why =
        "`backward()` adds to the gradients that are there. Without `zero_grad()` each step goes along the sum of all gradients so far "
        "(measured on one batch: norms of 0.332, 0.665, 1.66, 3.32 after 1, 2, 5, 10 backward calls). The loss falls at first, then "
        "swings and grows (measured: after 200 steps of SGD it was 169 instead of 0.137).",
    .wrong = "for x, y in loader:\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n",
    .right = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    loss = loss_fn(model(x), y)\n"
             "    loss.backward()\n"
             "    optimizer.step()\n",
    .silent =
        "Clearing anywhere in the loop, in a function or method that it calls, by the module (`model.zero_grad()`), through another "
        "optimizer of the same parameters, or by hand (`p.grad = None`); models that each iteration creates; optimizers that are handed to "
        "code that is not seen; loops that a framework runs. Of an optimizer that comes from the caller the finding is a warning, and so it is of a method "
        "that steps an optimizer of its object, where no method of the class clears gradients.",
    .fix = "Adds `optimizer.zero_grad()` after the step.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::missing_zero_grad
