// amp/manual-half: a model that was turned into float16 is trained, or tensors are cast by hand inside
// autocast.
#include "rules/amp/autocast.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "rules/training/training_loops.hpp"
#include "values/kept.hpp"
#include "values/shape_text.hpp"

#include <algorithm>

namespace stepzero::rules::amp::manual_half {

using values::code;

using namespace interpreter;
using values::Dtype;
using values::Kind;
using values::Operation;

namespace {

// Do its parameters still have that type at the end, as far as they are known?
bool is_half(Value module) {
  Parts parts;
  parts.add(module);
  bool any = false;
  for (const Object* part : parts.found) {
    const auto* tensor = dynamic_cast<const values::Tensor*>(part);
    if (!tensor || tensor->role != values::TensorRole::parameter) continue;
    if (tensor->now()->dtype != Dtype::float16) return false;
    any = true;
  }
  // Of a layer whose parameters are not known one by one: what it was converted to.
  const Value converted = any ? Value{} : attribute(module, values::ModuleState::dtype);
  return any || (converted.is(Kind::dtype) && converted.dtype() == Dtype::float16);
}

// What else goes wrong where a scaler is used.
std::string more_about(const TrainingRoot& training_root) {
  const bool scales = std::any_of(
      training_root.all.begin(), training_root.all.end(), [](const TrainingEvent& each) {
        return each.event->row->operation == Operation::scaler_step ||
            each.event->row->operation == Operation::unscale;
      });
  return scales ? ", and the `GradScaler` raises \"Attempting to unscale FP16 gradients\"" : "";
}

void look_for_models(const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& half : training_root.all) {
    const OperationEvent& event = *half.event;
    if (event.row->operation != Operation::halved || !event.self.is(Kind::instance) || !is_half(event.self))
      continue;
    for (const TrainingEvent& step : training_root.all) {
      const Value optimizer = stepped_optimizer(*step.event);
      if (!optimizer.is(Kind::instance) || step.loops.empty() || !repeats(*step.loops.back()) ||
          !is_made(training_root, optimizer.object()))
        continue;
      const Value parameters = attribute(optimizer, values::OptimizerState::parameters);
      if (!parameters || shares_parameters(training_root, event.self, optimizer) != Answer::yes) continue;
      const auto fed = std::find_if(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
            return each.event->row->operation == Operation::backward && each.event->self_state() &&
                reaches(*each.event->self_state(), event.self);
          });
      if (fed == training_root.all.end() || !once(event.place)) continue;
      Finding* finding = report.add(Severity::warning, event.place, event.calls,
          "The parameters become `float16` and are trained in it: steps below a 2,000th of a weight are lost" +
              more_about(training_root) + ". Keep them in `float32`, and compute under `autocast`.");
      if (finding) report.relate(*finding, step.event->place, "they are stepped here");
      break;
    }
  }
}

void look_for_tensors(const Record& record, const TrainingRoot& training_root, Report& report, Once& once) {
  for (const TrainingEvent& each : training_root.all) {
    const OperationEvent& event = *each.event;
    if (event.row->operation != Operation::halved_by_hand) continue;
    const auto region = autocast_around(record, event.around);
    if (!region || region->enabled == Answer::no || region->without_gradients ||
        event.around->gradients != values::Known::yes)
      continue;
    // Who casts it back at once iterations on purpose.
    if (record.text({event.place.chunk, {event.place.span.end, event.place.span.end + 7}}) == ".float(")
      continue;
    const bool trains = std::any_of(training_root.all.begin(), training_root.all.end(),
        [&](const TrainingEvent& other) { return other.event->row->operation == Operation::backward; });
    if (!trains || !once(event.place)) continue;
    const std::string object = object_text(record, event, "the tensor");
    Finding* finding = report.add(Severity::warning, event.place, event.calls,
        code(object) +
            " is cast to `float16` by hand inside `autocast`, which casts by itself and keeps `float32` for the operations that need it: these now start from rounded numbers. Remove the cast.");
    if (!finding) continue;
    report.relate(*finding, region->around->place, "autocast chooses the types here");
    if (!event.expr || event.expr->function->kind != syntax::ExprKind::attribute ||
        !record.in_file(event.place))
      continue;
    Fix fix;
    fix.title = "Leave the cast to autocast";
    fix.preferred = true;
    const auto end = syntax::as<syntax::AttributeExpr>(*event.expr->function).object->span.end;
    fix.edits.push_back({report.location({event.place.chunk, {end, event.expr->span.end}}), ""});
    finding->fixes.push_back(std::move(fix));
  }
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    look_for_models(training_root, report, once);
    look_for_tensors(record, training_root, report, once);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "amp/manual-half",
    .severity = Severity::warning,
    .summary = "a model in float16 is trained, or tensors are cast by hand inside autocast",
    .why =
        "float16 has 11 bits: an update below a 2,000th of a weight leaves it as it is, and Adam's `eps` of 1e-8 is 0 (measured: a weight of 1.0 is still 1.0 "
        "after 1000 steps of 1e-4). `model.half()` is for inference; for training "
        "autocast computes in float16 from weights in float32, and `GradScaler` refuses gradients in float16: \"Attempting to unscale FP16 gradients.\" A "
        "tensor that is cast by hand inside autocast is rounded before the operations for which autocast keeps float32.",
    .wrong = "model = model.half()\n"
             "optimizer = torch.optim.AdamW(model.parameters())\n",
    .right = "optimizer = torch.optim.AdamW(model.parameters())\n"
             "with torch.autocast(\"cuda\", dtype=torch.float16):\n"
             "    loss = loss_fn(model(x), y)\n",
    .silent =
        "Models in float16 that only compute (a teacher); bfloat16; casts outside autocast, or without gradients; models that became float32 again; "
        "optimizers that keep their own copies in float32 and are not PyTorch's.",
    .fix = "Removes the cast inside autocast. How to train the model is your decision.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::amp::manual_half
