// perf/host-transfer-in-loop: every step makes a tensor on the CPU and copies it to the device.
#include "rules/name_hints.hpp"
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training_loops.hpp"

#include <algorithm>

namespace stepzero::rules::perf::host_transfer_in_loop {

using namespace interpreter;
using namespace syntax;
using values::Kind;
using values::Operation;

namespace {

// Is it a device that is not the CPU?
bool is_accelerator(Value given) {
  switch (given.kind) {
  case Kind::string:
  case Kind::device: return !device_text(given).starts_with("cpu");
  case Kind::integer: return true;
  case Kind::choice:
    return is_accelerator(given.as<values::Choice>()->yes) || is_accelerator(given.as<values::Choice>()->no);
  case Kind::unknown: return says(given.as<values::Unknown>()->name, Says::to_device);
  default: return false;
  }
}
bool goes_to_device(const OperationEvent& moved) {
  if (on_host(moved.made)) return false;
  for (std::size_t i = 1; i < moved.arguments.size(); ++i)
    if (is_accelerator(moved.arguments[i])) return true;
  return on_device(moved.made) && !on_device(moved.self_state());
}

// The call that the methods in front of `.cuda()` begin with: torch.ones(…) of torch.ones(…).tril().cuda().
const CallExpr* first_call(const CallExpr& call) {
  const Expr* object = &call;
  const CallExpr* first = nullptr;
  while (object->kind == ExprKind::call && as<CallExpr>(*object).function->kind == ExprKind::attribute) {
    first = &as<CallExpr>(*object);
    object = as<AttributeExpr>(*first->function).object;
  }
  return first;
}

bool is_made_by(const OperationEvent& moved, const OperationEvent& made) {
  if (moved.self.is(Kind::tensor) && moved.self == made.result) return true;
  if (moved.expr && made.expr && moved.calls == made.calls && first_call(*moved.expr) == made.expr)
    return true;
  // Through operations that take nothing else: torch.triu(torch.ones(n, n)). What only a part is taken of
  // stands for data.
  constexpr int most_operations = 8;
  const TensorState* from = moved.self_state();
  for (int way = 0; from && from->made && way < most_operations; ++way) {
    if (from->made->born == made.place) return true;
    const auto taken = inputs(*from->made);
    from = taken.size() == 1 && semantics(from) != OpSemantics::picked ? taken[0] : nullptr;
  }
  return false;
}

void mend(const Record& record, Report& report, Finding& finding, const OperationEvent& moved,
    const OperationEvent& made) {
  if (!moved.expr || !made.expr || !record.in_file(moved.place)) return;
  const auto& method = as<AttributeExpr>(*moved.expr->function);
  if (method.object != made.expr) return;
  std::string device = "\"cuda\"";
  if (moved.expr->arguments.size() == 1 && moved.expr->keywords.empty())
    device = std::string(record.text({moved.place.chunk, moved.expr->arguments[0]->span}));
  else if (!moved.expr->arguments.empty() || !moved.expr->keywords.empty())
    return;
  Fix fix;
  fix.title = "Make it on the device";
  fix.edits.push_back({report.location({moved.place.chunk, {made.expr->span.end - 1, moved.expr->span.end}}),
      ", device=" + device + ")"});
  finding.fixes.push_back(std::move(fix));
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const TrainingLoop& loop : training_loops(training)) {
    std::vector<const TrainingEvent*> made;
    for (const TrainingEvent& each : loop.training_root->all) {
      const OperationEvent& event = *each.event;
      if (!each.in(loop.loop)) continue;
      if (event.row->operation == Operation::created) made.push_back(&each);
      if (event.row->operation != Operation::transfer || !goes_to_device(event) ||
          !in_every_iteration(record, loop, each))
        continue;
      const auto from = std::find_if(made.rbegin(), made.rend(),
          [&](const TrainingEvent* one) { return is_made_by(event, *one->event); });
      if (from == made.rend()) continue;
      const OperationEvent& creation = *(*from)->event;
      const Value generator = argument(creation, "generator"), device = argument(creation, "device");
      if (on_device(creation.made) || (generator && !generator.is(Kind::none)) ||
          (device && !device.is(Kind::none)) || !record.in_file(event.place) || !once(event.place))
        continue;
      Finding* finding = report.add(Severity::information, event.place, event.calls,
          "Every step creates this tensor on the CPU and waits while it is copied to the GPU. Create it there: pass `device=` to the call that creates it" +
              std::string(creation.place == event.place ? "." : ", or create it once before the loop."));
      if (!finding) continue;
      if (!(creation.place == event.place)) report.relate(*finding, creation.place, "made here, on the CPU");
      report.relate(*finding, loop.backward->event->place, "the training step");
      mend(record, report, *finding, event, creation);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "perf/host-transfer-in-loop",
    .severity = Severity::information,
    .summary = "a training loop makes tensors on the CPU and moves them to the GPU at every step",
    .why =
        "`torch.randn(…).cuda()` fills the tensor on the CPU and copies it over the bus, and the copy from pageable memory waits until it is done. "
        "With `device=` the GPU fills its own memory: nothing is copied and nothing waits.",
    .wrong = "for step in range(steps):\n"
             "    noise = torch.randn(64, 100).cuda()\n"
             "    loss = critic(generator(noise)).mean()\n",
    .right = "for step in range(steps):\n"
             "    noise = torch.randn(64, 100, device=\"cuda\")\n"
             "    loss = critic(generator(noise)).mean()\n",
    .silent =
        "Batches of a loader and other data that lies on the CPU; tensors made of Python values; random numbers of a generator of the program's own; what is made "
        "before the loop or under a condition; loops that are not known to train.",
    .fix =
        "Passes the device to the call that makes the tensor. Random numbers come from the GPU's generator then, so they are others.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

}  // namespace stepzero::rules::perf::host_transfer_in_loop
