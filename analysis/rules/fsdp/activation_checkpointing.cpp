// fsdp/activation-checkpointing: a sharded layer inside of a reentrant checkpoint, whose parameters are then
// gathered once more.
#include "libraries/torch/distributed/recomputing.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <map>

namespace stepzero::rules::fsdp::activation_checkpointing {

using namespace interpreter;
using values::Operation;

namespace {

// The model, as the program writes it.
std::string text_of_model(const Record& record, const OperationEvent& event) {
  const std::string_view text = event.expr && !event.expr->arguments.empty()
      ? record.text({event.place.chunk, event.expr->arguments[0]->span})
      : std::string_view();
  return values::is_quotable(text) ? "`" + std::string(text) + "`" : "the model";
}

// The other kind of checkpoint, the default since PyTorch 2.1, gathers as often on either side: PyTorch 2.13
// counted 7 gathers of 3 layers and their root with it and without, and 10 with the reentrant kind.
void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    if (wraps.empty()) continue;
    std::map<const values::Object*, const OperationEvent*> recomputed;  // by the model
    visit_operations(
        record, *root, [](const values::Row&) { return true; },
        [&](const OperationEvent& event) {
          if (event.row->operation == Operation::recomputed && !event.arguments.empty() &&
              event.arguments[0].object() &&
              libraries::wraps_reentrantly(argument(event, "checkpoint_wrapper_fn")))
            recomputed.emplace(event.arguments[0].object(), &event);
          const auto wrap = std::ranges::find(wraps, &event, &Wrap::event);
          if (wrap == wraps.end() || wrap->in_place || wrap->leaves_out("auto_wrap_policy")) return;
          const auto before = recomputed.find(wrap->module.object());
          if (before == recomputed.end() || !once(before->second->place)) return;
          if (Finding* finding = report.add(Severity::information, before->second->place,
                  before->second->calls,
                  "The layers of " + text_of_model(record, *before->second) +
                      " are put into reentrant checkpoints before they are sharded: the policy then shards inside of them, and the backward gathers the parameters of each layer once more for the recomputation. Use `CheckpointImpl.NO_REENTRANT`, or call `apply_activation_checkpointing` on the sharded model."))
            report.relate(*finding, event.place, "sharded here");
        });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/activation-checkpointing",
    .severity = Severity::information,
    .summary = "layers are put into reentrant checkpoints before they are sharded, and gathered once more",
    .why =
        "A checkpoint runs the forward of its layer again in the backward. Where the unit of FullyShardedDataParallel lies inside of a reentrant one, that forward gathers the parameters once more, an "
        "all-gather for each layer and step: PyTorch 2.13 counted 10 for 3 layers and their root instead of 7. With the checkpoint inside of the unit, or without reentrance, which is the default of "
        "`checkpoint_wrapper`, the parameters are there already; with `fully_shard` they are on either side. PyTorch's examples wrap with `FullyShardedDataParallel` first and then call "
        "`apply_activation_checkpointing`, which goes into the units.",
    .wrong =
        "reentrant = functools.partial(checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT)\napply_activation_checkpointing(model, checkpoint_wrapper_fn=reentrant, check_fn=is_layer)\nmodel = FullyShardedDataParallel(model, auto_wrap_policy=policy)\n",
    .right =
        "model = FullyShardedDataParallel(model, auto_wrap_policy=policy)\napply_activation_checkpointing(model, check_fn=is_layer)\n",
    .silent =
        "Checkpoints without reentrance; `fully_shard`; modules that are not known to be the same at the two places.",
    .fix = "None yet: the lines may depend on others between them.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::activation_checkpointing
