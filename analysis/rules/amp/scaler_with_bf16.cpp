// amp/scaler-with-bf16: a GradScaler where autocast computes in bfloat16.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::rules::amp::scaler_with_bf16 {

using namespace interpreter;
using values::Operation;

namespace {

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  std::vector<Autocast> regions;
  Once once;
  visit_operations(record, with_operation(Operation::scaler_made), [&](const OperationEvent& made) {
    const Object* scaler = made.self.object();
    // A scaler of the module may scale in a function that nobody calls.
    const bool used = std::any_of(training.training_roots().begin(), training.training_roots().end(),
        [&](const TrainingRoot& training_root) {
          return !training_root.handed_over &&
              std::any_of(training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
                return each.event->row->operation == Operation::scale && each.event->self.object() == scaler;
              });
        });
    const values::Cond scales = enabled(record, scaler);
    if (!used || (scales && record.symbols.decide(scales) != Answer::yes)) return;
    if (regions.empty()) regions = training_regions(record);
    const bool only_bfloat = !regions.empty() &&
        std::all_of(regions.begin(), regions.end(), [](const Autocast& region) {
          return region.dtype == values::Dtype::bfloat16 && region.enabled == Answer::yes;
        });
    if (!only_bfloat || !once(made.place)) return;
    Finding* finding = report.add(Severity::information, made.place, made.calls,
        "A `GradScaler` is not needed here: `autocast` computes in `bfloat16`, which has the range of `float32`, so small gradients are not "
        "lost. Remove it, or enable it for `float16` alone.");
    if (finding) report.relate(*finding, regions[0].around->place, "`autocast` computes in `bfloat16` here");
  });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/scaler-with-bf16",
    .severity = Severity::information,
    .summary = "a GradScaler where autocast computes in bfloat16",
    .why =
        "Loss scaling keeps small gradients above the smallest number that float16 can hold. bfloat16 has the exponents of float32: nothing "
        "is lost that scaling could save (measured: its smallest normal number is 1.18e-38, and 0.0 of the gradients become zero without a scale). The scaler still multiplies, divides and looks for inf in every gradient on every step, and waits "
        "for the GPU to do so.",
    .wrong = "scaler = torch.amp.GradScaler(\"cuda\")\n"
             "with torch.autocast(\"cuda\", dtype=torch.bfloat16):\n"
             "    loss = loss_fn(model(x), y)\n"
             "scaler.scale(loss).backward()\n",
    .right = "scaler = torch.amp.GradScaler(\"cuda\", enabled=dtype == torch.float16)\n"
             "with torch.autocast(\"cuda\", dtype=dtype):\n"
             "    loss = loss_fn(model(x), y)\n"
             "scaler.scale(loss).backward()\n",
    .silent =
        "A scaler that is enabled for float16 only; a type that comes from the command line; programs that use both types.",
    .fix = "None: decide whether to remove the scaler or to enable it for float16 only.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::amp::scaler_with_bf16
