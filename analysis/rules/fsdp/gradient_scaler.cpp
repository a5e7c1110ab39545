// fsdp/gradient-scaler: a GradScaler that looks for overflow in one rank's part of the gradients.
#include "libraries/table/class_roles.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::gradient_scaler {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

bool is_plain_scaler(Value scaler) {
  const auto* object = scaler.is(Kind::instance) ? scaler.as<Instance>() : nullptr;
  return object && !object->cls && libraries::role_of(object->native) == libraries::ClassRole::scaler;
}

// Does the wrap compute in float16?
bool is_half(const Wrap& wrap) {
  const Value dtype = attribute(wrap.option(wrap.in_place ? "mp_policy" : "mixed_precision"), "param_dtype");
  return dtype.is(Kind::dtype) && dtype.dtype() == values::Dtype::float16;
}

// Training in float16 whose gradients nothing scales.
void look_for_unscaled(const Record& record, Report& report) {
  const auto& training_roots = Training::of(record).training_roots();
  constexpr Operation of_scalers[] = {Operation::scaler_made, Operation::scale, Operation::scaler_step,
      Operation::unscale, Operation::scaler_update, Operation::gradient_written};
  const auto scales = [&](const TrainingEvent& each) {
    return std::ranges::find(of_scalers, each.event->row->operation) != std::end(of_scalers);
  };
  if (std::ranges::any_of(training_roots, [&](const TrainingRoot& training_root) {
        return training_root.handed_over || std::ranges::any_of(training_root.all, scales);
      }))
    return;
  Once once;
  for (const TrainingRoot& training_root : training_roots) {
    if (training_root.root->truncated) continue;
    for (const Wrap& wrap : wraps_in(training_root)) {
      if (!is_half(wrap)) continue;
      const Object* const sharded = wrap.in_place ? wrap.module.object() : wrap.event->self.object();
      const auto step = std::ranges::find_if(training_root.all, [&](const TrainingEvent& each) {
        return each.event->row->operation == Operation::optimizer_step && !each.loops.empty() && sharded &&
            module_of_parameters(attribute(each.event->self, values::OptimizerState::parameters)).object() ==
            sharded;
      });
      if (step == training_root.all.end() || !once(wrap.event->place)) continue;
      Finding* finding = report.add(Severity::warning, wrap.event->place, wrap.event->calls,
          std::string("This model computes in `float16`, and nothing scales its loss") +
              condition_of(record, wrap, step->turns) +
              ": gradients below 6e-8 become zero. Scale the loss with a `" +
              (wrap.in_place ? "GradScaler" : "ShardedGradScaler") +
              "`, or use `param_dtype=torch.bfloat16`.");
      if (finding)
        report.relate(*finding, step->event->place, "the step applies gradients that were not scaled");
    }
  }
}

void check(const Record& record, Report& report) {
  look_for_unscaled(record, report);
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    const std::vector<Wrap> wraps = wraps_in(training_root);
    for (const TrainingEvent& step : training_root.all) {
      if (step.event->row->operation != Operation::scaler_step || !is_plain_scaler(step.event->self) ||
          step.event->arguments.empty())
        continue;
      const Value module = module_of_parameters(
          attribute(step.event->arguments[0], values::OptimizerState::parameters));
      const auto wrap = std::find_if(wraps.begin(), wraps.end(), [&](const Wrap& each) {
        return !each.in_place && module && each.event->self.object() == module.object();
      });
      if (wrap == wraps.end()) continue;
      const auto made = std::find_if(
          training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
            return each.event->row->operation == Operation::scaler_made &&
                each.event->self.object() == step.event->self.object();
          });
      const auto weight = severity_under(record, step.event->self.object(), *step.event, training_root);
      if (made == training_root.all.end() || !weight || !once(made->event->place)) continue;
      Finding* finding = report.add(Severity::warning, made->event->place, made->event->calls,
          "Each rank of `FullyShardedDataParallel` holds a part of the gradients, and this `GradScaler` looks for inf and nan in that part alone" +
              weight->when +
              ": where one rank overflows, it alone skips the step and lowers its scale. Use `torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler`.");
      if (!finding) continue;
      report.relate(*finding, wrap->event->place, "the gradients are sharded here");
      report.relate(*finding, step.event->place, "each rank decides for itself whether it steps");
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/gradient-scaler",
    .severity = Severity::warning,
    .summary =
        "a plain GradScaler steps an optimizer of FullyShardedDataParallel, or float16 is trained without a scaler",
    .why =
        "`GradScaler.step` skips the step where it finds inf or nan. Each rank looks at its own part of the gradients: the rank that overflows skips and halves "
        "its scale, the others step (measured with PyTorch 2.13: after one overflow of rank 0 the scales are 2.0 and 4.0). The parts of the model drift apart. "
        "`ShardedGradScaler` agrees first. After `fully_shard` the gradients are DTensors, and a plain GradScaler agrees, too. Without any scaler a model whose mixed precision is float16 loses the gradients below 6e-8.",
    .wrong =
        "model = FullyShardedDataParallel(net)\noptimizer = torch.optim.AdamW(model.parameters())\nscaler = torch.amp.GradScaler()\n",
    .right =
        "model = FullyShardedDataParallel(net)\noptimizer = torch.optim.AdamW(model.parameters())\nscaler = ShardedGradScaler()\n",
    .silent =
        "A GradScaler after `fully_shard`; a scaler that is never enabled; `ShardedGradScaler`; bfloat16; a program with a scaler anywhere.",
    .fix = "None: the class has to be imported.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::gradient_scaler
