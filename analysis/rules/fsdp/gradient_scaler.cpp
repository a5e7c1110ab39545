// fsdp/gradient-scaler: a GradScaler that looks for overflow in one rank's part of the gradients.
#include "rules/fsdp/wraps.hpp"
#include "rules/list.hpp"
#include "rules/loop/absent.hpp"
#include "rules/loop/parts.hpp"

#include <algorithm>

namespace stepzero::rules {

using namespace interpreter;
using namespace fsdp;
using values::Kind;
using values::Operation;

namespace {

bool is_plain_scaler(Value scaler) {
  const auto* object = scaler.is(Kind::instance) ? scaler.as<Instance>() : nullptr;
  return object && object->native && !object->cls && object->native->path == "torch.amp.GradScaler";
}

void check(const Record& record, Report& report) {
  Once once;
  for (const Scene& scene : Training::of(record).scenes()) {
    if (scene.handed_over || scene.root->truncated) continue;
    const std::vector<Wrap> wraps = wraps_in(scene);
    for (const Happening& step : scene.all) {
      if (step.event->row->operation != Operation::scaler_step || !is_plain_scaler(step.event->self) || step.event->arguments.empty()) continue;
      const Value module = module_of_parameters(attribute(step.event->arguments[0], "$parameters"));
      const auto wrap = std::find_if(wraps.begin(), wraps.end(), [&](const Wrap& each) { return !each.in_place && module && each.event->self.object() == module.object(); });
      if (wrap == wraps.end()) continue;
      const auto made = std::find_if(scene.all.begin(), scene.all.end(), [&](const Happening& each) { return each.event->row->operation == Operation::scaler_made && each.event->self.object() == step.event->self.object(); });
      const auto weight = weigh(record, step.event->self.object(), *step.event, scene);
      if (made == scene.all.end() || !weight || !once(made->event->place)) continue;
      Finding* finding = report.add(Severity::warning, made->event->place, made->event->calls,
                                    "Each rank of `FullyShardedDataParallel` holds a part of the gradients, and this `GradScaler` looks for inf and nan in that part alone" + weight->when +
                                        ": where one rank overflows, it alone skips the step and lowers its scale. Use `torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler`.");
      if (!finding) continue;
      report.relate(*finding, wrap->event->place, "the gradients are sharded here");
      report.relate(*finding, step.event->place, "each rank decides for itself whether it steps");
    }
  }
}

} // namespace

constexpr Rule fsdp_gradient_scaler = complete({
    .id = "fsdp/gradient-scaler",
    .severity = Severity::warning,
    .summary = "a plain GradScaler steps an optimizer of FullyShardedDataParallel",
    .why = "`GradScaler.step` skips the step where it finds inf or nan. Each rank looks at its own part of the gradients: the rank that overflows skips and halves "
           "its scale, the others step (measured with PyTorch 2.13: after one overflow of rank 0 the scales are 2.0 and 4.0). The parts of the model drift apart. "
           "`ShardedGradScaler` agrees first. After `fully_shard` the gradients are DTensors, and a plain GradScaler agrees, too.",
    .wrong = "model = FullyShardedDataParallel(net)\noptimizer = torch.optim.AdamW(model.parameters())\nscaler = torch.amp.GradScaler()\n",
    .right = "model = FullyShardedDataParallel(net)\noptimizer = torch.optim.AdamW(model.parameters())\nscaler = ShardedGradScaler()\n",
    .silent = "`fully_shard`; a scaler that is never enabled; `ShardedGradScaler`.",
    .fix = "None: the class has to be imported.",
    .fix_kind = FixKind::none,
    .check = check,
});

} // namespace stepzero::rules
