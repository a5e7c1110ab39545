// loop/zero-grad-order: gradients are cleared between the backward that made them and the step that should
// use them.
#include "rules/rule.hpp"
#include "rules/training/gated.hpp"
#include "rules/training/handed.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

namespace stepzero::rules::loop::zero_grad_order {

using values::code;

using namespace interpreter;

namespace {

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::cleared_before_step ||
        makes_gradients(record, *violation.training_root, *violation.event) || !once(violation.event->place))
      continue;
    const ConditionalSeverity weight = severity_under(record, violation);
    const std::string object = object_text(record, *violation.event, "optimizer");
    Finding* finding = report.add(at_most(weight.severity, *violation.training_root), violation.event->place,
        violation.event->calls,
        code(object + ".zero_grad()") + " clears the gradients that the backward pass before it computed" +
            weight.when + ", so " + code(record_call(record, *violation.later)) +
            " trains nothing. Clear them before the backward pass, or after the step.");
    if (!finding) continue;
    report.relate(*finding, violation.before->place, "the gradients are made here");
    report.relate(*finding, violation.later->place, "the step that needs them");
    Fix fix;
    fix.title = "Clear the gradients before the backward";
    fix.preferred = true;
    if (move_statement(record, *violation.event, *violation.before, false, fix))
      finding->fixes.push_back(std::move(fix));
    else {
      fix = {};
      fix.title = "Clear the gradients after the step";
      fix.preferred = true;
      if (move_statement(record, *violation.event, *violation.later, true, fix))
        finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/zero-grad-order",
    .severity = Severity::error,
    .summary = "zero_grad() between the backward and the step",
    .why =
        "`zero_grad()` removes what `backward()` has just computed, so `step()` finds no gradients: no parameter changes, however long it "
        "runs (measured: after 20 steps the parameters have moved by 0.0). Nothing is raised, the loss only stays where it is.",
    .wrong = "loss.backward()\n"
             "optimizer.zero_grad()\n"
             "optimizer.step()\n",
    .right = "optimizer.zero_grad()\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .silent =
        "Clearing after the step, or before the backward; gradients that are thrown away on purpose because a loss is not finite; a second "
        "backward between the clearing and the step (SAM); the gradients of another optimizer.",
    .fix = "Moves the call before the backward.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::loop::zero_grad_order
