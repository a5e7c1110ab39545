// loop/scheduler-pairs: as many schedulers as optimizers, and two of them are of the same one.
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::loop::scheduler_pairs {

using namespace interpreter;
using values::Operation;

namespace {

struct MadeObjects {
  std::vector<const OperationEvent*> optimizers, schedulers;
};

// What every run of the block makes, once.
void add_made(const Block& block, MadeObjects& made) {
  for (const Event* event : block.events) {
    if (event->kind == EventKind::call) add_made(static_cast<const CallEvent*>(event)->body, made);
    if (event->kind != EventKind::operation) continue;
    const auto* operation = static_cast<const OperationEvent*>(event);
    if (operation->row->operation == Operation::optimizer_made) made.optimizers.push_back(operation);
    if (operation->row->operation == Operation::scheduler_made) made.schedulers.push_back(operation);
  }
}

// The object that a constructor makes, or that a function gives back.
const Object* made_by(const OperationEvent& event) {
  return event.self.object() ? event.self.object() : event.result.object();
}

// The optimizer that a scheduler is made of; null if that is not known.
const Object* optimizer_of(const OperationEvent& scheduler) {
  return scheduler.arguments.empty() ? nullptr : scheduler.arguments[0].object();
}

void look_at(const Root& root, Report& report, Once& once) {
  MadeObjects made;
  add_made(root.block, made);
  if (made.optimizers.size() < 2 || made.schedulers.size() != made.optimizers.size()) return;
  // Of one kind: who makes a warm-up and what follows it makes two kinds, and joins them.
  const bool equivalent = std::ranges::all_of(made.schedulers, [&](const OperationEvent* each) {
    return each->row == made.schedulers.front()->row && optimizer_of(*each);
  });
  if (!equivalent) return;
  std::map<const Object*, std::vector<const OperationEvent*>> by_optimizer;
  for (const OperationEvent* each : made.schedulers) by_optimizer[optimizer_of(*each)].push_back(each);
  const OperationEvent* without = nullptr;
  for (const OperationEvent* each : made.optimizers)
    if (!by_optimizer.contains(made_by(*each))) without = without ? nullptr : each;
  const auto twice = std::ranges::find_if(
      by_optimizer, [](const auto& each) { return each.second.size() == 2; });
  if (!without || twice == by_optimizer.end() ||
      std::ranges::none_of(
          made.optimizers, [&](const OperationEvent* each) { return made_by(*each) == twice->first; }) ||
      !once(twice->second[1]->place))
    return;
  Finding* finding = report.add(Severity::warning, twice->second[1]->place, twice->second[1]->calls,
      "This is the second scheduler of the same optimizer, and another optimizer has none: its learning rate never changes. Create one scheduler for each optimizer.");
  if (!finding) return;
  report.relate(*finding, twice->second[0]->place, "the first");
  report.relate(*finding, without->place, "the optimizer that has none");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) look_at(*root, report, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/scheduler-pairs",
    .severity = Severity::warning,
    .summary = "two schedulers of one optimizer, and none of another",
    .why =
        "Programs with two optimizers, as GANs, make the schedulers by copying a line. Where the name of the optimizer is not changed, one optimizer gets both schedules, which undo each other's work, and the other keeps its first learning rate to the end.",
    .wrong = "sched_g = StepLR(opt_g, 10)\n"
             "sched_d = StepLR(opt_g, 10)\n",
    .right = "sched_g = StepLR(opt_g, 10)\n"
             "sched_d = StepLR(opt_d, 10)\n",
    .silent =
        "Schedules of different kinds for one optimizer, which follow each other; schedulers that a condition makes.",
    .fix = "None yet.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::scheduler_pairs
