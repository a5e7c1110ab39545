// What is kept while a backward runs beside what it frees itself: graphs of other backwards of the iteration,
// and of tensors that have names.
#include "footprint/account.hpp"
#include "footprint/order.hpp"

#include <algorithm>

namespace stepzero::footprint {

using interpreter::OperationEvent;

// What autograd keeps for tensors that have names while the backward runs, and no part in it.
void Account::add_beside(StepAccount& step) const {
  const OperationEvent& backward = *step.backward;
  std::vector<const TensorState*> alive, passed;
  for (std::size_t i = backward.row->parameters.size(); i < backward.arguments.size(); ++i)
    if (const TensorState* state = backward.argument_state(i); state && Graph::requires_grad(*state))
      alive.push_back(state);
  if (alive.empty()) return;
  for (const OperationEvent* event : passed_) {
    if (event == &backward) break;
    passed.push_back(event->self_state());
  }
  step.beside = step.graph->beside(alive, passed);
  for (const Node& node : step.beside) {
    Saving saving = saved_by(*step.graph, node, options_.device);
    if (!saving.known) step.unknown.insert(std::string(node.made->row->path)), step.complete = false;
    step.beside_savings.push_back(std::move(saving));
  }
  if (!step.graph->gaps_beside().empty()) step.complete = false;
}

// What was computed in front of the backward, and is kept for a later one of the same iteration.
std::vector<std::pair<Storage, Bytes>> Account::kept_for_others(const StepAccount& step) const {
  std::vector<std::pair<Storage, Bytes>> kept;
  const Route backward = part_inside(step.loop, route_of(step.backward->calls, step.backward->place));
  if (backward.empty()) return kept;
  std::unordered_set<Storage, StorageHash> seen;
  for (const Saving& saving : step.savings)
    for (const Saved& each : saving.kept) seen.insert(each.storage);
  for (const StepAccount& other : steps_) {
    if (&other == &step || other.loop != step.loop ||
        !before(backward, part_inside(step.loop, route_of(other.backward->calls, other.backward->place))))
      continue;
    for (std::size_t i = 0; i < other.savings.size(); ++i) {
      const Producer& made = *other.graph->nodes()[i].made;
      const Route route = part_inside(step.loop, route_of(made.calls, made.born));
      if (route.empty() || !before(route, backward)) continue;
      for (const Saved& each : other.savings[i].kept)
        if (!each.held && seen.insert(each.storage).second) {
          Bytes bytes;
          bytes.add(record_.symbols, each.bytes);
          kept.emplace_back(each.storage, std::move(bytes));
        }
    }
  }
  return kept;
}

}  // namespace stepzero::footprint
