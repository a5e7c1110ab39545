// amp/unscaled-backward: the backward of a plain loss whose gradients the GradScaler's step divides by a
// scale that they do not carry.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::amp::unscaled_backward {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

// A scaler that is made and never used, in a loop that trains under autocast to float16.
void look_for_unused(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  const OperationEvent* made = nullptr;
  const std::vector<Turn>* made_where = nullptr;
  for (const TrainingEvent& each : training_root.all) {
    const Operation operation = each.event->row->operation;
    if (operation == Operation::scale || operation == Operation::scaler_step ||
        operation == Operation::scaler_update || operation == Operation::unscale)
      return;
    if (operation != Operation::scaler_made) continue;
    made = each.event;
    made_where = &each.turns;
  }
  if (!made || escapes(record, training_root, made->self.object(), nullptr)) return;
  const values::Cond scales = enabled(record, made->self.object());
  if (scales && record.symbols.decide(scales) == Answer::no) return;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& backward = *each.event;
    if (backward.row->operation != Operation::backward || each.loops.empty() || !repeats(*each.loops.back()))
      continue;
    // After the branch that made it another may stand in its place, of which nobody knows what it scales.
    const auto there = [&](const Turn& turn) {
      return std::any_of(each.turns.begin(), each.turns.end(),
          [&](const Turn& mine) { return mine.branch == turn.branch && mine.yes == turn.yes; });
    };
    if (!std::all_of(made_where->begin(), made_where->end(), there)) continue;
    const bool stepped = std::any_of(
        training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
          return other.event->row->operation == Operation::optimizer_step && other.in(each.loops.back());
        });
    const auto region = stepped ? autocast_of_loss(record, backward) : std::nullopt;
    if (!region || region->enabled == Answer::no || region->dtype != values::Dtype::float16 ||
        region->without_gradients || !once(backward.place))
      continue;
    Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
        "A `GradScaler` is created, but this loss is never scaled: small gradients of `float16` become zero. Scale the loss, step through the scaler, and update it.");
    if (finding) report.relate(*finding, made->place, "the scaler that is never used");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots())
    if (!training_root.handed_over && !training_root.root->truncated)
      look_for_unused(record, training_root, report, once);
  for (const OrderViolation& violation : training.violations()) {
    if (violation.kind != ViolationKind::plain_backward) continue;
    auto weight = severity_under(record, violation, *violation.later);
    if (!weight || !once(violation.event->place)) continue;
    // What unseen code gives may be scaled there, in a program that scales others.
    const values::TensorState* state = violation.event->self_state();
    const bool scales = std::any_of(violation.training_root->all.begin(), violation.training_root->all.end(),
        [](const TrainingEvent& each) { return each.event->row->operation == Operation::scale; });
    if (scales && (!state || state->unseen)) weight->severity = Severity::warning;
    const std::string loss = object_text(record, *violation.event, "the loss"),
                      scaler = object_text(record, *violation.later, "the scaler");
    Finding* finding = report.add(weight->severity, violation.event->place, violation.event->calls,
        code(loss + ".backward()") + " leaves gradients without the loss scale, but " +
            code(scaler + ".step(…)") + " divides them by it" + weight->when +
            " (by 65,536 at first): the optimizer hardly moves. Scale the loss: " +
            code(scaler + ".scale(" + loss + ").backward()") + ".");
    if (!finding) continue;
    report.relate(*finding, violation.later->place, "these gradients are divided by the scale here");
    if (!violation.event->expr || violation.event->calls != violation.later->calls ||
        !record.in_file(violation.event->place))
      continue;
    if (violation.event->expr->function->kind != syntax::ExprKind::attribute) continue;
    const auto& object = *syntax::as<syntax::AttributeExpr>(*violation.event->expr->function).object;
    std::string_view inner = loss;
    if (object.kind != syntax::ExprKind::name && object.kind != syntax::ExprKind::attribute &&
        inner.starts_with("(") && inner.ends_with(")"))
      inner = inner.substr(1, inner.size() - 2);
    Fix fix;
    fix.title = "Scale the loss: " + scaler + ".scale(" + std::string(inner) + ")";
    fix.preferred = true;
    fix.edits.push_back({report.location({violation.event->place.chunk, object.span}),
        scaler + ".scale(" + std::string(inner) + ")"});
    finding->fixes.push_back(std::move(fix));
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/unscaled-backward",
    .severity = Severity::error,
    .summary = "backward of a loss that is not scaled, where a GradScaler makes the step",
    .why =
        "`scaler.step(optimizer)` divides every gradient by the loss scale, 65,536 at first, because it expects them from "
        "`scaler.scale(loss).backward()`. Gradients of a plain `loss.backward()` do not carry the scale: they become 65,536 times too "
        "small, and the model hardly learns (measured: a step of 4.66e-08 instead of 0.00332). Nothing is raised, and small half-precision gradients are lost besides.",
    .wrong = "loss.backward()\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .right = "scaler.scale(loss).backward()\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .silent =
        "A scaler made with `enabled=False`; a loss that is scaled elsewhere (`loss = scaler.scale(loss)`), or added after `unscale_`; an optimizer whose "
        "parameters the loss does not reach; a loop that a framework runs. When it is not known whether the scaler is enabled, "
        "the finding is a warning that names the condition.",
    .fix = "Puts the loss into `scaler.scale(…)`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::unscaled_backward
