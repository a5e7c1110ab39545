// loop/target-history: the target of temporal-difference learning is computed by the model that is trained,
// with its history.
#include "libraries/table/names.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/op_semantics.hpp"
#include "rules/rule.hpp"
#include "rules/training/training.hpp"

#include <algorithm>
#include <functional>

namespace stepzero::rules::loop::target_history {

using namespace interpreter;
using libraries::OpSemantics;
using values::Known;
using values::Operation;
using values::Producer;
using values::TensorState;

namespace {

// The first state among what it was computed from, itself first, whose operator is one of these.
const TensorState* find(
    const TensorState* state, int steps, const std::function<bool(const values::Row&)>& wanted) {
  if (!state || !state->made || !state->made->row || steps < 0) return nullptr;
  if (wanted(*state->made->row)) return state;
  for (const TensorState* operand : state->made->states)
    if (const TensorState* found = find(operand, steps - 1, wanted)) return found;
  return nullptr;
}

// A loss that compares numbers with numbers, element by element.
bool is_distance(const values::Row& row) {
  return libraries::column_role_of(libraries::operator_name(row)) == libraries::ColumnRole::loss;
}
bool is_chosen(const values::Row& row) { return libraries::semantics_of(row) == OpSemantics::picked; }
bool is_best(const values::Row& row) { return libraries::semantics_of(row) == OpSemantics::largest; }

// The same module computed both, and its gradient comes through the second as well.
bool shares_module(const TensorState& prediction, const TensorState& target) {
  if (target.requires_grad == Known::no || target.cut) return false;
  return std::any_of(prediction.graph.begin(), prediction.graph.end(), [&](const values::Object* source) {
    return dynamic_cast<const values::Instance*>(source) && target.graph.contains(source);
  });
}

void look(const Record& record, Report& report, const OperationEvent& event, Once& once) {
  constexpr int most_steps = 6;      // operations back from the loss, which is made of few
  constexpr int most_of_target = 8;  // and from the target
  const TensorState* loss = find(event.self_state(), most_steps, is_distance);
  if (!loss || loss->made->states.size() < 2 || event.expected) return;
  const TensorState *prediction = loss->made->states[0], *target = loss->made->states[1];
  if (!prediction || !target || !shares_module(*prediction, *target)) return;
  const TensorState* value = find(target, most_of_target, is_best);
  if (!find(prediction, most_steps, is_chosen) || !value || find(prediction, most_of_target, is_best) ||
      !once(loss->made->born))
    return;
  Finding* finding = report.add(Severity::warning, loss->made->born, loss->made->calls,
      "The target is computed by the model that this loss trains, and the gradient flows through it, too: the model learns to shrink its own target. "
      "Compute the target under `torch.no_grad()`.");
  if (finding && value->made->born)
    report.relate(*finding, value->made->born, "the best value of the next state, with its history");
  if (finding) report.relate(*finding, event.place, "the backward of the loss");
  (void)record;
}

void check(const Record& record, Report& report) {
  Once once;
  for (const TrainingRoot& training_root : Training::of(record).training_roots())
    for (const TrainingEvent& each : training_root.all)
      if (each.event->row->operation == Operation::backward && !each.in_handler && !each.in_attempt)
        look(record, report, *each.event, once);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "loop/target-history",
    .severity = Severity::warning,
    .summary = "the target of temporal-difference learning has a history of its own",
    .why =
        "Q-learning moves the value of the action that was taken towards the reward plus the best value of the next state. That target is a number to be reached. "
        "Computed by the trained model without `no_grad` or `detach`, it gets a gradient, too, and the model moves the target towards the prediction as well as the other way.",
    .wrong = "value = q(state).gather(1, action)\n"
             "target = reward + 0.99 * q(next_state).max(1, keepdim=True).values\n"
             "F.mse_loss(value, target).backward()\n",
    .right = "value = q(state).gather(1, action)\n"
             "with torch.no_grad():\n"
             "    target = reward + 0.99 * q(next_state).max(1, keepdim=True).values\n"
             "F.mse_loss(value, target).backward()\n",
    .silent =
        "Targets of another network, under `no_grad` or detached; losses between two outputs of one model where none is the best of several values.",
    .fix = "None: the target may be detached, or computed under `no_grad`.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::loop::target_history
