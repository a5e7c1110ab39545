// loop/cleared-accumulation: gradients are cleared in front of each backward of those that one step is made
// of: in a loop that the step comes after, or in a region of accumulation, in which the framework clears in
// the last of the batches alone.
#include "libraries/table/class_roles.hpp"
#include "libraries/torch/distributed/jobs.hpp"
#include "rules/rule.hpp"
#include "rules/source.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::loop::cleared_accumulation {

using namespace interpreter;
using libraries::FrameworkCall;
using values::code;
using values::Operation;

namespace {

constexpr std::string_view batches = "gradient_accumulation_steps", plugin = "gradient_accumulation_plugin";

// Does the program accumulate over one batch alone, as far as it says?
bool over_one(const Record& record) {
  bool made = false, several = false;
  visit_operations(
      record, libraries::is_call(FrameworkCall::makes_accelerator), [&](const OperationEvent& event) {
        made = true;
        if (!event.expr) return;
        for (const syntax::Keyword& each : event.expr->keywords) {
          const std::string_view name = each.name.text();
          const bool one = name == batches && each.value->kind == syntax::ExprKind::integer &&
              record.text({event.place.chunk, each.value->span}) == "1";
          several = several || name.empty() || name == plugin || (name == batches && !one);
        }
      });
  return made && !several;
}

// The region of accumulation around an event, by where it is entered.
Place region_of(const OperationEvent& event, const std::vector<const OperationEvent*>& regions) {
  for (const Around* around = event.around; around; around = around->outer)
    for (const OperationEvent* region : regions)
      if (around->manager == region->result) return region->place;
  return {};
}

bool makes_backward(const OperationEvent& event) {
  return event.row->operation == Operation::backward || libraries::makes_backward(*event.row);
}

void look_at(const Record& record, Report& report, Once& once, const TrainingRoot& training_root) {
  std::vector<const OperationEvent*> regions;
  for (const TrainingEvent& each : training_root.all)
    if (libraries::framework_call(*each.event->row) == FrameworkCall::accumulates)
      regions.push_back(each.event);
  if (regions.empty()) return;
  for (std::size_t i = 0; i < training_root.all.size(); ++i) {
    const TrainingEvent& cleared = training_root.all[i];
    const Place region =
        cleared.event->row->operation == Operation::zero_grad ? region_of(*cleared.event, regions) : Place{};
    if (!region || cleared.in_handler) continue;
    // What the region did before it: a backward or a step makes it the end of a batch.
    bool first = true;
    for (std::size_t j = i; j-- > 0;) {
      const OperationEvent& before = *training_root.all[j].event;
      if (libraries::framework_call(*before.row) == FrameworkCall::accumulates && before.place == region)
        break;
      if (region_of(before, regions) == region &&
          (makes_backward(before) || before.row->operation == Operation::optimizer_step))
        first = false;
    }
    const OperationEvent *backward = nullptr, *step = nullptr;
    for (std::size_t j = i + 1; first && j < training_root.all.size() && !step; ++j) {
      const OperationEvent& after = *training_root.all[j].event;
      if (libraries::framework_call(*after.row) == FrameworkCall::accumulates && after.place == region) break;
      if (!(region_of(after, regions) == region)) continue;
      if (!backward && makes_backward(after)) backward = &after;
      if (after.row->operation == Operation::optimizer_step) {
        if (!backward) break;
        step = &after;
      }
    }
    if (!backward || !step || over_one(record) || !once(cleared.event->place)) continue;
    Finding* finding = report.add(Severity::warning, cleared.event->place, cleared.event->calls,
        "In a region of accumulation Accelerate clears gradients only in the last of the batches that a step is made of: cleared before its backward, the gradients of all earlier batches are lost. Call " +
            code(object_text(record, *cleared.event, "optimizer") + ".zero_grad()") + " after the step.");
    if (!finding) continue;
    report.relate(*finding, backward->place, "the backward");
    report.relate(*finding, step->place, "the step, which sees the gradients of one batch");
  }
}

// Does it run once, as far as is known?
bool runs_once(const Record& record, const LoopEvent& loop) {
  return !repeats(loop) || (loop.length && record.symbols.value(loop.length) == 1) ||
      (loop.unrolled && loop.iterations.size() < 2);
}

bool clears(const OperationEvent& event, const Object* optimizer) {
  return event.row->operation == Operation::zero_grad && event.self.object() == optimizer;
}

// The first backward after a clearing, in the same iteration of the innermost loop around it, and the step of
// its optimizer after that loop, with nothing in between that clears or makes other gradients.
struct Lost {
  const OperationEvent *backward = nullptr, *step = nullptr;
};
std::optional<Lost> lost_in_loop(const TrainingRoot& training_root, std::size_t at) {
  const TrainingEvent& cleared = training_root.all[at];
  const LoopEvent* loop = cleared.loops.back();
  const Object* optimizer = training_root.standing(cleared.event->self.object());
  const auto& all = training_root.all;
  const auto steps = [&](const OperationEvent& event) {
    const Value stepped = stepped_optimizer(event);
    return stepped && training_root.standing(stepped.object()) == optimizer;
  };
  Lost lost;
  for (const TrainingEvent& each : all)
    if (each.in(loop) && (steps(*each.event) || by_hand(training_root, *each.event))) return std::nullopt;
  for (std::size_t i = at + 1; i < all.size(); ++i) {
    const TrainingEvent& each = all[i];
    if (each.in(loop)) {
      const bool fresh = makes_backward(*each.event) && !lost.backward &&
          each.turns.size() >= cleared.turns.size() &&
          feeds(training_root, *each.event, cleared.event->self) != Answer::no;
      if (fresh) lost.backward = each.event;
      continue;
    }
    if (!lost.backward || makes_backward(*each.event) || clears(*each.event, optimizer)) return std::nullopt;
    if (!steps(*each.event)) continue;
    lost.step = each.event;
    return each.loops.size() + 1 == cleared.loops.size() ? std::optional(lost) : std::nullopt;
  }
  return std::nullopt;
}

void look_at_loops(const Record& record, Report& report, Once& once, const TrainingRoot& training_root) {
  for (std::size_t i = 0; i < training_root.all.size(); ++i) {
    const TrainingEvent& cleared = training_root.all[i];
    if (cleared.event->row->operation != Operation::zero_grad || cleared.loops.size() < 2 ||
        cleared.in_handler || !cleared.event->self.is(values::Kind::instance) ||
        runs_once(record, *cleared.loops.back()) || by_hand(training_root, cleared.loops.back()) ||
        makes_gradients(record, training_root, cleared.loops.back()))
      continue;
    // Under a condition within the loop it may be meant for the first batch alone.
    const auto is_inside = [&](const Turn& turn) {
      const LoopEvent& loop = *cleared.loops.back();
      return loop.place.chunk != turn.branch->place.chunk || !loop.stmt ||
          loop.stmt->span.holds(turn.branch->place.span);
    };
    if (std::ranges::any_of(cleared.turns, is_inside)) continue;
    const auto lost = lost_in_loop(training_root, i);
    if (!lost || !once(cleared.event->place)) continue;
    Finding* finding = report.add(Severity::warning, cleared.event->place, cleared.event->calls,
        "This clears the gradients in each iteration of a loop that accumulates them: the step after the loop sees those of the last batch alone. Call " +
            code(object_text(record, *cleared.event, "optimizer") + ".zero_grad()") + " before the loop.");
    if (!finding) continue;
    report.relate(*finding, lost->backward->place, "the backward");
    report.relate(*finding, lost->step->place, "the step, after the loop");
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.root->truncated) continue;
    look_at(record, report, once, training_root);
    look_at_loops(record, report, once, training_root);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/cleared-accumulation",
    .severity = Severity::warning,
    .summary = "gradients are cleared before each backward of those that one step accumulates",
    .why =
        "A step that comes after a loop of backward passes is meant to see the sum of their gradients. Cleared in each iteration, only those of the last batch are left. An optimizer that Accelerate has prepared skips `step()` and `zero_grad()` inside `accelerator.accumulate(model)` until the last batch of a step. A `zero_grad()` in front of the backward is then skipped for the first batches, and made for the last one: it throws away what the others have accumulated, and the step is that of one batch.",
    .wrong = "with accelerator.accumulate(model):\n"
             "    optimizer.zero_grad()\n"
             "    loss = criterion(model(x), y)\n"
             "    accelerator.backward(loss)\n"
             "    optimizer.step()\n",
    .right = "with accelerator.accumulate(model):\n"
             "    loss = criterion(model(x), y)\n"
             "    accelerator.backward(loss)\n"
             "    optimizer.step()\n"
             "    optimizer.zero_grad()\n",
    .silent =
        "`zero_grad()` after the step, before the loop, or under a condition in it; loops after which another backward comes first; accelerators that accumulate over one batch; regions without a backward or a step.",
    .fix = "None: what else is cleared there may depend on its place.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::cleared_accumulation
