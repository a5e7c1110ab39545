// loop/eval-mode: an evaluation within training leaves the model in evaluation mode.
#include "rules/loop/absent.hpp"
#include "rules/list.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool sets_eval(const Record& record, const OperationEvent& event) {
  if (event.row->path.ends_with(".eval")) return true;
  return !event.arguments.empty() && event.arguments[0].is(Kind::boolean) && record.symbols.decide(event.arguments[0].condition()) == Answer::no;
}

bool without_gradients(const Record& record, const OperationEvent& event) {
  for (const Around* around = event.around; around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) continue;
    const auto* manager = around->manager.as<Instance>();
    if (!manager->native || manager->native->path != "$grad_mode") continue;
    const values::Slot* on = manager->attributes.find(syntax::Name("$on"));
    return on && on->value.is(Kind::boolean) && record.symbols.decide(on->value.condition()) == Answer::no;
  }
  return false;
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  Once once;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    for (const Happening& mode : scene.all) {
      const OperationEvent& event = *mode.event;
      if (event.row->operation != Operation::mode || !sets_eval(record, event) || !event.self.is(Kind::instance)) continue;
      const Object* model = event.self.object();
      // The loop that evaluates and trains this very model.
      const LoopEvent* loop = nullptr;
      const OperationEvent* backward = nullptr;
      for (auto it = mode.loops.rbegin(); it != mode.loops.rend() && !loop; ++it)
        for (const Happening& each : scene.all) {
          if (each.event->row->operation != Operation::backward || !each.in(*it)) continue;
          const values::TensorState* loss = each.event->self_state();
          if (!loss || !reaches(*loss, event.self)) continue;
          loop = *it;
          backward = each.event;
        }
      if (!loop || !repeats(*loop) || escapes(record, scene, model, loop)) continue;
      // Any train() in the loop may restore it; one that comes from outside does not.
      bool restored = false, behind = false, trained_later = false;
      std::size_t times = 0;
      for (const Happening& each : scene.all) {
        if (!each.in(loop)) continue;
        behind = behind || each.event == &event;
        restored = restored || (each.event->row->operation == Operation::mode && !sets_eval(record, *each.event));
        trained_later = trained_later || (behind && each.event->row->operation == Operation::backward);
        times += each.event->place == event.place;
      }
      // Who calls eval() and then trains in the same round without no_grad means to (frozen statistics).
      const bool evaluation = without_gradients(record, event) || (!trained_later && !loop->unrolled);
      if (restored || !evaluation || (loop->unrolled && times < 1) || !once(event.place)) continue;
      const std::string name = object_text(record, event, "the model");
      Finding* finding = report.add(Severity::warning, event.place, event.calls,
                                    name + ".eval() is not taken back: from here on the loop trains without dropout, and with fixed statistics in its norms. Call " + name + ".train() behind the evaluation.");
      if (!finding) continue;
      report.relate(*finding, backward->place, "the same model is trained here");
      report.relate(*finding, loop->place, "round after round");
    }
  }
}

} // namespace

constexpr Rule eval_mode = complete({
    .id = "loop/eval-mode",
    .severity = Severity::warning,
    .summary = "an evaluation within training leaves the model in evaluation mode",
    .why = "`model.eval()` lasts until `model.train()` is called. After the first evaluation the model is trained without dropout and with the "
           "running statistics of its batch norms, which are no longer updated: it trains worse, and nothing says so.",
    .wrong = "for epoch in range(epochs):\n"
             "    train_one_epoch(model, loader)  # model.train() was called once, before the loop\n"
             "    model.eval()\n"
             "    with torch.no_grad():\n"
             "        evaluate(model)\n",
    .right = "for epoch in range(epochs):\n"
             "    model.train()\n"
             "    train_one_epoch(model, loader)\n"
             "    model.eval()\n"
             "    with torch.no_grad():\n"
             "        evaluate(model)\n",
    .silent = "A `train()` anywhere in the loop; `eval()` of another model (a teacher); `eval()` before the backward of the same round, by which "
              "programs freeze statistics on purpose; a single evaluation behind the training.",
    .fix = "None: the place of train() is to be decided.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
