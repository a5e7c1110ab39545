// fsdp/clip-grad-norm: torch's clipping of parameters that FullyShardedDataParallel holds one part of.
#include "libraries/table/class_roles.hpp"
#include "rules/fsdp/wraps.hpp"
#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::rules::fsdp::clip_grad_norm {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// Are the gradients parted among the ranks, as far as the arguments say?
bool shards_gradients(const Wrap& wrap) {
  if (wrap.leaves_out("sharding_strategy")) return true;
  return libraries::keeps_gradients(wrap.option("sharding_strategy")) == symbolic::Answer::no;
}

// torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0) as model.clip_grad_norm_(1.0)
void offer(const Record& record, const OperationEvent& clip, Report& report, Finding& finding) {
  const auto* call = clip.expr;
  if (!call || !record.in_file(clip.place) || call->arguments.size() < 2 ||
      call->arguments[0]->kind != syntax::ExprKind::call || !call->keywords.empty())
    return;
  const auto& parameters = static_cast<const syntax::CallExpr&>(*call->arguments[0]);
  if (parameters.function->kind != syntax::ExprKind::attribute || !parameters.arguments.empty()) return;
  const auto text = [&](syntax::Span span) { return std::string(record.text({clip.place.chunk, span})); };
  const std::string model = text(
      static_cast<const syntax::AttributeExpr&>(*parameters.function).object->span);
  const syntax::Span rest{call->arguments[1]->span.begin, call->arguments_span.end};
  const Location where = report.location({clip.place.chunk, call->span});
  finding.fixes.push_back(
      {"Clip with " + model + ".clip_grad_norm_", true, {{where, model + ".clip_grad_norm_(" + text(rest)}}});
}

void check(const Record& record, Report& report) {
  Once once;
  for (const auto& root : record.roots) {
    const std::vector<Wrap>& wraps = wraps_in(record, *root);
    if (wraps.empty()) continue;
    visit(root->block, [&](const Event& event) {
      if (event.kind != EventKind::operation) return;
      const auto& clip = static_cast<const OperationEvent&>(event);
      if (!clip.row || libraries::clipping_of(*clip.row) != libraries::Clipping::own_norm ||
          clip.arguments.empty())
        return;
      const Value model = module_of_parameters(clip.arguments[0]);
      const auto wrap = std::find_if(wraps.begin(), wraps.end(), [&](const Wrap& each) {
        return !each.in_place && model && each.event->self.object() == model.object();
      });
      if (wrap == wraps.end() || !shards_gradients(*wrap) || !once(clip.place)) return;
      Finding* finding = report.add(Severity::warning, clip.place, clip.calls,
          "`torch.nn.utils.clip_grad_norm_` sees only this rank's part of the gradients: each rank computes a different norm and clips by a different factor. Call `clip_grad_norm_` of the `FullyShardedDataParallel` model, which adds up the norms of all ranks.");
      if (!finding) return;
      report.relate(*finding, wrap->event->place, "the gradients are sharded here");
      offer(record, clip, report, *finding);
    });
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "fsdp/clip-grad-norm",
    .severity = Severity::warning,
    .summary = "gradients of FullyShardedDataParallel are clipped by the norm of one rank's part",
    .why =
        "Each rank holds a part of the gradients. `torch.nn.utils.clip_grad_norm_` computes the norm of this part alone: two ranks with 2.7 and 19.9 "
        "scale their parts by different factors where the whole norm is 20.1 (measured with PyTorch 2.13). The step then goes into another direction. "
        "`model.clip_grad_norm_(max_norm)` of the wrapper adds up the norms of all ranks. After `fully_shard` the gradients are DTensors, and torch's function is the right one.",
    .wrong =
        "model = FullyShardedDataParallel(net)\nloss = model(x).sum()\nloss.backward()\ntorch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)\n",
    .right =
        "model = FullyShardedDataParallel(net)\nloss = model(x).sum()\nloss.backward()\nmodel.clip_grad_norm_(1.0)\n",
    .silent =
        "`ShardingStrategy.NO_SHARD`, where every rank has all gradients; strategies that the text does not decide; `fully_shard`; `clip_grad_value_`, which needs no norm.",
    .fix = "Calls the wrapper's own `clip_grad_norm_`.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

}  // namespace stepzero::rules::fsdp::clip_grad_norm
