// amp/update-order: the GradScaler is updated between the backward and the step, or at every micro-batch of
// an accumulation.
#include "rules/amp/gated_call.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::amp::update_order {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

// All updates between the gradients and the step go, each statement once.
bool remove_updates(const Record& record, const OrderViolation& violation, Fix& fix) {
  std::set<std::uint32_t> removed;
  bool between = false;
  for (const TrainingEvent& each : violation.training_root->all) {
    if (each.event == violation.before) between = true;
    if (each.event == violation.later) break;
    if (!between || each.event->row->operation != Operation::scaler_update ||
        each.event->self.object() != violation.scaler)
      continue;
    if (removed.insert(each.event->place.span.begin).second && !remove_statement(record, *each.event, fix))
      return false;
  }
  return !removed.empty();
}

// Is there another update after the step, before the next backward?
bool updated_later(const OrderViolation& violation) {
  bool after = false;
  for (const TrainingEvent& each : violation.training_root->all) {
    if (each.event == violation.later)
      after = true;
    else if (after && each.event->row->operation == Operation::scaler_update &&
        each.event->self.object() == violation.scaler)
      return true;
    else if (after && each.event->row->operation == Operation::backward)
      return false;
  }
  return false;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::update_before_step) continue;
    const auto weight = severity_under(record, violation, *violation.event);
    if (!weight || !once(violation.event->place)) continue;
    const std::string scaler = object_text(record, *violation.event, "the scaler");
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        code(scaler + ".update()") + " comes before " + code(record_call(record, *violation.later)) +
            weight->when +
            ": it discards the inf checks of these gradients and may change the scale that they carry. Update once, after the last step.");
    if (!finding) continue;
    report.relate(*finding, violation.later->place, "the step that the update belongs after");
    if (violation.before)
      report.relate(*finding, violation.before->place, "these gradients are not applied yet");
    Fix fix;
    fix.preferred = true;
    if (updated_later(violation)) {
      fix.title = "Remove this update()";
      if (remove_updates(record, violation, fix)) finding->fixes.push_back(std::move(fix));
    } else {
      fix.title = "Update after the step";
      if (violation.event->calls == violation.later->calls && remove_updates(record, violation, fix) &&
          insert_after(record, *violation.later, scaler + ".update()", fix))
        finding->fixes.push_back(std::move(fix));
    }
  }
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::update_without_step) continue;
    const auto weight = severity_under(record, violation, *violation.event);
    if (!weight || !once(violation.event->place)) continue;
    const std::string scaler = object_text(record, *violation.event, "the scaler");
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        code(scaler + ".update()") + " is called although no step used these gradients: it raises" +
            weight->when +
            " \"No inf checks were recorded prior to update.\" Update after each step, and only there.");
    if (!finding) continue;
    report.relate(*finding, violation.before->place, "these gradients are not applied");
    Fix fix;
    fix.title = "Update with the step only";
    fix.preferred = true;
    for (const TrainingEvent& each : violation.training_root->all) {
      if (each.event->row->operation != Operation::scaler_step ||
          each.event->self.object() != violation.scaler || each.event->calls != violation.event->calls)
        continue;
      if (insert_after(record, *each.event, scaler + ".update()", fix) &&
          remove_statement(record, *violation.event, fix))
        finding->fixes.push_back(std::move(fix));
      break;
    }
  }
  for (const Gated& gated : gated_steps(record, training, Operation::scaler_update)) {
    Finding* finding = report_gated(record, report, once, gated, ".update()", "the step runs",
        "without a step it raises \"No inf checks were recorded prior to update.\" Update under the same condition.");
    if (!finding) continue;
    Fix fix;
    fix.title = "Update with the step only";
    fix.preferred = true;
    if (insert_after(
            record, *gated.step, object_text(record, *gated.event, "the scaler") + ".update()", fix) &&
        gated.step->calls == gated.event->calls && remove_statement(record, *gated.event, fix))
      finding->fixes.push_back(std::move(fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/update-order",
    .severity = Severity::error,
    .summary = "scaler.update() before the step, or at every micro-batch of an accumulation",
    .why =
        "`scaler.update()` belongs after the last `scaler.step` of an iteration. Before the step it raises \"No inf checks were recorded "
        "prior to update.\", or, after `unscale_`, makes the step divide the gradients again by a scale that may have changed. "
        "Between two optimizers' steps it changes the scale of gradients that are still to be stepped.",
    .wrong = "scaler.step(optimizer_g)\n"
             "scaler.update()\n"
             "scaler.step(optimizer_d)\n",
    .right = "scaler.step(optimizer_g)\n"
             "scaler.step(optimizer_d)\n"
             "scaler.update()\n",
    .silent =
        "One update after all steps; scalers of their own for each optimizer; a new backward between the update and the next step; an "
        "accumulation over one micro-batch; a scaler made with `enabled=False`.",
    .fix = "Moves the update after the step, or removes it where there is one already.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::update_order
