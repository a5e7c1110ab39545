// parallel/gathered-without-gradient: a loss of what all ranks have computed is made of the tensors that
// all_gather has filled, and nothing trains what this rank has sent.
#include "rules/provenance.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <deque>
#include <unordered_set>

namespace stepzero::rules::parallel::gathered_without_gradient {

using namespace interpreter;
using values::Kind;
using values::Known;
using values::Operation;
using values::TensorState;
using values::Value;

namespace {

// How a loss comes from what a call has filled.
class Descent {
public:
  explicit Descent(const OperationEvent& gather) {
    const auto at = static_cast<std::size_t>(gather.row->collective->list);
    if (at < gather.arguments.size()) filled_ = gather.arguments[at];
  }
  // Is it computed from that, and is all else known that it is computed from?
  bool holds(const TensorState& loss) {
    constexpr std::size_t most = 4'096;  // operations before a loss
    std::unordered_set<const TensorState*> seen;
    std::deque<const TensorState*> left{&loss};
    bool found = false;
    while (!left.empty()) {
      const TensorState* state = left.front();
      left.pop_front();
      if (!state || !seen.insert(state).second) continue;
      if (seen.size() > most) return false;
      if (!state->made) {
        if (state->requires_grad != Known::no && !is_leaf(*state)) return false;
        continue;
      }
      if (takes_filled(*state->made)) {
        found = true;
        continue;
      }
      for (const TensorState* each : inputs(*state->made)) left.push_back(each);
    }
    return found;
  }

private:
  static bool is_leaf(const TensorState& state) {
    return state.graph.size() == 1 && dynamic_cast<const values::Tensor*>(*state.graph.begin());
  }
  bool takes_filled(const values::Producer& made) const {
    return std::ranges::any_of(made.arguments, [&](const Value& argument) {
      return argument.object() != nullptr && argument.object() == filled_.object();
    });
  }
  Value filled_;
};

// A wrapper around the model stands in the graphs of all that it has computed.
bool is_wrapper(const values::Object* source) {
  const auto* object = dynamic_cast<const values::Instance*>(source);
  return object && object->native && object->native->row && object->native->row->backward;
}

void check(const Record& record, Report& report) {
  std::vector<const OperationEvent*> gathers;
  std::vector<const TensorState*> losses;
  bool known = true;
  visit_operations(record, [&](const OperationEvent& event) {
    if (event.row->operation == Operation::backward) {
      const TensorState* loss = event.self_state();
      known = known && loss && !loss->unseen;
      losses.push_back(loss);
    }
    // Gradients that the program asks for or sends by itself go other ways.
    known = known && event.row->operation != Operation::gradient_asked;
    const values::CollectiveInfo* info = event.row->collective;
    if (!info || info->list < 0 || info->tensor < 0 || info->reduces) return;
    const TensorState* sent = event.argument_state(static_cast<std::size_t>(info->tensor));
    if (sent && sent->requires_grad == Known::yes && sent->graph_complete && !sent->graph.empty())
      gathers.push_back(&event);
  });
  if (!known || gathers.empty()) return;
  Once once;
  for (const OperationEvent* gather : gathers) {
    const TensorState* sent = gather->argument_state(
        static_cast<std::size_t>(gather->row->collective->tensor));
    // Any backward goes through what was sent: the loss has this rank's own part in it, too.
    if (std::ranges::any_of(losses, [&](const TensorState* loss) {
          return std::ranges::any_of(sent->graph, [&](const values::Object* source) {
            return !is_wrapper(source) && loss->graph.contains(source);
          });
        }))
      continue;
    if (std::ranges::none_of(
            losses, [&](const TensorState* loss) { return Descent(*gather).holds(*loss); }) ||
        !once(gather->place))
      continue;
    report.add(Severity::warning, gather->place, gather->calls,
        "The tensors that " + values::code(gather->row->collective->name) +
            " fills have no gradient, and the loss is computed from them alone: nothing that the sent tensor was computed from is trained. Put the rank's own tensor back in "
            "its place, `gathered[rank] = tensor`, or gather with `torch.distributed.nn.functional.all_gather`, which sends the gradients back.");
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "parallel/gathered-without-gradient",
    .severity = Severity::warning,
    .summary = "a loss of gathered tensors that trains nothing of what was sent",
    .why =
        "`dist.all_gather` copies numbers into tensors that were made for them. Autograd does not see it: a contrastive loss over the "
        "gathered features gets a value, its backward raises nothing as long as any parameter has a part in it, such as a temperature, and the encoders stay as they were "
        "initialized.",
    .wrong = "dist.all_gather(gathered, features)\n"
             "loss = contrast(torch.cat(gathered))\n",
    .right = "dist.all_gather(gathered, features)\n"
             "gathered[rank] = features\n"
             "loss = contrast(torch.cat(gathered))\n",
    .silent = "Losses with the rank's own tensor in them; gathering for metrics, or without gradients; "
              "`torch.distributed.nn.functional.all_gather`; losses of which not all is seen.",
    .fix = "None: which rank's place it is, the program has to say.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::parallel::gathered_without_gradient
