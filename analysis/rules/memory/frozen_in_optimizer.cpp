// memory/frozen-in-optimizer: parameters are frozen in the middle of training, and their optimizer keeps its
// state for them.
#include "footprint/text.hpp"
#include "rules/memory/steps.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/training_loops.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::memory::frozen_in_optimizer {

using namespace interpreter;
using footprint::Account;
using footprint::bytes_text;
using footprint::Held;
using values::Kind;
using values::Operation;

namespace {

bool freezes(const Record& record, const OperationEvent& event) {
  return event.row->operation == Operation::trained_from_here && !event.arguments.empty() &&
      truth(record, event.arguments.back()) == Answer::no;
}

// In another iteration of a loop that has both, where not each iteration comes to it.
bool in_another_iteration(const TrainingEvent& freeze, const TrainingEvent& step) {
  return std::ranges::any_of(
      freeze.loops, [&](const LoopEvent* loop) { return repeats(*loop) && step.in(loop); });
}

// Does the optimizer make steps both before and after it?
bool stands_between_steps(
    const TrainingRoot& training_root, const TrainingEvent& freeze, const Object* optimizer) {
  bool before = false, after = false, passed = false;
  for (const TrainingEvent& each : training_root.all) {
    passed = passed || &each == &freeze;
    if (stepped_optimizer(*each.event).object() != optimizer) continue;
    const bool around = in_another_iteration(freeze, each);
    before = before || !passed || (around && !freeze.turns.empty());
    after = after || passed || around;
  }
  return before && after;
}

// The parameters of the module or the parameter that is frozen there.
bool is_of(const Record& record, const OperationEvent& freeze, const Held& held) {
  if (freeze.self.is(Kind::tensor)) return freeze.self.as<values::Tensor>() == held.tensor;
  if (!footprint::is_module(freeze.self)) return false;
  const footprint::Tree tree = footprint::tree_of(record, *freeze.self.as<Instance>());
  return std::ranges::any_of(tree.modules, [&](const footprint::Module& module) {
    return std::ranges::any_of(
        module.own, [&](const Held& own) { return own.tensor && own.tensor == held.tensor; });
  });
}

// Is it trained again later, or in the next iteration, as the discriminator of a GAN is?
bool is_trained_again(
    const Record& record, const TrainingRoot& training_root, const TrainingEvent& freeze, const Held& held) {
  bool passed = false;
  return std::ranges::any_of(training_root.all, [&](const TrainingEvent& each) {
    passed = passed || &each == &freeze;
    const OperationEvent& event = *each.event;
    return event.row->operation == Operation::trained_from_here && !freezes(record, event) &&
        (passed || in_another_iteration(freeze, each)) && is_of(record, event, held);
  });
}

void look(const Record& record, Report& report, const Account& account, const TrainingRoot& training_root) {
  for (const footprint::Optimizer& optimizer : account.optimizers()) {
    const Object* object = optimizer.made->self.object();
    footprint::Bytes numbers, bytes;
    const TrainingEvent* at = nullptr;
    std::unordered_set<const values::Tensor*> counted;
    for (const TrainingEvent& each : training_root.all) {
      if (!freezes(record, *each.event) || !stands_between_steps(training_root, each, object)) continue;
      for (const Held& held : optimizer.tensors) {
        if (!held.tensor || held.trained == values::Known::yes || !is_of(record, *each.event, held) ||
            is_trained_again(record, training_root, each, held) || !counted.insert(held.tensor).second)
          continue;
        numbers.add(record.symbols, footprint::elements(record.symbols, held.shape), held.copies);
        bytes.add(record.symbols, footprint::state_bytes(record, optimizer, held));
        if (!at) at = &each;
      }
    }
    if (!at || numbers.open() || bytes.open() || account.number(bytes) == 0) continue;
    Finding* finding = report.add(Severity::information, at->event->place, at->event->calls,
        values::code(optimizer.type) + " has made steps with the " +
            footprint::count_text(account.number(numbers)) +
            " parameters that are frozen from here on, and keeps its state for them: " +
            bytes_text(account.number(bytes)) +
            " that nothing reads again. Make a new optimizer of what is still trained.");
    if (finding) report.relate(*finding, optimizer.made->place, "the optimizer that has them");
  }
}

void check(const Record& record, Report& report) {
  if (!has_steps(record)) return;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    if (!training_root.root->function &&
        std::ranges::any_of(
            training_root.all, [&](const TrainingEvent& each) { return freezes(record, *each.event); }))
      look(record, report, Account::of(record), training_root);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "memory/frozen-in-optimizer",
    .severity = Severity::information,
    .summary = "parameters frozen in the middle of training whose state the optimizer keeps",
    .why =
        "An optimizer makes its state for a parameter when it first steps with a gradient, and keeps it for good: Adam two numbers for each. What is frozen later has no gradient any more, but its state stays in "
        "memory and in every checkpoint. Parameters that were frozen before the first step cost nothing there, whether the optimizer was given them or not.",
    .wrong = "optimizer = torch.optim.AdamW(model.parameters())\n"
             "train(model, optimizer, epochs=2)\n"
             "model.backbone.requires_grad_(False)\n"
             "train(model, optimizer, epochs=8)\n",
    .right = "optimizer = torch.optim.AdamW(model.parameters())\n"
             "train(model, optimizer, epochs=2)\n"
             "model.backbone.requires_grad_(False)\n"
             "optimizer = torch.optim.AdamW(p for p in model.parameters() if p.requires_grad)\n"
             "train(model, optimizer, epochs=8)\n",
    .silent =
        "What is frozen before the first step, of which no state is made; optimizers without a state, as SGD without momentum; an optimizer that makes no step afterwards.",
    .fix = "None: a new optimizer begins with a new state for what is still trained, which is a decision.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::memory::frozen_in_optimizer
