// amp/fp16-without-scaler: a backward of a loss that autocast computed in float16, and no GradScaler.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::rules::amp::fp16_without_scaler {

using namespace interpreter;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  bool any_scaler = false;
  for (const TrainingRoot& training_root : training.training_roots())
    for (const TrainingEvent& each : training_root.all) {
      const Operation operation = each.event->row->operation;
      any_scaler = any_scaler || training_root.handed_over || operation == Operation::scaler_made ||
          operation == Operation::scale || operation == Operation::scaler_step ||
          operation == Operation::unscale || operation == Operation::scaler_update ||
          operation == Operation::gradient_written;
    }
  if (any_scaler || record.arounds.empty()) return;
  Once once;
  for (const TrainingRoot& training_root : training.training_roots())
    for (const TrainingEvent& each : training_root.all) {
      const OperationEvent& backward = *each.event;
      if (backward.row->operation != Operation::backward || each.loops.empty()) continue;
      // The step that makes a training loop of it.
      const bool stepped = std::any_of(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& other) {
            return other.event->row->operation == Operation::optimizer_step && other.in(each.loops.back()) &&
                feeds(training_root, backward, other.event->self) == Answer::yes;
          });
      if (!stepped) continue;
      auto region = autocast_of_loss(record, backward);
      if (!region || region->device.empty() || region->enabled == Answer::unknown)
        region = autocast_of_loss_if_there(record, backward);
      if (!region || region->enabled != Answer::yes || region->dtype != values::Dtype::float16 ||
          region->device != "cuda" || region->without_gradients)
        continue;
      if (!once(backward.place)) continue;
      Finding* finding = report.add(Severity::warning, backward.place, backward.calls,
          std::string(region->if_there ? "On a GPU, this" : "This") +
              " loss is computed in `float16`, and no `GradScaler` scales it: gradients below 6e-8 become zero. Scale the loss, or "
              "let `autocast` use `bfloat16`.");
      if (finding) report.relate(*finding, region->around->place, "`autocast` computes in `float16` here");
    }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/fp16-without-scaler",
    .severity = Severity::warning,
    .summary = "training under float16 autocast without a GradScaler",
    .why =
        "The smallest number above zero that float16 can hold is about 6e-8; gradients below it become zero on their way back, and the layers "
        "that they belong to stop learning (measured on gradients around 1e-8: a part of 0.997 is zero, and of 2e-05 with a scale of 65536). A GradScaler multiplies the loss, and so every gradient, before the backward and divides "
        "again before the step.",
    .wrong = "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
             "    loss = loss_fn(model(x), y)\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .right = "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
             "    loss = loss_fn(model(x), y)\n"
             "scaler.scale(loss).backward()\n"
             "scaler.step(optimizer)\n"
             "scaler.update()\n",
    .silent =
        "bfloat16; evaluation under `no_grad`; regions that a flag switches; a program with a GradScaler anywhere, or whose loop a "
        "framework runs.",
    .fix = "None: decide between scaling and another type.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::amp::fp16_without_scaler
