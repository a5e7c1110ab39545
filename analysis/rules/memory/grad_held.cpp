// memory/grad-held: gradients are filled with zeros where they could be given back.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"

#include <algorithm>

namespace stepzero::rules::memory::grad_held {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The flag is written there: what a method of the program's own hands on is its caller's choice.
bool is_written(const syntax::CallExpr& call) {
  const syntax::Expr* flag = call.arguments.empty() ? call.keywords.empty() ? nullptr : call.keywords[0].value
                                                    : call.arguments[0];
  return flag && flag->kind == syntax::ExprKind::boolean;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  const std::vector<TrainingLoop> loops = training_loops(training);
  Once once;
  for (const TrainingRoot& training_root : training.training_roots()) {
    // Who touches gradients may count on them to be there.
    if (by_hand(training_root, nullptr)) continue;
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& event = *each.event;
      if (event.row->operation != Operation::zero_grad || !event.expr || event.arguments.empty() ||
          !is_written(*event.expr))
        continue;
      // Once in an epoch it does not matter.
      if (std::none_of(loops.begin(), loops.end(), [&](const TrainingLoop& loop) {
            return loop.training_root == &training_root && each.in(loop.loop);
          }))
        continue;
      const Value to_none = event.arguments[0];
      if (!to_none.is(Kind::boolean) || record.symbols.decide(to_none.condition()) != Answer::no ||
          event.expr->arguments.size() + event.expr->keywords.size() != 1)
        continue;
      if (!once(event.place)) continue;
      Finding* finding = report.add(Severity::hint, event.place, event.calls,
          "`set_to_none=False` keeps a gradient for every parameter and fills it with zeros at each step. Remove this argument: the memory is then free during the forward, and the backward writes instead of adding.");
      if (!finding || !record.in_file(event.place)) continue;
      const syntax::Span all = event.expr->span, function = event.expr->function->span;
      Fix fix;
      fix.title = "Set the gradients to None";
      fix.edits.push_back({report.location({event.place.chunk, {function.end, all.end}}), "()"});
      finding->fixes.push_back(std::move(fix));
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/grad-held",
    .severity = Severity::hint,
    .summary = "zero_grad(set_to_none=False) in a training loop",
    .why =
        "With `set_to_none=False` the gradients of all parameters stay in memory, filled with zeros, while the forward needs it for activations, "
        "and each backward adds to zeros. Since PyTorch 2.0 `zero_grad()` sets them to None.",
    .wrong = "optimizer.zero_grad(set_to_none=False)\n",
    .right = "optimizer.zero_grad()\n",
    .silent =
        "Programs that read or write `.grad` themselves, which may count on it; calls outside the loop that makes the steps, as once in an epoch; a flag that is not known, or that a method hands on.",
    .fix = "Leaves the argument out.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::memory::grad_held
