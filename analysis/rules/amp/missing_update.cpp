// amp/missing-update: steps are made through a GradScaler that is never updated.
#include "rules/amp/gated_call.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/handed.hpp"
#include "values/shape_text.hpp"

#include <map>

namespace stepzero::rules::amp::missing_update {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

struct Use {
  const TrainingEvent* step = nullptr;  // the last one in a loop that makes it again
  bool updated = false;                 // or nobody knows
  bool of_owner = false;                // or one that is made whenever a method is called
};

// Is the step made again by the same scaler and optimizer: does a loop around it not make new ones?
bool is_repeated(const TrainingRoot& training_root, const TrainingEvent& step) {
  for (const LoopEvent* loop : step.loops) {
    if (loop->unrolled && loop->iterations.size() < 2) continue;
    bool made_inside = false;
    std::size_t same = 0;
    for (const TrainingEvent& each : training_root.all) {
      if (!each.in(loop)) continue;
      const Operation operation = each.event->row->operation;
      made_inside = made_inside ||
          ((operation == Operation::scaler_made || operation == Operation::optimizer_made) &&
              (each.event->self.object() == step.event->self.object() ||
                  training_root.standing(each.event->self.object()) == step.event->arguments[0].object()));
      same += operation == Operation::scaler_step &&
          each.event->arguments[0].object() == step.event->arguments[0].object();
    }
    if (!made_inside && (!loop->unrolled || same > 1)) return true;
  }
  return false;
}

// A class that makes the scaler for itself and steps it in a method, and nobody who updates one: the method
// is called again.
bool is_of_owner(const Record& record, const TrainingRoot& training_root, const TrainingEvent& step) {
  const auto* scaler = step.event->self.is(values::Kind::instance) ? step.event->self.as<Instance>()
                                                                   : nullptr;
  if (!training_root.root->owner || !training_root.root->function ||
      training_root.root->function->name.text() == "__init__" || !scaler || scaler->symbolic)
    return false;
  bool made = false, updated = false;
  for (const auto& root : record.roots) {
    const bool own = root->owner == training_root.root->owner;
    updated = updated || root->truncated;
    const auto is_asked = with_operation(Operation::scaler_made, Operation::scaler_update, Operation::unseen);
    visit_operations(record, *root, is_asked, [&](const OperationEvent& operation) {
      if (operation.row->operation == Operation::scaler_made)
        made = made || own;
      else if (operation.row->operation == Operation::scaler_update)
        updated = true;
      else if (operation.row->operation == Operation::unseen)
        updated = updated || is_handed(operation, scaler);
    });
    if (updated) return false;
  }
  return made;
}

// The innermost loop around the step, if it scales losses and steps this optimizer again and again, and the
// scaler is updated outside of it alone; null otherwise.
const LoopEvent* never_updates(const TrainingRoot& training_root, const TrainingEvent& step) {
  const Object* scaler = step.event->self.object();
  if (step.loops.empty() || step.in_handler || !step.event->arguments[0].is(values::Kind::instance) ||
      !repeats(*step.loops.back()))
    return nullptr;
  const LoopEvent* loop = step.loops.back();
  bool backward = false, updated = false;
  std::size_t same = 0;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    const Operation operation = event.row->operation;
    if (operation == Operation::scaler_update && !each.in(loop)) updated = true;
    if (!each.in(loop)) continue;
    const bool ends = operation == Operation::scaler_update || operation == Operation::scaler_made ||
        operation == Operation::optimizer_made ||
        (operation == Operation::unseen && is_handed(event, scaler));
    if (ends) return nullptr;
    backward = backward || operation == Operation::backward;
    same += event.place == step.event->place;
  }
  return backward && updated && (!loop->unrolled || same > 1) ? loop : nullptr;
}

void look_for_late(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& step = *each.event;
    if (step.row->operation != Operation::scaler_step || step.arguments.empty() ||
        !training_root.optimizers.contains(step.arguments[0].object()))
      continue;
    const LoopEvent* loop = never_updates(training_root, each);
    auto weight = loop ? severity_under(record, step.self.object(), step, training_root) : std::nullopt;
    if (!weight || !once(step.place)) continue;
    const std::string text = object_text(record, step, "the scaler");
    Finding* finding = report.add(at_most(weight->severity, training_root), step.place, step.calls,
        code(text + ".step()") + " is called repeatedly in this loop and " + code(text + ".update()") +
            " only outside of it: the second step raises \"step() has already been called since the last update()\"" +
            weight->when + ". Call it once after each step.");
    if (!finding) continue;
    report.relate(*finding, loop->place, "iteration after iteration");
    Fix fix;
    fix.title = "Add " + text + ".update()";
    fix.preferred = true;
    if (insert_after(record, step, text + ".update()", fix)) finding->fixes.push_back(std::move(fix));
  }
}

