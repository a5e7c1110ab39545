// What is kept while a backward runs beside what it frees itself: graphs of other backwards of the iteration,
// and of tensors that have names.
#include "footprint/account.hpp"
#include "footprint/order.hpp"

#include <algorithm>

namespace stepzero::footprint {

using interpreter::OperationEvent;
using values::Kind;

namespace {
bool is_asked(const Record& record, const OperationEvent& event, std::string_view name) {
  const Value given = argument_of(record, event, name);
  return given && !given.is(Kind::none) && !is_given_off(record, event, name);
}
}  // namespace

// What goes through graphs and frees them.
void Account::note_passed(const OperationEvent& event) {
  if (event.row->operation == values::Operation::gradient_asked) asked_.push_back(&event);
  if (is_asked(record_, event, "retain_graph")) return;
  if (event.row->operation == values::Operation::backward && event.self_state()) {
    passed_.emplace_back(&event, event.self_state());
  } else if (event.row->operation == values::Operation::gradient_asked &&
      !is_asked(record_, event, "create_graph")) {
    const Value outputs = argument_of(record_, event, "outputs");
    if (outputs.is(Kind::tensor)) {
      passed_.emplace_back(&event, event.argument_state(0));
    } else if (outputs.is(Kind::list) || outputs.is(Kind::tuple)) {
      const auto& items = outputs.is(Kind::list) ? values::Heap::list_state(outputs)->items
                                                 : outputs.as<values::Tuple>()->items;
      for (const Value& item : items)
        if (const Value each = decided(record_, item); each.is(Kind::tensor))
          passed_.emplace_back(&event, each.as<values::Tensor>()->now());
    }
  }
}

// Was it run in the iteration before the backward of that route?
bool Account::is_run_before(const StepAccount& step, const Producer& made, const Route& backward) const {
  const Route route = part_inside(step.loop, route_of(made.calls, made.born));
  return !route.empty() && before(route, backward);
}

Route Account::route_inside(const StepAccount& step, const StepAccount& of) const {
  return part_inside(step.loop, route_of(of.backward->calls, of.backward->place));
}

void Account::add_beside(StepAccount& step) const {
  add_kept_by_names(step);
  add_kept_for_others(step);
  std::unordered_set<Storage, StorageHash> seen;
  for (const Saving& saving : step.savings)
    for (const Saved& each : saving.kept) seen.insert(each.storage);
  for (const Node& node : step.beside) {
    Saving saving = saved_by(*step.graph, node, options_.device);
    if (!saving.known) step.unknown.insert(std::string(node.made->row->path)), step.complete = false;
    for (const Saved& each : saving.kept)
      if (!each.held && seen.insert(each.storage).second) step.saved.add(record_.symbols, each.bytes);
    step.beside_savings.push_back(std::move(saving));
  }
}

std::vector<const TensorState*> StepAccount::with_names() const {
  std::vector<const TensorState*> alive;
  for (std::size_t i = backward->row->parameters.size(); i < backward->arguments.size(); ++i)
    if (const TensorState* state = backward->argument_state(i)) alive.push_back(state);
  return alive;
}

// What autograd keeps for tensors that have names while the backward runs, and no part in it.
void Account::add_kept_by_names(StepAccount& step) const {
  const OperationEvent& backward = *step.backward;
  std::vector<const TensorState*> alive = step.with_names(), passed;
  std::erase_if(alive, [](const TensorState* state) { return !Graph::requires_grad(*state); });
  if (alive.empty()) return;
  for (const auto& [event, state] : passed_) {
    if (event == &backward) break;
    if (state) passed.push_back(state);
  }
  step.beside = step.graph->beside(alive, passed);
  if (!step.graph->gaps_beside().empty()) step.complete = false;
}

// What was computed in front of the backward, and is kept for a later one of the same iteration.
void Account::add_kept_for_others(StepAccount& step) const {
  const Route backward = route_inside(step, step);
  if (backward.empty()) return;
  std::unordered_set<const void*> seen;
  for (const Node& node : step.beside)
    for (const TensorState* result : node.results) seen.insert(identity(result));
  for (const StepAccount& other : steps_) {
    if (&other == &step || other.loop != step.loop || !before(backward, route_inside(step, other))) continue;
    bool any = false;
    for (const Node& node : other.graph->nodes()) {
      const auto is_there = [&](const TensorState* result) {
        return step.graph->node_of(*result) != Graph::npos || seen.contains(identity(result));
      };
      if (!is_run_before(step, *node.made, backward) || std::ranges::any_of(node.results, is_there)) continue;
      for (const TensorState* result : node.results) seen.insert(identity(result));
      step.beside.push_back(node);
      any = true;
    }
    if (any && !other.graph->complete()) step.complete = false;
  }
}

// A loss that has a name still has the tensors with which its history begins, and those their gradients.
void Account::add_leaves_of_named(StepAccount& step, const Graph& all) const {
  const std::vector<const TensorState*> named = step.with_names();
  std::unordered_set<Storage, StorageHash> seen;
  Bytes gradients;
  for (const StepAccount& other : steps_) {
    const void* loss = identity(other.backward->self_state());
    if (&other == &step || other.loop != step.loop || !other.graph->complete() ||
        std::ranges::none_of(named, [&](const TensorState* state) { return identity(state) == loss; }))
      continue;
    for (const Node& node : other.graph->nodes()) {
      if (!begins_history(node) || node.results.empty()) continue;
      const TensorState& base = all.base(*node.results.front());
      if (!base.made || all.held(base) || !seen.insert(all.storage(base)).second) continue;
      Saved leaf{all.storage(base), {}, "result"};
      leaf.bytes.add(record_.symbols, all.bytes(base));
      gradients.add(record_.symbols, leaf.bytes);
      step.standing.named.emplace_back(std::move(leaf), base.made);
    }
  }
  step.standing.during.push_back({"gradients of tensors that are no parameters", gradients});
}

// In the storages of the graph that has the operations too through which no gradient goes.
void Account::stand_beside(StepAccount& step, const Graph& all) const {
  for (const Node& node : step.beside)
    for (const Saved& saved : saved_by(all, node, options_.device).kept)
      if (!saved.held) step.standing.beside.emplace_back(saved, node.made);
  for (const TensorState* state : step.with_names()) {
    const TensorState& base = all.base(*state);
    // Of what has no history that which the iteration makes: what came before it may lie anywhere.
    if (!base.made || all.held(base) ||
        (!Graph::requires_grad(base) &&
            part_inside(step.loop, route_of(base.made->calls, base.made->born)).empty()))
      continue;
    if (options_.device == Device::cuda && base.device && base.device->text == "cpu") continue;
    Saved named{all.storage(base), {}, "result"};
    named.bytes.add(record_.symbols, all.bytes(base));
    step.standing.named.emplace_back(std::move(named), base.made);
  }
  add_leaves_of_named(step, all);
  step.standing.graph_stays = std::ranges::none_of(
      passed_, [&](const auto& each) { return each.first == step.backward; });
}

}  // namespace stepzero::footprint
