// amp/clip-before-unscale: gradients are clipped while they carry the GradScaler's scale.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::amp::clip_before_unscale {

using values::code;

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The text by which the program calls the optimizer where it steps through the scaler, in the function of the
// clipping.
std::string optimizer_text(const Record& record, const OrderViolation& violation) {
  for (const TrainingEvent& each : violation.training_root->all) {
    const OperationEvent& event = *each.event;
    if (event.calls != violation.event->calls || event.place.chunk != violation.event->place.chunk) continue;
    if (event.row->operation == Operation::scaler_step && event.expr && !event.expr->arguments.empty() &&
        event.arguments[0].object() == violation.optimizer.object())
      return std::string(record.text({event.place.chunk, event.expr->arguments[0]->span}));
    if (event.row->operation == Operation::zero_grad && event.self.object() == violation.optimizer.object())
      return object_text(record, event, "");
  }
  return "";
}

const OperationEvent* later_unscale(const OrderViolation& violation) {
  bool after = false;
  for (const TrainingEvent& each : violation.training_root->all) {
    if (each.event == violation.event)
      after = true;
    else if (after && each.event->row->operation == Operation::unscale &&
        each.event->self.object() == violation.scaler)
      return each.event;
    else if (after &&
        (each.event->row->operation == Operation::scaler_step ||
            each.event->row->operation == Operation::backward))
      return nullptr;
  }
  return nullptr;
}

// What is unscaled by the scaler is stepped by it, too, and updated: else the next unscale_ raises. False if
// that cannot be written.
bool step_through_scaler(const Record& record, Report& report, const OrderViolation& violation,
    const std::string& scaler, Fix& fix) {
  const OperationEvent* plain = nullptr;
  bool updated = false;
  for (const TrainingEvent& each : violation.training_root->all) {
    const Operation operation = each.event->row->operation;
    if (operation == Operation::scaler_step && each.event->self.object() == violation.scaler) return true;
    if (operation == Operation::scaler_update && each.event->self.object() == violation.scaler)
      updated = true;
    if (operation == Operation::optimizer_step && each.event->self.object() == violation.optimizer.object())
      plain = each.event;
  }
  if (!plain) return true;
  const std::string optimizer = object_text(record, *plain, "");
  if (optimizer.empty() || plain->calls != violation.event->calls || !plain->expr ||
      !plain->expr->arguments.empty() || !plain->expr->keywords.empty() || !is_statement(record, *plain))
    return false;
  if (!updated && !insert_after(record, *plain, scaler + ".update()", fix)) return false;
  fix.edits.push_back({report.location(plain->place), scaler + ".step(" + optimizer + ")"});
  fix.title += ", and step through the scaler";
  return true;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::clip_scaled && violation.kind != ViolationKind::read_scaled)
      continue;
    // Who writes gradients may undo the scale, too; but not where unscale_ comes to do it after all, and not
    // by a limit.
    const bool limits = violation.event->row->operation == Operation::gradient_written;
    if (by_hand(*violation.training_root, *violation.event) &&
        (makes_gradients(record, *violation.training_root, *violation.event) ||
            (!limits && !later_unscale(violation))))
      continue;
    const auto weight = severity_under(record, violation, *violation.event);
    if (!weight || !once(violation.event->place)) continue;
    const std::string scaler = violation.scale ? object_text(record, *violation.scale, "scaler") : "scaler";
    std::string optimizer = optimizer_text(record, violation);
    const bool clips = violation.kind == ViolationKind::clip_scaled;
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        std::string(clips ? "The gradients are clipped" : "The size of the gradients is read") +
            " while they are still multiplied by the loss scale (65,536 at first)" + weight->when +
            (clips ? ", so the limit is far smaller than it looks."
                   : ", so the number is far too large and jumps when the scale changes.") +
            " Call " + code(scaler + ".unscale_(" + (optimizer.empty() ? "optimizer" : optimizer) + ")") +
            " first.");
    if (!finding) continue;
    report.relate(
        *finding, violation.before->place, "the backward of the scaled loss leaves scaled gradients");
    if (limits) continue;  // parameter by parameter: unscale_ belongs in front of the loop around it
    const OperationEvent* unscale = later_unscale(violation);
    // Only what is sure to be made in each iteration may be unscaled in front of it: a second unscale_
    // raises.
    Fix fix;
    fix.preferred = clips;
    fix.title = "Unscale the gradients first";
    if (unscale) {
      if (move_statement(record, *unscale, *violation.event, false, fix))
        finding->fixes.push_back(std::move(fix));
    } else if (violation.scale && violation.scale->calls == violation.event->calls && !optimizer.empty()) {
      fix.title = "Insert " + scaler + ".unscale_(" + optimizer + ")";
      if (insert_before(record, *violation.event, scaler + ".unscale_(" + optimizer + ")", fix) &&
          step_through_scaler(record, report, violation, scaler, fix))
        finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/clip-before-unscale",
    .severity = Severity::error,
    .summary = "gradients are clipped, or their size is read, while they carry the GradScaler's scale",
    .why =
        "After `scaler.scale(loss).backward()` the gradients are multiplied by the loss scale, 65,536 at first. Clipping them to 1.0 "
        "clips the real gradients to 1/65,536, and to something else when the scale changes: with an optimizer like SGD training "
        "stands still (measured: clipped to 1.0, gradients with norms of 50 and of 0.01 both reach the step with 1.53e-05). `scaler.unscale_(optimizer)` divides them first; `scaler.step` knows that it was called and does not divide "
        "again. A norm of gradients that is logged before it is 65,536 times too large, and jumps with the scale.",
    .wrong = "scaler.scale(loss).backward()\n"
             "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .right = "scaler.scale(loss).backward()\n"
             "scaler.unscale_(optimizer)\n"
             "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .silent =
        "A scaler made with `enabled=False`; `if scaler.is_enabled(): scaler.unscale_(optimizer)`; a program that unscales by hand; "
        "norms that a program with scaler.get_scale() divides itself; parameters of another optimizer; frameworks that clip themselves. When it is not known whether the scaler is enabled, the "
        "finding is a warning that names the condition.",
    .fix = "Inserts `scaler.unscale_(optimizer)` before the clipping, or moves the one that comes too late.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::clip_before_unscale
