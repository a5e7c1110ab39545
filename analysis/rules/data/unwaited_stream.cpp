// data/unwaited-stream: batches are copied to the GPU in a stream of their own, and nothing waits for it.
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::data::unwaited_stream {

using values::code;
using values::Kind;
using values::Operation;

namespace {

// `with torch.cuda.stream(own)`, of a stream that the program made.
bool is_region(const OperationEvent& event) {
  return event.row->operation == Operation::poll && event.row->kind == values::RowKind::class_ &&
      !event.arguments.empty() && event.arguments[0].is(Kind::instance);
}
bool waits(const OperationEvent& event) {
  return event.row->operation == Operation::poll && event.row->kind != values::RowKind::class_;
}

void look(const TrainingRoot& training_root, Report& report, Once& once) {
  // Whoever waits for anything may wait for this.
  if (std::ranges::any_of(training_root.all, [](const TrainingEvent& each) { return waits(*each.event); }))
    return;
  const auto trains = std::ranges::find_if(training_root.all, [](const TrainingEvent& each) {
    return each.event->row->operation == Operation::backward && !each.loops.empty() &&
        repeats(*each.loops.back());
  });
  if (trains == training_root.all.end()) return;
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& region = *each.event;
    if (!is_region(region)) continue;
    // Unseen code that has the stream may wait for it.
    const bool handed = std::ranges::any_of(training_root.all, [&](const TrainingEvent& other) {
      return other.event->row->operation == Operation::unseen &&
          is_handed(*other.event, region.arguments[0].object());
    });
    if (handed || !once(region.place)) continue;
    Finding* finding = report.add(Severity::warning, region.place, region.calls,
        "Nothing waits for this stream: the training step may read a batch before its copy has ended. Call " +
            code("torch.cuda.current_stream().wait_stream(…)") +
            " with this stream before the batch is used.");
    if (!finding) continue;
    report.relate(*finding, region.arguments[0].object()->born, "the stream is made here");
    report.relate(*finding, trains->event->place, "the training step");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    if (!training_root.root->truncated) look(training_root, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "data/unwaited-stream",
    .severity = Severity::warning,
    .summary = "batches are copied in a stream of their own, and nothing waits for it",
    .why =
        "Work in two CUDA streams has no order. A prefetcher that copies the next batch in a side stream has to let the main stream wait for it, "
        "or the model reads memory that still holds an older batch: no error, and numbers that are wrong now and then.",
    .wrong = "with torch.cuda.stream(self.stream):\n"
             "    self.next = self.next.cuda(non_blocking=True)\n"
             "batch = self.next\n",
    .right = "with torch.cuda.stream(self.stream):\n"
             "    self.next = self.next.cuda(non_blocking=True)\n"
             "torch.cuda.current_stream().wait_stream(self.stream)\n"
             "batch = self.next\n",
    .silent =
        "Programs that wait for any stream, event or the device; streams that are given, or handed to code that is not seen; programs that do not train.",
    .fix = "None: decide where the batch is used first.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::data::unwaited_stream
