// fsdp/ignored-modules: parameters that FullyShardedDataParallel leaves alone, and that are trained all the
// same.
#include "libraries/table/table.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/parts.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::ignored_modules {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The modules that are handed over as a list, a tuple or a set of them.
std::vector<Value> modules_in(Value given) {
  std::vector<Value> found;
  if (given.is(Kind::list) && !values::Heap::list_state(given)->open)
    found = values::Heap::list_state(given)->items;
  else if (given.is(Kind::tuple))
    found = given.as<values::Tuple>()->items;
  std::erase_if(found, [](Value each) { return !each.is(Kind::instance); });
  return found;
}

bool is_trained(const Parts& parts) {
  return std::any_of(parts.found.begin(), parts.found.end(), [](const Object* object) {
    const auto* tensor = dynamic_cast<const values::Tensor*>(object);
    return tensor && tensor->role == values::TensorRole::parameter &&
        tensor->now()->requires_grad == values::Known::yes;
  });
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    // Who reduces gradients by hand, or wraps a part in DDP, may reduce these.
    const bool reduces = std::any_of(
        training_root.all.begin(), training_root.all.end(), [](const TrainingEvent& each) {
          return each.event->row->operation == Operation::collective && !each.loops.empty() &&
              each.event->row->path.starts_with(libraries::table().types().communication) &&
              !each.event->self.is(values::Kind::instance);
        });
    if (reduces || training_root.handed_over ||
        by_hand(training_root, static_cast<const LoopEvent*>(nullptr)))
      continue;
    for (const Wrap& wrap : wraps_in(training_root)) {
      if (wrap.in_place) continue;
      for (const Value ignored : modules_in(wrap.option("ignored_modules"))) {
        Parts parts;
        parts.add(ignored);
        if (!is_trained(parts)) continue;
        const auto step = std::find_if(
            training_root.all.begin(), training_root.all.end(), [&](const TrainingEvent& each) {
              if (each.event->row->operation != Operation::optimizer_made || each.event->arguments.empty())
                return false;
              const Value module = module_of_parameters(each.event->arguments.front());
              return module &&
                  (module.object() == wrap.event->self.object() || module.object() == wrap.module.object());
            });
        if (step == training_root.all.end() || !once(wrap.event->place)) continue;
        Finding* finding = report.add(Severity::warning, wrap.event->place, wrap.event->calls,
            "`FullyShardedDataParallel` neither shards nor reduces the parameters of `ignored_modules`, and this optimizer trains them: each rank steps along its own gradients, and the ranks drift apart. Freeze them, reduce their gradients yourself, or let FSDP have them.");
        if (finding)
          report.relate(*finding, step->event->place, "the optimizer has the parameters of the whole model");
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/ignored-modules",
    .severity = Severity::warning,
    .summary = "parameters of ignored modules are trained, and no rank tells the others their gradients",
    .why =
        "What `ignored_modules` names stays whole on every rank, and `FullyShardedDataParallel` leaves its gradients alone: no reduction takes place. Where an optimizer trains it, each rank "
        "learns from its own batches only, the copies drift apart, and a checkpoint holds that of one rank. Nothing fails.",
    .wrong =
        "model = FullyShardedDataParallel(net, ignored_modules=[net.head])\noptimizer = torch.optim.AdamW(model.parameters())\n",
    .right =
        "for p in net.head.parameters():\n    p.requires_grad_(False)\nmodel = FullyShardedDataParallel(net, ignored_modules=[net.head])\n",
    .silent =
        "Frozen modules; optimizers that are made of other parameters; programs with collectives in their loop, which may reduce the gradients themselves.",
    .fix = "None: whether they are meant to be trained cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::ignored_modules
