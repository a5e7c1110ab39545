// amp/double-unscale: unscale_ twice for one optimizer before the next update, or after its step.
#include "rules/amp/gated_call.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::amp::double_unscale {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const OrderViolation& violation : training.violations()) {
    const bool twice = violation.kind == ViolationKind::unscale_twice;
    if (!twice && violation.kind != ViolationKind::unscale_after_step) continue;
    const auto weight = severity_under(record, violation, *violation.event);
    if (!weight || !once(violation.event->place)) continue;
    const std::string scaler = object_text(record, *violation.event, "the scaler");
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        twice ? code(scaler + ".unscale_()") + " was already called for this optimizer: this call raises" +
                weight->when +
                " \"unscale_() has already been called on this optimizer since the last update().\" Unscale once, before the step."
              : code(scaler + ".unscale_()") +
                " comes after the step, which already unscaled the gradients: it raises" + weight->when +
                " \"unscale_() is being called after step().\" Unscale before the step.");
    if (!finding) continue;
    report.relate(*finding, violation.before->place,
        twice ? "the gradients are unscaled here" : "the step is made here");
    Fix fix;
    fix.title = "Remove this unscale_()";
    // Of two calls in different functions it is not known which one is too much.
    fix.preferred = twice ? violation.before->calls == violation.event->calls : true;
    if (remove_statement(record, *violation.event, fix)) finding->fixes.push_back(std::move(fix));
  }
  for (const Gated& gated : gated_steps(record, training, Operation::unscale)) {
    report_gated(record, report, once, gated, ".unscale_()", "the step and the update run",
        std::string(
            "the next call raises \"unscale_() has already been called on this optimizer since the last update().\" ") +
            (gated.by_data ? "Update in every iteration." : "Unscale under the same condition."));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/double-unscale",
    .severity = Severity::error,
    .summary = "unscale_() twice for one optimizer before the update, or after its step",
    .why =
        "`scaler.unscale_(optimizer)` divides the gradients by the scale, once per step. A second call raises \"unscale_() has already been "
        "called on this optimizer since the last update().\", a call after the step \"unscale_() is being called after step().\" With "
        "accumulation it belongs under the condition under which the step is made: micro-batches that come after it would add scaled "
        "gradients to unscaled ones. Where a step is left out, for a norm that is too large, `update()` still has to be called: it also forgets that the gradients were unscaled.",
    .wrong = "scaler.scale(loss / accumulation).backward()\n"
             "scaler.unscale_(optimizer)\n"
             "if (i + 1) % accumulation == 0:\n"
             "    scaler.step(optimizer)\n"
             "    scaler.update()\n"
             "    optimizer.zero_grad()\n",
    .right = "scaler.scale(loss / accumulation).backward()\n"
             "if (i + 1) % accumulation == 0:\n"
             "    scaler.unscale_(optimizer)\n"
             "    scaler.step(optimizer)\n"
             "    scaler.update()\n"
             "    optimizer.zero_grad()\n",
    .silent =
        "Once for each of several optimizers; an accumulation over one micro-batch; a scaler made with `enabled=False`.",
    .fix = "Removes the call that is too much.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::double_unscale
