// fsdp/optimizer-before-wrap: an optimizer of the parameters that sharding takes away.
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "rules/training/absent.hpp"
#include "rules/training/parts.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::optimizer_before_wrap {

using namespace interpreter;
using values::Operation;

namespace {

// Does the wrap put other parameters in the place of the module's?
bool replaces_parameters(const Record& record, const Wrap& wrap) {
  if (wrap.in_place) return wrap.leaves_out("ignored_params");
  return wrap.is_false(record, "use_orig_params") && wrap.leaves_out("ignored_modules") &&
      wrap.leaves_out("ignored_states");
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots()) {
    if (training_root.handed_over || training_root.root->truncated) continue;
    const std::vector<Wrap> wraps = wraps_in(training_root);
    for (const Wrap& wrap : wraps) {
      if (!wrap.module.is(values::Kind::instance) || !replaces_parameters(record, wrap)) continue;
      const TrainingEvent* made = nullptr;
      bool after = false;
      for (const TrainingEvent& each : training_root.all) {
        after = after || each.event == wrap.event;
        if (!after && each.event->row->operation == Operation::optimizer_made &&
            module_of_parameters(attribute(each.event->self, values::OptimizerState::parameters)).object() ==
                wrap.module.object())
          made = &each;
        const Value stepped = after && made ? stepped_optimizer(*each.event) : Value{};
        if (!stepped || stepped.object() != training_root.standing(made->event->self.object()) ||
            !once(made->event->place))
          continue;
        const std::string when = condition_of(record, wrap, each.turns);
        const std::string name = wrap.in_place ? "`fully_shard`" : "`FullyShardedDataParallel`";
        Finding* finding = report.add(when.empty() ? Severity::error : Severity::warning, made->event->place,
            made->event->calls,
            "This optimizer is made before " + name + " replaces the model's parameters" + when +
                ": it steps tensors that nothing computes with any more, and the model never changes. Make the optimizer after the model is sharded.");
        if (!finding) break;
        report.relate(*finding, wrap.event->place, "the parameters are replaced here");
        report.relate(*finding, each.event->place, "the step changes nothing");
        break;
      }
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/optimizer-before-wrap",
    .severity = Severity::error,
    .summary = "an optimizer is made of parameters that sharding replaces afterwards",
    .why =
        "`fully_shard(model)` puts DTensors in the place of the parameters, and `FullyShardedDataParallel(model)` one flat parameter. An optimizer that "
        "was made before still holds the old ones, which no loss reaches: the loop runs, and the model never changes (PyTorch 2.13, measured with two "
        "processes). With `use_orig_params=True` the parameters stay the objects that they were, and the order does not matter.",
    .wrong =
        "optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)\nfully_shard(model)\nfor batch in loader:\n    model(batch).sum().backward()\n    optimizer.step()\n    optimizer.zero_grad()\n",
    .right =
        "fully_shard(model)\noptimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)\nfor batch in loader:\n    model(batch).sum().backward()\n    optimizer.step()\n    optimizer.zero_grad()\n",
    .silent =
        "`use_orig_params=True`; optimizers that are made again after the wrap; optimizers of other modules; modules that are sharded only in part.",
    .fix = "None: the statement has to move, and what stands between may need it.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::optimizer_before_wrap
