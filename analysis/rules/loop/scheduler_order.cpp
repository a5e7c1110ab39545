// loop/scheduler-order: a scheduler that steps before the optimizer, or more or less often than its numbers were meant for.
#include "rules/loop/absent.hpp"
#include "rules/loop/gated.hpp"
#include "rules/list.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

Value optimizer_of(const Object* scheduler) {
  const auto* instance = dynamic_cast<const Instance*>(scheduler);
  const values::Slot* slot = instance ? instance->attributes.find(syntax::Name("$optimizer")) : nullptr;
  return slot ? slot->value : Value{};
}
Value argument(const OperationEvent& event, std::string_view name) {
  for (std::size_t i = 0; i < event.row->parameters.size() && i < event.arguments.size(); ++i)
    if (event.row->parameters[i].text() == name) return event.arguments[i];
  return {};
}
std::optional<std::int64_t> number(const Record& record, Value value) {
  return value.is(Kind::integer) ? record.symbols.value(value.integer()) : std::nullopt;
}
bool is(const OperationEvent& made, std::string_view name) { return made.row->path.ends_with(name); }

struct Steps {
  const Happening* made = nullptr;
  std::vector<const Happening*> steps;
  Value optimizer;
};

// Before the first step of its optimizer, in the same round of a loop, whatever happens.
const Happening* steps_first(const Scene& scene, const Steps& scheduler) {
  const Happening& first = *scheduler.steps.front();
  const auto& arguments = first.event->arguments;
  if (first.loops.empty() || !first.turns.empty() || (!arguments.empty() && arguments[0] && !arguments[0].is(Kind::none))) return nullptr;
  bool behind = false;
  for (const Happening& each : scene.all) {
    behind = behind || each.event == first.event;
    const bool steps = stepped_optimizer(*each.event).object() == scheduler.optimizer.object();
    if (!behind && (steps || (each.event->row->operation == Operation::unseen && is_handed(*each.event, scheduler.optimizer.object()) && each.in(first.loops.back())))) return nullptr;
    if (behind && steps) return each.in(first.loops.back()) ? &each : nullptr;
  }
  return nullptr;
}

// Made for every batch (epochs × steps_per_epoch), and stepped in the loop over epochs: around one that steps the optimizer.
const LoopEvent* steps_per_epoch(const Scene& scene, const Steps& scheduler) {
  const OperationEvent& made = *scheduler.made->event;
  if (!is(made, ".OneCycleLR")) return nullptr;
  const Value per_epoch = argument(made, "steps_per_epoch");
  if (!per_epoch || per_epoch.is(Kind::none)) return nullptr;
  const LoopEvent* inner = nullptr;
  for (const Happening* step : scheduler.steps) {
    if (step->loops.empty()) return nullptr;
    for (const Happening& each : scene.all)
      if (stepped_optimizer(*each.event).object() == scheduler.optimizer.object() && each.in(step->loops.back()) && each.loops.back() != step->loops.back()) inner = each.loops.back();
      else if (stepped_optimizer(*each.event).object() == scheduler.optimizer.object() && each.in(step->loops.back())) return nullptr;
  }
  return inner && repeats(*inner) ? inner : nullptr;
}

// Its period is the number of epochs, and it steps in the loop over batches.
const LoopEvent* steps_per_batch(const Record& record, const Steps& scheduler) {
  const OperationEvent& made = *scheduler.made->event;
  if (!is(made, ".CosineAnnealingLR")) return nullptr;
  const auto period = number(record, argument(made, "T_max"));
  if (!period || *period < 2) return nullptr;
  for (const Happening* step : scheduler.steps) {
    if (step->loops.size() < 2 || !step->turns.empty() || !repeats(*step->loops.back())) return nullptr;
    const LoopEvent* outer = step->loops[step->loops.size() - 2];
    if (!outer->unrolled || static_cast<std::int64_t>(outer->rounds.size()) != *period) return nullptr;
  }
  return scheduler.steps.front()->loops[scheduler.steps.front()->loops.size() - 2];
}

// More steps than the cycle has, all of them known.
std::optional<std::size_t> overrun(const Record& record, const Steps& scheduler, std::int64_t& total) {
  const OperationEvent& made = *scheduler.made->event;
  if (!is(made, ".OneCycleLR")) return std::nullopt;
  const auto steps = number(record, argument(made, "total_steps"));
  const auto epochs = number(record, argument(made, "epochs")), per_epoch = number(record, argument(made, "steps_per_epoch"));
  if (!steps && !(epochs && per_epoch)) return std::nullopt;
  total = steps ? *steps : *epochs * *per_epoch;
  std::size_t count = 0;
  for (const Happening* step : scheduler.steps) {
    if (step->in_handler) return std::nullopt;
    if (!step->turns.empty()) continue;
    ++count;  // a loop that is not unrolled may make none, or many
  }
  for (const Happening* step : scheduler.steps)
    for (const LoopEvent* loop : step->loops)
      if (!loop->unrolled) return std::nullopt;
  return static_cast<std::int64_t>(count) > total ? std::optional(count) : std::nullopt;
}

