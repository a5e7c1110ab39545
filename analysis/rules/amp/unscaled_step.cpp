// amp/unscaled-step: optimizer.step() on gradients that still carry the GradScaler's scale.
#include "rules/name_hints.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::amp::unscaled_step {

using values::code;

using namespace interpreter;
using values::Operation;

namespace {

void add_fix(const Record& record, Report& report, const OrderViolation& violation,
    const std::string& optimizer, const std::string& scaler, Finding& finding) {
  const OperationEvent& step = *violation.event;
  if (!violation.scale || !step.expr || violation.scale->calls != step.calls || !record.in_file(step.place))
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
  const bool has_update = std::any_of(violation.training_root->all.begin(),
      violation.training_root->all.end(), [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::scaler_update &&
            each.event->self.object() == violation.scaler;
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

// Does the program decide it by a setting, the same on every rank and in every iteration, rather than by what
// it finds in the gradients?
bool is_option(const Record& record, const Turn& turn) {
  const symbolic::Cond condition = turn.branch->condition;
  if (!condition || record.unseen.contains(condition) ||
      record.symbols.sharing(condition) != symbolic::Sharing::uniform)
    return false;
  return record.symbols.is_named(condition) &&
      !says(record.symbols.text(condition), Says::found_in_gradients);
}

// A function that is given a scaler updates it beside a step of its own, and nothing in it goes through the
// scaler.
void look_for_bypassed(const Record& record, Report& report, const TrainingRoot& training_root, Once& once) {
  const auto works = [](const TrainingEvent& each) {
    switch (each.event->row->operation) {
    case Operation::scale:
    case Operation::scaler_made:
    case Operation::scaler_step:
    case Operation::unscale:
    case Operation::backward: return true;
    default: return false;
    }
  };
  if (training_root.root->truncated || std::ranges::any_of(training_root.all, works)) return;
  const auto equivalent = [](const TrainingEvent& one, const TrainingEvent& other) {
    return one.event->calls == other.event->calls && one.loops == other.loops &&
        std::ranges::equal(one.turns, other.turns,
            [](const Turn& a, const Turn& b) { return a.branch == b.branch && a.yes == b.yes; });
  };
  for (std::size_t at = 0; at < training_root.all.size(); ++at) {
    const TrainingEvent& update = training_root.all[at];
    if (update.event->row->operation != Operation::scaler_update) continue;
    const auto& given = update.event->arguments;
    if (!given.empty() && given[0] && !given[0].is(values::Kind::none)) continue;  // it sets the scale
    for (std::size_t before = at; before-- > 0;) {
      const TrainingEvent& step = training_root.all[before];
      if (step.event->row->operation != Operation::optimizer_step || !equivalent(step, update)) continue;
      if (!once(step.event->place)) break;
      const std::string optimizer = object_text(record, *step.event, "the optimizer"),
                        scaler = object_text(record, *update.event, "the scaler");
      Finding* finding = report.add(Severity::warning, step.event->place, step.event->calls,
          code(optimizer + ".step()") + " bypasses the scaler, though " + code(scaler + ".update()") +
              " follows: gradients are applied with the loss scale, or with inf and nan in them. Step through the scaler: " +
              code(scaler + ".step(" + optimizer + ")") + ".");
      if (finding) report.relate(*finding, update.event->place, "the scaler is updated here");
      break;
    }
  }
}

// Has the one operation turns around it that the other has not?
bool stands_under_more(const Record& record, const TrainingRoot& training_root, const OperationEvent& one,
    const OperationEvent& other) {
  const std::vector<Turn>* theirs = nullptr;
  for (const TrainingEvent& each : training_root.all)
    if (each.event == &other) theirs = &each.turns;
  for (const TrainingEvent& each : training_root.all)
    if (each.event == &one)
      return std::any_of(each.turns.begin(), each.turns.end(), [&](const Turn& turn) {
        // An option of the program, the same on every rank and in every iteration, looks for nothing.
        if (is_option(record, turn)) return false;
        return !theirs || std::none_of(theirs->begin(), theirs->end(), [&](const Turn& known) {
          return known.yes == turn.yes &&
              (known.branch == turn.branch ||
                  (known.branch->condition && known.branch->condition == turn.branch->condition));
        });
      });
  return false;
}
void report_unscale(Report& report, Finding& finding, const OrderViolation& violation) {
  for (const TrainingEvent& each : violation.training_root->all)
    if (each.event->row->operation == Operation::unscale && each.event->self.object() == violation.scaler)
      return report.relate(finding, each.event->place, "the scaler unscales them here");
}

constexpr double usual_scale = 65536;  // of a scaler that is not told otherwise

// Is the scaler only a constant factor that the program chose, and does the optimizer divide by the size of
// the gradients, whatever they are multiplied by? Then what is lost is that steps with inf or nan are
// skipped.
bool hides_the_scale(const OrderViolation& violation) {
  const auto* optimizer = violation.optimizer.is(values::Kind::instance) ? violation.optimizer.as<Instance>()
                                                                         : nullptr;
  const values::Row* row = optimizer && optimizer->native ? optimizer->native->row : nullptr;
  if (!row || std::ranges::none_of(row->parameters, [](syntax::Name name) { return name.text() == "eps"; }))
    return false;
  const bool chosen = std::ranges::any_of(violation.training_root->all, [&](const TrainingEvent& each) {
    const OperationEvent& made = *each.event;
    const Value scale = argument(made, "init_scale");
    return made.row->operation == Operation::scaler_made && made.self.object() == violation.scaler &&
        scale.is(values::Kind::real) && scale.real() != usual_scale;
  });
  return chosen && std::ranges::none_of(violation.training_root->all, [&](const TrainingEvent& each) {
    const Operation operation = each.event->row->operation;
    return operation == Operation::scaler_update || operation == Operation::scaler_step ||
        operation == Operation::clip_gradients;
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const OrderViolation& violation : Training::of(record).violations()) {
    const bool past = violation.kind == ViolationKind::step_past_scaler;
    if (!past && violation.kind != ViolationKind::plain_step) continue;
    const OperationEvent& step = *violation.event;
    // After a condition of its own the program may look for inf and nan itself.
    if (past && stands_under_more(record, *violation.training_root, step, *violation.before)) continue;
    auto weight = severity_under(record, violation, step);
    if (!weight || !once(step.place)) continue;
    const std::string optimizer = object_text(record, step, "optimizer");
    const std::string scaler = violation.scale ? object_text(record, *violation.scale, "scaler") : "scaler";
    const Severity severity = past || hides_the_scale(violation) ? Severity::warning : weight->severity;
    Finding* finding = report.add(severity, step.place, step.calls,
        past ? code(optimizer + ".step()") + " bypasses the scaler" + weight->when +
                ", so gradients that hold inf or nan are applied, as the first loss scales make them. Step through the scaler: " +
                code(scaler + ".step(" + optimizer + ")") + "."
             : code(optimizer + ".step()") +
                " uses gradients that are still multiplied by the loss scale (65,536 at first)" +
                weight->when +
                ". Step through the scaler, which unscales them and skips steps with inf or nan: " +
                code(scaler + ".step(" + optimizer + ")") + ".");
    if (!finding) continue;
    if (violation.before->row->operation != Operation::unscale)
      report.relate(
          *finding, violation.before->place, "the backward of the scaled loss leaves scaled gradients");
    if (past) report_unscale(report, *finding, violation);
    if (violation.scale) report.relate(*finding, violation.scale->place, "the loss is scaled here");
    if (violation.on_path.empty()) add_fix(record, report, violation, optimizer, scaler, *finding);
  }
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    look_for_bypassed(record, report, training_root, once);
}

}  // namespace

extern constexpr Rule rule = complete({
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
        "were unscaled with `scaler.unscale_(optimizer)` and are stepped under a condition, which may look for inf and nan; `if scaler: scaler.step(opt) else: opt.step()`. When it is "
        "not known whether the scaler is enabled, the finding is a warning that names the condition.",
    .fix = "Replaces the call by `scaler.step(optimizer)` and adds `scaler.update()` where there is none.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::unscaled_step
