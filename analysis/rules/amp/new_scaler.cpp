// amp/new-scaler: a loop creates a new GradScaler in each iteration that trains one model.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/made_in_loops.hpp"

#include <algorithm>

namespace stepzero::rules::amp::new_scaler {

using namespace interpreter;
using values::Operation;

namespace {

// The outermost loop that makes the scaler in each iteration, and goes on with the optimizer that it steps;
// null if there is none.
const LoopEvent* made_in(
    const TrainingRoot& training_root, const TrainingEvent& made, const Value& optimizer) {
  for (const LoopEvent* loop : made.loops) {
    const bool own = std::any_of(
        training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
          return each.in(loop) && each.event->row->operation == Operation::optimizer_made &&
              training_root.standing(each.event->self.object()) == training_root.standing(optimizer.object());
        });
    const auto made_there = [&](const TrainingEvent& each) {
      return each.event->row->operation == Operation::scaler_made && each.event->place == made.event->place &&
          each.in(loop);
    };
    if (!own && repeats(*loop) &&
        (!loop->unrolled ||
            std::count_if(training_root.all.begin(), training_root.all.end(), made_there) > 1))
      return loop;
  }
  return nullptr;
}

// Is it made in some iterations only: where there is none yet? The step then has a condition, too, that of
// the scaler which it is made with, but none that the program writes.
bool is_made_now_and_then(const TrainingEvent& made, const TrainingEvent& step) {
  return std::any_of(made.turns.begin(), made.turns.end(), [&](const Turn& turn) {
    return std::none_of(step.turns.begin(), step.turns.end(), [&](const Turn& other) {
      return other.branch->stmt && other.branch->condition == turn.branch->condition && other.yes == turn.yes;
    });
  });
}

void look_at(const Record& record, Report& report, const TrainingRoot& training_root,
    const TrainingEvent& made, Once& once) {
  const Object* scaler = made.event->self.object();
  // What it had learned may come back.
  const bool restored = std::any_of(
      training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
        return (each.event->row->operation == Operation::state_put && each.event->self.object() == scaler) ||
            (each.event->row->operation == Operation::unseen && is_handed(*each.event, scaler));
      });
  const auto step = std::find_if(
      training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::scaler_step && each.event->self.object() == scaler;
      });
  if (restored || step == training_root.all.end() || step->event->arguments.empty() ||
      is_made_now_and_then(made, *step))
    return;
  const LoopEvent* loop = made_in(training_root, made, step->event->arguments[0]);
  const auto weight = loop ? severity_under(record, scaler, *step->event, training_root) : std::nullopt;
  if (!weight || !once(made.event->place)) return;
  // Where each step has a scaler of its own, none of them learns anything.
  const bool each_step = made.loops.back() == step->loops.back();
  Finding* finding = report.add(each_step ? Severity::warning : Severity::information, made.event->place,
      made.event->calls,
      std::string("A new `GradScaler` is created ") +
          (each_step ? "for every step" : "in each iteration of the surrounding loop") + weight->when +
          ": it starts again from its first scale, " +
          (each_step
                  ? "and never learns one that fits. Gradients that overflow at a scale of 65,536 are never applied."
                  : "and skips steps until it has come down to one that fits.") +
          " Create one before the loop.");
  if (!finding) return;
  report.relate(*finding, loop->place, "each iteration creates another");
  report.relate(*finding, step->event->place, "the step");
}

void check(const Record& record, Report& report) {
  Once once;
  visit_made_in_loops(
      record, Operation::scaler_made, [&](const TrainingRoot& training_root, const TrainingEvent& made) {
        look_at(record, report, training_root, made, once);
      });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/new-scaler",
    .severity = Severity::warning,
    .summary = "a loop creates a new GradScaler in each iteration",
    .why =
        "A GradScaler begins with a scale of 65536 and halves it when gradients overflow, which skips the step; from then on it knows a scale that fits. Created again in each "
        "epoch it begins at 65536 again and skips the same steps again. Made for each step it never learns: where 65536 is too much, no step is ever made.",
    .wrong = "for epoch in range(epochs):\n"
             "    scaler = torch.amp.GradScaler()\n"
             "    for x, y in loader:\n"
             "        scaler.scale(loss_fn(model(x), y)).backward()\n"
             "        scaler.step(optimizer)\n"
             "        scaler.update()\n",
    .right = "scaler = torch.amp.GradScaler()\n"
             "for epoch in range(epochs):\n"
             "    for x, y in loader:\n"
             "        scaler.scale(loss_fn(model(x), y)).backward()\n"
             "        scaler.step(optimizer)\n"
             "        scaler.update()\n",
    .silent =
        "A scaler that is made with its optimizer: for each fold, each trial; one that is made where there is none yet, or whose state is loaded; a disabled one.",
    .fix = "None: the scaler has to be handed to where it is used.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::amp::new_scaler
