// loop/missing-clip: layers whose gradients grow without bound now and then are trained, and nothing clips the gradients.
#include "rules/list.hpp"
#include "rules/loop/absent.hpp"
#include "rules/loop/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// A layer of the loss that is known for it, among the parts of what it was computed from.
const Instance* explosive(const values::TensorState& loss) {
  for (const Object* source : loss.graph) {
    const auto* layer = dynamic_cast<const Instance*>(source);
    if (layer && layer->native && layer->native->row && layer->native->row->explodes) return layer;
  }
  return nullptr;
}

// `model.parameters()` where the optimizer was made, if the step can see the same name.
std::string parameters_text(const Record& record, const Scene& scene, const OperationEvent& step, Value optimizer) {
  for (const Happening& each : scene.all) {
    const OperationEvent& made = *each.event;
    if (made.row->operation != Operation::optimizer_made || made.self.object() != optimizer.object() || made.calls != step.calls || !made.expr || made.expr->arguments.empty()) continue;
    const std::string text(record.text({made.place.chunk, made.expr->arguments[0]->span}));
    return text.ends_with(".parameters()") ? text : "";
  }
  return "";
}

void check(const Record& record, Report& report) {
  const Training& training = Training::of(record);
  if (training.gradients_by_hand()) return;
  for (const Scene& scene : training.scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    const bool clips = std::any_of(scene.all.begin(), scene.all.end(), [](const Happening& each) { return each.event->row->operation == Operation::clip_gradients; });
    if (clips) continue;
    bool told = false;
    for (const Happening& step : scene.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (told || !optimizer.is(Kind::instance) || step.loops.empty() || !repeats(*step.loops.back()) || !is_made(scene, optimizer.object())) continue;
      const LoopEvent* loop = step.loops.back();
      if (escapes(record, scene, optimizer.object(), nullptr)) continue;
      for (const Happening& each : scene.all) {
        const values::TensorState* loss = each.event->row->operation == Operation::backward && each.in(loop) ? each.event->self_state() : nullptr;
        const Instance* layer = loss && feeds(scene, *each.event, optimizer) == Answer::yes ? explosive(*loss) : nullptr;
        if (!layer) continue;
        told = true;
        const std::string name(layer->native->path.substr(layer->native->path.rfind('.') + 1));
        Finding* finding = report.add(Severity::hint, step.event->place, step.event->calls,
                                      "Nothing clips the gradients of this " + name + " before the step: one bad batch can undo many steps. Programs that train such layers mostly clip their norm, at 1.0 as a start.");
        if (!finding) break;
        report.relate(*finding, layer->born, "the " + name);
        const std::string parameters = parameters_text(record, scene, *step.event, optimizer);
        Fix fix;
        fix.title = "Clip the norm of the gradients";
        if (!parameters.empty() && step.event->row->operation == Operation::optimizer_step &&
            insert_before(record, *step.event, "torch.nn.utils.clip_grad_norm_(" + parameters + ", 1.0)", fix))
          finding->fixes.push_back(std::move(fix));
        break;
      }
    }
  }
}

} // namespace

constexpr Rule missing_clip = complete({
    .id = "loop/missing-clip",
    .severity = Severity::hint,
    .summary = "recurrent layers or attention are trained without clipping the gradients",
    .why = "The gradients of recurrent layers, and of deep stacks of attention, grow by orders of magnitude on single batches: the loss jumps, and many steps "
           "are lost, or it becomes nan. `clip_grad_norm_` before the step bounds what one batch can do.",
    .wrong = "loss = loss_fn(lstm(x)[0], y)\n"
             "loss.backward()\n"
             "optimizer.step()\n",
    .right = "loss = loss_fn(lstm(x)[0], y)\n"
             "loss.backward()\n"
             "torch.nn.utils.clip_grad_norm_(lstm.parameters(), 1.0)\n"
             "optimizer.step()\n",
    .silent = "Clipping anywhere in the program that trains, also in a function that it calls; hooks on gradients, and gradients that are changed by hand; loops that a "
              "framework runs; optimizers that code which is not seen is handed.",
    .fix = "Offers `clip_grad_norm_` with 1.0 before the step.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

} // namespace stepzero::rules
