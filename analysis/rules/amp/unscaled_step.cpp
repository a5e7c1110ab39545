// amp/unscaled-step: optimizer.step() on gradients that still carry the GradScaler's scale.
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

void add_fix(const Record& record, Report& report, const OrderViolation& mistake,
    const std::string& optimizer, const std::string& scaler, Finding& finding) {
  const OperationEvent& step = *mistake.event;
  if (!mistake.scale || !step.expr || mistake.scale->calls != step.calls || !record.in_file(step.place))
    return;
  const SourceLines source(record, step.place.chunk);
  const auto path = enclosing(*record.chunk(step.place).chunk->stmt, step.expr->span);
  if (path.empty() || path.back().stmt->kind != syntax::StmtKind::expression ||
      syntax::as<syntax::ExpressionStmt>(*path.back().stmt).value != step.expr)
    return;
  std::string text = scaler + ".step(" + optimizer;
  for (const syntax::Expr* argument : step.expr->arguments)
    text += ", " + std::string(source.text(*argument));
  for (const syntax::Keyword& keyword : step.expr->keywords)
    text += ", " + std::string(source.text(keyword.span));
  text += ")";
  Fix fix;
  fix.title = "Step through the scaler: " + scaler + ".step(" + optimizer + ")";
  const bool has_update = std::any_of(
      mistake.scene->all.begin(), mistake.scene->all.end(), [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::scaler_update &&
            each.event->self.object() == mistake.scaler;
      });
  if (!has_update) {
    if (!source.own_line(*path.back().stmt)) return;
    text += source.line_ending() + source.indentation(*path.back().stmt) + scaler + ".update()";
    fix.title += " and " + scaler + ".update()";
  }
  fix.preferred = true;
  fix.edits.push_back({report.location(step.place), text});
  finding.fixes.push_back(std::move(fix));
}

// Has the one operation turns around it that the other has not?
bool stands_under_more(const TrainingRoot& scene, const OperationEvent& one, const OperationEvent& other) {
  const std::vector<Turn>* theirs = nullptr;
  for (const TrainingEvent& each : scene.all)
    if (each.event == &other) theirs = &each.turns;
  for (const TrainingEvent& each : scene.all)
    if (each.event == &one)
      return std::any_of(each.turns.begin(), each.turns.end(), [&](const Turn& turn) {
        return !theirs || std::none_of(theirs->begin(), theirs->end(), [&](const Turn& known) {
          return known.yes == turn.yes &&
              (known.branch == turn.branch ||
                  (known.branch->condition && known.branch->condition == turn.branch->condition));
        });
      });
  return false;
}
void report_unscale(Report& report, Finding& finding, const OrderViolation& mistake) {
  for (const TrainingEvent& each : mistake.scene->all)
    if (each.event->row->operation == Operation::unscale && each.event->self.object() == mistake.scaler)
      return report.relate(finding, each.event->place, "the scaler unscales them here");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OrderViolation& mistake : Training::of(record).mistakes()) {
    const bool past = mistake.slip == ViolationKind::step_past_scaler;
    if (!past && mistake.slip != ViolationKind::plain_step) continue;
    const OperationEvent& step = *mistake.event;
    // Behind a condition of its own the program may look for inf and nan itself.
    if (past && stands_under_more(*mistake.scene, step, *mistake.before)) continue;
    auto weight = severity_under(record, mistake, step);
    if (!weight || !once(step.place)) continue;
    const std::string optimizer = object_text(record, step, "optimizer");
    const std::string scaler = mistake.scale ? object_text(record, *mistake.scale, "scaler") : "scaler";
    Finding* finding = report.add(past ? Severity::warning : weight->severity, step.place, step.calls,
        past ? code(optimizer + ".step()") + " bypasses the scaler" + weight->when +
                ", so gradients that hold inf or nan are applied, as the first loss scales make them. Step through the scaler: " +
                code(scaler + ".step(" + optimizer + ")") + "."
             : code(optimizer + ".step()") +
                " uses gradients that are still multiplied by the loss scale (65,536 at first)" +
                weight->when +
                ". Step through the scaler, which unscales them and skips steps with inf or nan: " +
                code(scaler + ".step(" + optimizer + ")") + ".");
    if (!finding) continue;
    if (mistake.before->row->operation != Operation::unscale)
      report.relate(
          *finding, mistake.before->place, "the backward of the scaled loss leaves scaled gradients");
    if (past) report_unscale(report, *finding, mistake);
    if (mistake.scale) report.relate(*finding, mistake.scale->place, "the loss is scaled here");
    if (!mistake.on_path) add_fix(record, report, mistake, optimizer, scaler, *finding);
  }
}

}  // namespace

extern constexpr Rule unscaled_step = complete({
    .id = "amp/unscaled-step",
    .severity = Severity::error,
    .summary = "optimizer.step() on gradients that carry the GradScaler's scale",
    .why =
        "`scaler.scale(loss).backward()` leaves gradients that are multiplied by the loss scale, 65,536 at first. A plain "
        "`optimizer.step()` takes them as they are: with SGD the weights are gone after one step (measured: one of 218 instead of 0.00332); Adam hides it for a while "
        "but still applies inf and nan, because only `scaler.step(optimizer)` unscales and skips bad steps.",
    .wrong = "scaler.scale(loss).backward()\n"
             "optimizer.step()\n",
    .right = "scaler.scale(loss).backward()\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .silent =
        "A scaler made with `enabled=False`; an optimizer whose parameters the scaled loss does not reach; gradients that "
        "were unscaled with `scaler.unscale_(optimizer)` and are stepped behind a condition, which may look for inf and nan; `if scaler: scaler.step(opt) else: opt.step()`. When it is "
        "not known whether the scaler is enabled, the finding is a warning that names the condition.",
    .fix = "Replaces the call by `scaler.step(optimizer)` and adds `scaler.update()` where there is none.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules
