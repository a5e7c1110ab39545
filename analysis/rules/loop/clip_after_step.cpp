// loop/clip-after-step: gradients are clipped when it changes nothing: after the step, or before the
// backward.
#include "rules/rule.hpp"
#include "rules/training/gated.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/training.hpp"

#include <cmath>

namespace stepzero::rules::loop::clip_after_step {

using namespace interpreter;
using values::Kind;

namespace {

// clip_grad_norm_(…, inf) only measures.
bool only_measures(const OperationEvent& clip) {
  return clip.arguments.size() > 1 && clip.arguments[1].is(Kind::real) &&
      std::isinf(clip.arguments[1].real());
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const OrderViolation& violation : training.violations()) {
    const bool after = violation.kind == ViolationKind::clipped_late;
    if ((!after && violation.kind != ViolationKind::clipped_early) || only_measures(*violation.event) ||
        by_hand(*violation.training_root, *violation.event) || !once(violation.event->place))
      continue;
    const ConditionalSeverity weight = severity_under(record, violation);
    Finding* finding = report.add(at_most(weight.severity, *violation.training_root), violation.event->place,
        violation.event->calls,
        after ? "The gradients are clipped after `" + record_call(record, *violation.before) + "`" +
                weight.when +
                ", which has already used them. Clip them between the backward pass and the step."
              : "There are no gradients to clip yet" + weight.when +
                ": the backward pass comes after this. Clip them between the backward pass and the step.");
    if (!finding) continue;
    report.relate(
        *finding, violation.before->place, after ? "the step is made here" : "the gradients are made here");
    Fix fix;
    fix.title = after ? "Clip before the step" : "Clip after the backward";
    fix.preferred = true;
    if (move_statement(record, *violation.event, *violation.before, !after, fix))
      finding->fixes.push_back(std::move(fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/clip-after-step",
    .severity = Severity::error,
    .summary = "gradients are clipped after the step, or before the backward",
    .why =
        "Clipping changes the gradients in place, for the step that follows. After `optimizer.step()` they have been used as they were, "
        "before `backward()` there are none: the call runs, and the steps are as large as without it (measured: a norm of 33.2 reaches the step instead of 1.0).",
    .wrong = "loss.backward()\n"
             "optimizer.step()\n"
             "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
    .right = "loss.backward()\n"
             "torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n"
             "optimizer.step()\n",
    .silent =
        "Clipping of weights (`p.data.clamp_`); `clip_grad_norm_(…, inf)`, which only measures; gradients that are used again later; "
        "parameters of another optimizer.",
    .fix = "Moves the call between the backward and the step.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::clip_after_step
