// checkpoint/one-rank-loads: one rank alone loads weights into a module that is wrapped already.
#include "libraries/torch/meaning/shown_weights.hpp"
#include "rules/checkpoint/files.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <algorithm>

namespace stepzero::rules::checkpoint::one_rank_loads {

using namespace interpreter;
using values::Kind;
using values::Operation;

namespace {

// The wrapper around the module that is loaded, made before; it has sent the weights of rank 0 to all ranks
// when it was made.
const FileUse* wrapper_of(const CheckpointRoot& checkpoint_root, const FileUse& put) {
  const auto found = std::ranges::find_if(checkpoint_root.parallel, [&](const FileUse& wrap) {
    const OperationEvent& event = *wrap.event;
    if (!event.row->backward || !event.row->collective || wrap.order > put.order) return false;
    const Value wrapper = event.self.is(Kind::instance) ? event.self : event.result;
    return wrapper.is(Kind::instance) &&
        (wrapper == put.event->self ||
            wrapper.as<Instance>()->attributes.value(values::Name("module")) == put.event->self);
  });
  return found == checkpoint_root.parallel.end() ? nullptr : &*found;
}

// May it send weights, or a state, to the other ranks?
bool may_send_weights(const OperationEvent& event) {
  if (event.row->operation == Operation::unseen_communication) return true;
  const values::CollectiveInfo* info = event.row->collective;
  if (!info || info->hidden || event.row->backward) return false;
  if (info->tensor < 0) return info->list >= 0;
  const auto at = static_cast<std::size_t>(info->tensor);
  const Value sent = at < event.arguments.size() ? event.arguments[at] : Value{};
  const values::TensorState* state = event.argument_state(at);
  if (!state || state->unseen) return true;
  if (sent.is(Kind::tensor) && sent.as<values::Tensor>()->role != values::TensorRole::plain) return true;
  // Numbers of epochs and steps are no weights; `p.data` and views of it are.
  const bool counts = state->dtype == values::Dtype::int64 || state->dtype == values::Dtype::int32;
  return !counts && (!state->made || libraries::shown_weights(sent) != nullptr);
}
bool is_sent_later(const CheckpointRoot& checkpoint_root, const FileUse& put) {
  bool found = false;
  visit(checkpoint_root.root->block, [&](const Event& event) {
    found = found ||
        (event.kind == EventKind::operation && event.number > put.event->number &&
            may_send_weights(static_cast<const OperationEvent&>(event)));
  });
  return found;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const CheckpointRoot& checkpoint_root : Files::of(record).checkpoint_roots()) {
    if (checkpoint_root.handed_over || checkpoint_root.root->truncated) continue;
    for (const FileUse& put : checkpoint_root.put) {
      const FileUse* wrapper = put.event->self.is(Kind::instance) ? wrapper_of(checkpoint_root, put)
                                                                  : nullptr;
      if (!wrapper || by_ranks(record, checkpoint_root, put) != Who::one ||
          is_sent_later(checkpoint_root, put) || !once(put.event->place))
        continue;
      Finding* finding = report.add(Severity::warning, put.event->place, put.event->calls,
          "One rank alone loads these weights, after the wrapper has sent the first ones to all: the other ranks train on with weights of their own. Load them on every rank, or before the module is wrapped.");
      if (!finding) continue;
      report.relate(*finding, wrapper->event->place, "the module is wrapped here");
      report.relate_calls(*finding, put.event->calls);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "checkpoint/one-rank-loads",
    .severity = Severity::warning,
    .summary = "one rank alone loads weights into a module that is wrapped already",
    .why =
        "DistributedDataParallel sends the weights of rank 0 to all ranks once, when it is made, and only gradients after that. Weights that rank 0 loads later stay on rank 0: all ranks take the same steps from different weights, and never meet. Nothing is raised, and what rank 0 reports looks right.",
    .wrong = "model = DistributedDataParallel(net)\n"
             "if dist.get_rank() == 0:\n"
             "    model.module.load_state_dict(torch.load(\"last.pt\"))\n",
    .right = "net.load_state_dict(torch.load(\"last.pt\", map_location=\"cpu\"))\n"
             "model = DistributedDataParallel(net)\n",
    .silent =
        "Weights that are loaded before the module is wrapped, which the wrapper sends to all; weights or states that the program sends itself, or that code may send that is not seen.",
    .fix = "None: move the call in front of the wrapper, or out of the condition.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::checkpoint::one_rank_loads