// Two steps on one way, as of two methods of a trainer of which one forgets the update.
void look_for_steps_in_a_row(const Record& record, const Training& training, Report& report, Once& once) {
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::step_twice) continue;
    const auto weight = severity_under(record, violation, *violation.event);
    if (!weight || !once(violation.event->place)) continue;
    const std::string text = object_text(record, *violation.event, "the scaler");
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        code(record_call(record, *violation.event)) +
            " follows another step without an update in between: it raises" + weight->when +
            " \"step() has already been called since the last update().\" Call " + code(text + ".update()") +
            " after each step.");
    if (!finding) continue;
    report.relate(*finding, violation.before->place, "the step before, after which the update is missing");
    Fix fix;
    fix.title = "Add " + text + ".update()";
    fix.preferred = true;
    if (insert_after(record, *violation.before, text + ".update()", fix))
      finding->fixes.push_back(std::move(fix));
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  look_for_steps_in_a_row(record, training, report, once);
  for (const TrainingRoot& training_root : training.training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    std::map<const Object*, Use> uses;
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      switch (event.row->operation) {
      case Operation::scaler_step:
        if (event.arguments.empty() || !training_root.optimizers.contains(event.arguments[0].object())) break;
        if (const bool repeated = is_repeated(training_root, each);
            repeated || is_of_owner(record, training_root, each)) {
          uses[event.self.object()].step = &each;
          uses[event.self.object()].of_owner = !repeated;
        }
        break;
      case Operation::scaler_update: uses[event.self.object()].updated = true; break;
      case Operation::unseen:
        for (auto& [scaler, use] : uses) use.updated = use.updated || is_handed(event, scaler);
        for (const TrainingEvent& other : training_root.all)
          if (other.event->row->operation == Operation::scaler_made &&
              is_handed(event, other.event->self.object()))
            uses[other.event->self.object()].updated = true;
        break;
      default: break;
      }
    }
    look_for_late(record, training_root, report, once);
    for (const auto& [scaler, use] : uses) {
      if (!use.step || use.updated) continue;
      const OperationEvent& step = *use.step->event;
      auto weight = severity_under(record, scaler, step, training_root);
      if (!weight || !once(step.place)) continue;
      if (use.of_owner || training_root.presumed.contains(step.arguments[0].object()))
        weight->severity = Severity::warning;
      const std::string text = object_text(record, step, "the scaler");
      Finding* finding = report.add(weight->severity, step.place, step.calls,
          (use.of_owner ? "Every call of " + code(training_root.root->function->name.text()) + " calls " +
                      code(text + ".step()") + ", but no method calls " + code(text + ".update()") +
                      ": the second step raises"
                        : code(text + ".step()") + " is called repeatedly and " + code(text + ".update()") +
                      " never: the second step raises") +
              weight->when +
              " \"step() has already been called since the last update().\" Call it once after each step.");
      if (!finding) continue;
      Fix fix;
      fix.title = "Add " + text + ".update()";
      fix.preferred = true;
      // After the last of several optimizers' steps, which the last use is.
      if (insert_after(record, step, text + ".update()", fix)) finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/missing-update",
    .severity = Severity::error,
    .summary = "scaler.step() in a loop, and no scaler.update()",
    .why =
        "`scaler.update()` ends an iteration: it sets the next loss scale and lets `step` and `unscale_` be called again. Without it the "
        "second iteration raises \"step() has already been called since the last update().\"",
    .wrong = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    scaler.scale(loss_fn(model(x), y)).backward()\n"
             "    scaler.step(optimizer)\n",
    .right = "for x, y in loader:\n"
             "    optimizer.zero_grad()\n"
             "    scaler.scale(loss_fn(model(x), y)).backward()\n"
             "    scaler.step(optimizer)\n"
             "    scaler.update()\n",
    .silent =
        "One update for several optimizers; an update in another function that the loop calls; a step outside a loop, whose caller may "
        "update (but not that of a class which makes the scaler for itself and never updates it); a scaler that is handed to code that is not seen; a scaler made with `enabled=False`.",
    .fix = "Adds `scaler.update()` after the step.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::missing_update