void judge(const Record& record, const Scene& scene, const Steps& scheduler, Report& report, Once& once) {
  const OperationEvent& event = *scheduler.steps.front()->event;
  const OperationEvent& made = *scheduler.made->event;
  const std::string name = object_text(record, event, "the scheduler");
  if (const Happening* later = steps_first(scene, scheduler)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
                                  name + ".step() comes before " + record_call(record, *later->event) +
                                      ": the first learning rate is skipped. Since PyTorch 1.1 the scheduler steps behind the optimizer.");
    if (!finding) return;
    report.relate(*finding, later->event->place, "the optimizer steps here");
    Fix fix;
    fix.title = "Step the scheduler behind the optimizer";
    fix.preferred = true;
    if (move_statement(record, event, *later->event, true, fix)) finding->fixes.push_back(std::move(fix));
    return;
  }
  std::int64_t total = 0;
  if (const auto count = overrun(record, scheduler, total)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
                                  name + ".step() is called " + std::to_string(*count) + " times, and the cycle has " + std::to_string(total) +
                                      " steps: the one behind it raises ValueError. Give the number of batches of all epochs as total_steps.");
    if (finding) report.relate(*finding, made.place, "the cycle is made for " + std::to_string(total) + " steps");
    return;
  }
  if (const LoopEvent* inner = steps_per_epoch(scene, scheduler)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
                                  name + " is made for a step behind every batch (epochs × steps_per_epoch), and steps once per epoch: it never leaves the start of its cycle.");
    if (!finding) return;
    report.relate(*finding, made.place, "made for every batch here");
    report.relate(*finding, inner->place, "the loop over the batches");
    return;
  }
  if (const LoopEvent* epochs = steps_per_batch(record, scheduler)) {
    if (!once(event.place)) return;
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
                                  name + " is made for " + std::to_string(epochs->rounds.size()) + " steps, one per epoch, and steps behind every batch: the learning rate swings up and down many times. Step it once per epoch.");
    if (!finding) return;
    report.relate(*finding, made.place, "T_max is the number of epochs");
    report.relate(*finding, epochs->place, "the loop over the epochs");
  }
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    for (const Happening& made : scene.all) {
      if (made.event->row->operation != Operation::scheduler_made) continue;
      Steps scheduler{&made, {}, optimizer_of(made.event->self.object())};
      bool unseen = false;
      for (const Happening& each : scene.all) {
        if (each.event->row->operation == Operation::scheduler_step && each.event->self.object() == made.event->self.object()) scheduler.steps.push_back(&each);
        unseen = unseen || (each.event->row->operation == Operation::unseen && is_handed(*each.event, made.event->self.object()));
      }
      if (scheduler.steps.empty() || unseen || !scheduler.optimizer.is(Kind::instance)) continue;
      judge(record, scene, scheduler, report, once);
    }
  }
}

} // namespace

constexpr Rule scheduler_order = complete({
    .id = "loop/scheduler-order",
    .severity = Severity::warning,
    .summary = "a scheduler that steps before the optimizer, or not as often as its numbers mean",
    .why = "A scheduler sets the first learning rate when it is made and the next at each `step()`. Before the first `optimizer.step()` it skips "
           "the first value; PyTorch warns \"Detected call of `lr_scheduler.step()` before `optimizer.step()`\". Its numbers count steps: a "
           "OneCycleLR made for every batch and stepped per epoch stays at its start, one stepped beyond its total raises ValueError, "
           "and a cosine over the number of epochs, stepped per batch, swings up and down.",
    .wrong = "for epoch in range(epochs):\n"
             "    scheduler.step()\n"
             "    train_one_epoch(model, optimizer, loader)\n",
    .right = "for epoch in range(epochs):\n"
             "    train_one_epoch(model, optimizer, loader)\n"
             "    scheduler.step()\n",
    .silent = "`step(epoch)` that says where it is; restarts with fractions of an epoch; a warm-up that steps per batch; steps that a GradScaler "
              "skips; schedulers of code that is not seen.",
    .fix = "Moves the scheduler's step behind the optimizer's, where both stand in one block.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

} // namespace stepzero::rules
