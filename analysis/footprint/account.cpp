#include "footprint/account.hpp"

#include "footprint/order.hpp"
#include "footprint/reparametrized.hpp"
#include "footprint/zero.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>
#include <functional>
#include <typeindex>

namespace stepzero::footprint {

using interpreter::Block;
using interpreter::Event;
using interpreter::EventKind;
using interpreter::LoopEvent;
using interpreter::OperationEvent;
using values::Kind;
using values::Operation;

namespace {

bool is_all_known(const ModelAccount& model) {
  return model.tree.complete && model.is_spread && (!model.division || model.division->exact);
}

}  // namespace

void visit(const Block& block, const LoopEvent* loop, bool always, const EachOperation& each) {
  for (const Event* event : block.events) switch (event->kind) {
    case EventKind::operation: each(static_cast<const OperationEvent&>(*event), loop, always); break;
    case EventKind::branch:
      visit(static_cast<const interpreter::BranchEvent*>(event)->yes, loop, false, each);
      visit(static_cast<const interpreter::BranchEvent*>(event)->no, loop, false, each);
      break;
    case EventKind::loop: {
      const auto* inner = static_cast<const LoopEvent*>(event);
      for (const Block& iteration : inner->iterations) visit(iteration, inner, always, each);
      break;
    }
    case EventKind::call:
      visit(static_cast<const interpreter::CallEvent*>(event)->body, loop, always, each);
      break;
    case EventKind::attempt:
      visit(static_cast<const interpreter::AttemptEvent*>(event)->body, loop, always, each);
      visit(static_cast<const interpreter::AttemptEvent*>(event)->orelse, loop, always, each);
      visit(static_cast<const interpreter::AttemptEvent*>(event)->finally, loop, always, each);
      break;
    default: break;
    }
}

const Account& Account::of(const Record& record) {
  auto& known = record.derived[std::type_index(typeid(Account))];
  if (!known) known = std::make_shared<const Account>(record, Options{}, &record);
  return *static_cast<const Account*>(known.get());
}

Account::Account(const Record& record, const Options& options, const Record* names)
    : record_(record), options_(options), names_(names) {
  for (const auto* roots : {&record_.default_roots, &record_.roots}) {
    for (const auto& root : *roots)
      if (!root->function)
        visit(
            root->block, nullptr, true, [&](const OperationEvent& event, const LoopEvent* loop, bool always) {
              look(event, loop, always);
            });
    if (!backwards_.empty()) break;
  }
  part_stages();
  for (const Backward& backward : backwards_)
    for (const values::Object* source : backward.event->self_state()->graph)
      if (const auto* module = dynamic_cast<const Instance*>(source))
        values_.push_back(Value::of(Kind::instance, module));
  for (const interpreter::Fact& fact : record_.facts)
    if (fact.role == interpreter::Fact::Role::assignment || fact.role == interpreter::Fact::Role::attribute ||
        fact.role == interpreter::Fact::Role::expression)
      values_.push_back(fact.value);
  leave_gone_out();
  for (const Instance* model : models_of(record_, values_))
    if (!was_replaced(*model)) add_model(*model);
  leave_views_out();
  for (ModelAccount& model : models_) count(model);
  for (const ModelAccount& model : models_)
    for (const Module& module : model.tree.modules)
      for (const Held& held : module.own)
        if (held.tensor) note_held(held);
  std::unordered_map<const values::Tensor*, Shape> locals;
  for (const ModelAccount& model : models_)
    for (const Module& module : model.tree.modules)
      for (const Held& held : module.own)
        if (held.tensor && held.local) locals.emplace(held.tensor, *held.local);
  for (const Backward& backward : backwards_)
    add_graph(*backward.event, backward.loop, backward.stepped, backward.times);
  add_other_microbatches();
  for (StepAccount& step : steps_) {
    add_beside(step);
    if (!step.complete || (step.microbatches && !step.microbatches->known)) step.saved.miss();
  }
  find_reach();
  for (ModelAccount& model : models_) count_gradients(model);
  for (const OperationEvent* event : made_)
    optimizers_.push_back(optimizer_of(record_, *event, options_, locals, reach_ ? &*reach_ : nullptr));
  std::vector<std::optional<Reach>> own;
  own.reserve(optimizers_.size());
  for (const Optimizer& optimizer : optimizers_) own.push_back(reach_of(optimizer));
  for (std::size_t i = 0; i < own.size(); ++i)
    if (own[i]) optimizers_[i] = optimizer_of(record_, *made_[i], options_, locals, &*own[i]);
  for (Optimizer& optimizer : optimizers_) add_lengths(optimizer);
  for (StepAccount& step : steps_) add_peak(step);
}

// As it is now, and as it was before something was written to it in place.
void Account::note_held(const Held& held) {
  const TensorState* state = held.tensor->now();
  held_.emplace(identity(state), &held);
  for (int steps = 0; steps < values::longest_chain && state->made && !state->made->states.empty() &&
      state->made->states[0] && state->made->row->variant != values::Variant::plain;
      ++steps) {
    state = state->made->states[0];
    held_.emplace(identity(state), &held);
  }
}

// Of a weight that is computed from a direction and lengths, who was given the parameters one by one was
// given the lengths, too.
void Account::add_lengths(Optimizer& optimizer) {
  const auto has = [&](const auto& same) { return std::ranges::any_of(optimizer.tensors, same); };
  for (const ModelAccount& model : models_)
    for (const Module& module : model.tree.modules) {
      const auto computed = computed_weight(record_, *module.object);
      if (!computed || !computed->weight ||
          !has([&](const Held& held) { return held.tensor == computed->weight; }))
        continue;
      for (const Held& held : module.own) {
        if (!held.is_parameter || held.tensor || held.trained == values::Known::no ||
            has([&](const Held& other) { return !other.tensor && other.module == held.module; }))
          continue;
        optimizer.tensors.push_back(held);
        optimizer.steps.push_back(held);
        if (optimizer.known) optimizer.state.add(record_.symbols, state_bytes(record_, optimizer, held));
      }
    }
}

void Account::look(const OperationEvent& event, const LoopEvent* loop, bool always) {
  values_.push_back(event.self);
  values_.insert(values_.end(), event.arguments.begin(), event.arguments.end());
  if (event.row->operation == Operation::optimizer_made) {
    made_.push_back(&event);
    if (event.self.is(Kind::instance))
      if (const Value given = attribute(
              record_, *event.self.as<Instance>(), values::OptimizerState::parameters);
          given.is(Kind::instance))
        values_.push_back(attribute(record_, *given.as<Instance>(), values::OptimizerState::of));
  }
  if (is_pipeline_step(record_, event)) pipelines_.push_back(&event);
  // With set_to_none=False they are zeros then, and there.
  if (event.row->operation == Operation::zero_grad && always && !is_given_off(record_, event, "set_to_none"))
    zero_grads_.push_back(&event);
  if (event.row->operation == Operation::optimizer_step || event.row->operation == Operation::scaler_step)
    stepped_.push_back(&event);
  if (event.row->operation == Operation::optimizer_step || event.row->operation == Operation::scaler_step)
    for (Backward& backward : backwards_)
      if (!backward.stepped) backward.stepped = &event;
  note_passed(event);
  if (event.row->operation != Operation::backward || !event.self_state()) return;
  // Of one line, what the last iteration leaves.
  const auto same = std::ranges::find_if(backwards_, [&](const Backward& other) {
    return other.event->place == event.place && same_way(other.event->calls, event.calls);
  });
  if (same == backwards_.end()) {
    backwards_.push_back({&event, loop, nullptr, 1, {}});
    return;
  }
  same->earlier.push_back(same->event);
  *same = {&event, loop, nullptr, same->times + 1, std::move(same->earlier)};
}

void Account::add_model(const Instance& model) {
  models_.push_back({});
  ModelAccount& made = models_.back();
  made.object = &model;
  made.tree = tree_of(record_, model);
  made.is_spread = spread_parameters(record_, made.tree);
  made.division = division_of(record_, made.tree, options_.world);
  if (!made.division) made.division = division_by_engine(record_, made.tree, options_.world);
}

// A slice of a `Sequential`, a list of some layers: all that it holds is another model's, which holds more,
// or came first.
void Account::leave_views_out() {
  std::unordered_set<const Instance*> views;
  // What was cut into stages: the process has its own ones.
  for (const ModelAccount& model : models_)
    if (const Value pipe = decided(record_, attribute(record_, *model.object, "_pipe"));
        pipe.is(Kind::instance))
      if (const Value whole = decided(record_, attribute(record_, *pipe.as<Instance>(), "_module"));
          whole.is(Kind::instance))
        views.insert(whole.as<Instance>());
  std::erase_if(models_, [&](const ModelAccount& model) { return views.contains(model.object); });
  const auto key = [](const Held& held) {
    return held.tensor ? static_cast<const void*>(held.tensor) : static_cast<const void*>(held.module);
  };
  std::vector<std::unordered_set<const void*>> all;
  std::unordered_map<const void*, std::vector<std::size_t>> holders;
  for (std::size_t i = 0; i < models_.size(); ++i) {
    all.emplace_back();
    for (const Module& module : models_[i].tree.modules)
      for (const Held& held : module.own)
        if (all[i].insert(key(held)).second) holders[key(held)].push_back(i);
  }
  views.clear();
  for (std::size_t i = 0; i < models_.size(); ++i) {
    if (all[i].empty() || !models_[i].tree.complete || models_[i].division) continue;
    for (const std::size_t other : holders[*all[i].begin()])
      if (other != i &&
          (all[other].size() > all[i].size() || (all[other].size() == all[i].size() && other < i)) &&
          std::ranges::all_of(all[i], [&](const void* each) { return all[other].contains(each); })) {
        views.insert(models_[i].object);
        break;
      }
  }
  std::erase_if(models_, [&](const ModelAccount& model) { return views.contains(model.object); });
}

void Account::count(ModelAccount& made) {
  symbolic::Context& s = record_.symbols;
  const bool shards = made.division && made.division->shards;
  for (const Module& module : made.tree.modules)
    for (const Held& held : module.own) {
      if (held.is_parameter && shards) continue;
      const Int bytes = bytes_of(s, held.own(), held.dtype);
      const bool is_new = !held.tensor || counted_.insert(held.tensor).second;
      if (is_new) made.first.insert(&held);
      (held.is_parameter ? made.parameters : made.buffers).add(s, bytes, held.copies);
      if (is_new) (held.is_parameter ? made.own_parameters : made.own_buffers).add(s, bytes, held.copies);
    }
  if (shards)
    for (Bytes* each : {&made.parameters, &made.own_parameters}) each->add(made.division->parameters);
  if (!is_all_known(made))
    for (Bytes* each : {&made.parameters, &made.buffers, &made.own_parameters, &made.own_buffers})
      each->miss();
}

void Account::count_gradients(ModelAccount& model) {
  symbolic::Context& s = record_.symbols;
  if (model.division && model.division->shards) {
    for (Bytes* each : {&model.gradients, &model.own_gradients}) each->add(model.division->gradients);
  } else {
    // Of a model that no step goes through: what a step would leave.
    const bool restricted = reach_ && model.trained;
    for (const Module& module : model.tree.modules)
      for (const Held& held : module.own) {
        if (!held.is_parameter || held.trained == values::Known::no || (restricted && !reach_->holds(held)))
          continue;
        // Of what may be frozen there is nothing for sure.
        if (held.trained == values::Known::unknown) {
          model.gradients.miss();
          model.own_gradients.miss();
          continue;
        }
        const Int bytes = bytes_of(s, held.own(), held.dtype);
        model.gradients.add(s, bytes, held.copies);
        if (model.first.contains(&held)) model.own_gradients.add(s, bytes, held.copies);
      }
  }
  if (is_all_known(model)) return;
  model.gradients.miss();
  model.own_gradients.miss();
}

void Account::add_graph(
    const OperationEvent& backward, const LoopEvent* loop, const OperationEvent* stepped, int times) {
  symbolic::Context& s = record_.symbols;
  StepAccount step;
  step.backward = &backward;
  step.loop = loop;
  step.stepped = stepped;
  step.times = times;
  step.graph = std::make_unique<Graph>(record_, *backward.self_state(), held_, options_.device);
  const Graph& graph = *step.graph;
  step.complete = graph.complete();
  std::unordered_set<Storage, StorageHash> seen;
  for (const Node& node : graph.nodes()) {
    Saving saving = saved_by(graph, node, options_.device);
    if (!saving.known) step.unknown.insert(std::string(node.made->row->path)), step.complete = false;
    for (const Saved& each : saving.kept)
      if (!each.held && seen.insert(each.storage).second) step.saved.add(s, each.bytes);
    step.savings.push_back(std::move(saving));
  }
  if (const OperationEvent* pipeline = pipeline_of(pipelines_, backward))
    step.microbatches = microbatches_of(record_, *pipeline, backward);
  mark_trained(graph);
  steps_.push_back(std::move(step));
}

void Account::add_peak(StepAccount& step) {
  symbolic::Context& s = record_.symbols;
  for (const ModelAccount& model : models_) {
    step.standing.add(s, "parameters", model.own_parameters);
    step.standing.add(s, "buffers", model.own_buffers);
    if (!model.division) continue;
    Bytes buckets, gathered, unreduced, persistent;
    persistent.add(model.division->persistent);
    buckets.add(model.division->buckets);
    gathered.add(model.division->gathered);
    unreduced.add(model.division->unreduced);
    if (!model.division->exact) gathered.miss();
    step.standing.add(s, "buckets of gradients", buckets);
    step.standing.add(s, "parameters that stay gathered", persistent);
    step.standing.during.push_back({"gathered parameters", gathered});
    if (model.trained) step.standing.during.push_back({"gradients before they are divided", unreduced});
  }
  std::unordered_set<const values::Tensor*> alone;
  std::unordered_set<const void*> in_graph;
  for (const Node& node : step.graph->nodes())
    for (const auto* list : {&node.made->states, &node.made->listed})
      for (const TensorState* state : *list)
        if (state) in_graph.insert(identity(&step.graph->base(*state)));
  for (const Optimizer& optimizer : optimizers_) {
    // Copies in float32 that a program steps in the place of its parameters.
    Bytes copies;
    for (const Held& held : optimizer.tensors)
      if (held.tensor && !counted_.contains(held.tensor) && !held_.contains(identity(held.tensor->now())) &&
          !in_graph.contains(identity(&step.graph->base(*held.tensor->now()))) &&
          alone.insert(held.tensor).second)
        copies.add(s, bytes_of(s, held.own(), held.dtype), held.copies);
    step.standing.add(s, "tensors that only " + optimizer.type + " has", copies);
    // Whoever gives them gradients gives them all: of their own type and size, as PyTorch asks.
    step.standing.copy_gradients.add(s, copies);
    if (!clears_copies(step, optimizer)) step.standing.copy_gradients_stay = true;
    Bytes state = optimizer.state;
    if (optimizer.by_engine) state.miss();
    step.standing.add(s, "state of " + optimizer.type, state);
  }
  add_temporaries(step);
  if (step.microbatches) add_pipeline(*step.microbatches, *step.graph, *step.backward, step.standing);
  find_standing_gradients(step);
  for (const ModelAccount& model : models_)
    if (model.division) {
      step.standing.gradient_parts = std::max(step.standing.gradient_parts, model.division->gradient_parts);
      // They lie in one tensor for good, to which each is added once it is divided.
      if (model.division->keeps_gradients) {
        step.standing.gradients_before = step.standing.gradients_kept = step.standing.gradients;
        step.standing.accumulates = [](const Held&) { return true; };
      }
    }
  Graph all(record_, *step.backward->self_state(), held_, options_.device, true);
  // By the statements of the iteration: what has no gradient stands in the graph where something reads it,
  // and may have run long before.
  if (step.loop && step.loop->stmt) {
    std::vector<std::uint32_t> statements;
    for (const Node& node : all.nodes()) {
      const Route route = part_inside(step.loop, route_of(node.made->calls, node.made->born));
      statements.push_back(route.empty() ? 0 : statement_of(*step.loop, route));
    }
    all.sort_by(statements);
  }
  stand_beside(step, all);
  step.peak = peak_of(all, timed_nodes(all, step), step.standing, options_);
  if (!step.peak.place && step.peak.moment == "optimizer" && step.stepped)
    step.peak.place = step.stepped->place;
  // The peak may be another where what is kept is more, where a backward of the program's own makes what is
  // not seen, and while gradients are asked for.
  const auto is_in_loop = [&](const OperationEvent* event) {
    return !part_inside(step.loop, route_of(event->calls, event->place)).empty();
  };
  // The operations of those that are followed are in the graph.
  const auto is_followed = [&](const OperationEvent* event) {
    return std::ranges::any_of(all.nodes(), [&](const Node& node) {
      return node.made->born == event->place && !node.results.empty() && all.gradient(*node.results[0]);
    });
  };
  // Of those that are not it is not known what they take while they run: in front of the next backward.
  const auto is_missed = [&](const OperationEvent* event) {
    return is_in_loop(event) && !is_followed(event) && is_next_after(step, *event);
  };
  if (!step.complete || step.saved.at_least() || std::ranges::any_of(asked_, is_missed) ||
      (step.microbatches && (step.microbatches->is_last || !step.microbatches->is_first)) ||
      std::ranges::any_of(all.nodes(), [](const Node& node) { return is_own_function(*node.made); }))
    step.peak.bytes.miss();
}

// Of the backwards of its loop, is that of the step the first one after the event?
bool Account::is_next_after(const StepAccount& step, const OperationEvent& event) const {
  const Route there = part_inside(step.loop, route_of(event.calls, event.place)),
              own = route_inside(step, step);
  const bool is_around = before(own, there);  // in the next iteration
  return std::ranges::none_of(steps_, [&](const StepAccount& other) {
    const Route route = &other == &step || other.loop != step.loop ? Route{} : route_inside(step, other);
    if (route.empty()) return false;
    return is_around ? before(there, route) || before(route, own)
                     : before(there, route) && before(route, own);
  });
}

// Is all known that runs again in checkpointed regions, too?
bool Account::is_all_reached(const StepAccount& step) const {
  const auto look = [&](const auto& self, const std::vector<Node>& nodes) -> void {
    for (const Node& node : nodes)
      if (is_checkpoint(*node.made)) self(self, step.graph->region(node));
  };
  look(look, step.graph->nodes());
  return step.graph->complete();
}

void Account::find_reach() {
  const auto is_divided = [](const ModelAccount& model) { return model.division.has_value(); };
  if (steps_.empty() || std::ranges::any_of(models_, is_divided) ||
      !std::ranges::all_of(steps_, [&](const StepAccount& step) { return is_all_reached(step); }))
    return;
  Reach found;
  for (const StepAccount& step : steps_)
    for (const Held* held : touched(step))
      held->tensor ? (void)found.tensors.insert(held->tensor) : (void)found.layers.insert(held->module);
  reach_ = std::move(found);
}

// Which of the models does it train?
void Account::mark_trained(const Graph& graph) {
  std::unordered_set<const Instance*> layers;
  std::unordered_set<const void*> tensors;
  for (const Node& node : graph.nodes()) {
    if (const Instance* layer = layer_of(*node.made)) layers.insert(layer);
    for (const TensorState* state : node.made->states)
      if (const Held* held = state ? graph.held(*state) : nullptr; held && held->tensor)
        tensors.insert(held->tensor);
  }
  for (ModelAccount& model : models_)
    model.trained = model.trained || std::ranges::any_of(model.tree.modules, [&](const Module& module) {
      return layers.contains(module.object) || std::ranges::any_of(module.own, [&](const Held& held) {
        return held.tensor && tensors.contains(held.tensor);
      });
    });
}

// What the tree holds that stands in the graph itself, or in a layer of it.
std::unordered_set<const Held*> Account::touched(const StepAccount& step) const {
  std::unordered_set<const Held*> found;
  std::unordered_set<const Instance*> layers;
  const auto look = [&](const auto& self, const std::vector<Node>& nodes) -> void {
    for (const Node& node : nodes) {
      for (const auto* list : {&node.made->states, &node.made->listed})
        for (const TensorState* state : *list)
          if (const Held* held = state ? step.graph->held(*state) : nullptr) found.insert(held);
      if (const Instance* layer = layer_of(*node.made); layer && layers.insert(layer).second)
        // Its weight may be another module's.
        for (const auto& [name, slot] : layer->attributes.entries())
          if (const Held* held = slot->value.is(Kind::tensor)
                  ? step.graph->held(*slot->value.template as<values::Tensor>()->now())
                  : nullptr)
            found.insert(held);
      if (is_checkpoint(*node.made)) self(self, step.graph->region(node));
    }
  };
  look(look, step.graph->nodes());
  for (const ModelAccount& model : models_) {
    int inside = -1;  // depth of the layer around that is in the graph
    for (const Module& module : model.tree.modules) {
      if (inside >= 0 && module.depth <= inside) inside = -1;
      if (inside < 0 && layers.contains(module.object)) inside = module.depth;
      if (inside >= 0)
        for (const Held& held : module.own) found.insert(&held);
    }
  }
  return found;
}

std::unordered_set<const Held*> Account::reached(const StepAccount& step) const {
  std::unordered_set<const Held*> found = touched(step);
  std::erase_if(
      found, [](const Held* held) { return !held->is_parameter || held->trained != values::Known::yes; });
  return found;
}

namespace {
// Does the operation run in the iteration, and after the backwards in front of the step's own?
bool runs_in(const StepAccount& step, const Producer& made, const std::vector<Route>& earlier) {
  const Route route = part_inside(step.loop, route_of(made.calls, made.born));
  return !route.empty() &&
      std::ranges::none_of(earlier, [&](const Route& backward) { return before(route, backward); });
}
}  // namespace

std::vector<TimedNode> Account::timed_nodes(const Graph& graph, const StepAccount& step) const {
  std::vector<TimedNode> made;
  std::vector<Route> earlier;  // backwards of the iteration
  for (const StepAccount& other : steps_)
    if (&other != &step && other.loop == step.loop)
      if (Route route = route_inside(step, other); before(route, route_inside(step, step)))
        earlier.push_back(std::move(route));
  for (const Node& node : graph.nodes()) {
    TimedNode timed;
    // In front of a `detach()` the backward does not go on.
    timed.has_gradient = std::ranges::any_of(
        node.results, [&](const TensorState* result) { return step.graph->node_of(*result) != Graph::npos; });
    // Not what the step's own graph says: batches are operations of this one, and lie in the storages of
    // those.
    if (timed.has_gradient)
      timed.saving = saved_by(graph, node, options_.device);
    else
      timed.is_new = !step.loop || !step.loop->stmt || runs_in(step, *node.made, earlier);
    made.push_back(std::move(timed));
  }
  mark_named(graph, step.backward->place, made);
  return made;
}

// The operations whose results have names where the backward is called: they outlive the step.
void Account::mark_named(const Graph& graph, values::Place backward, std::vector<TimedNode>& nodes) const {
  if (!names_) return;
  const std::string& path = record_.chunk(backward).path;
  const syntax::Span span = record_.span(backward);
  for (const interpreter::Fact& fact : names_->facts) {
    if (fact.role != interpreter::Fact::Role::assignment || !fact.tensor || !fact.tensor->made) continue;
    const auto& chunk = names_->chunk(fact.place);
    const syntax::Span around = chunk.absolute(chunk.chunk->stmt->span);
    const Producer& there = *fact.tensor->made;
    if (chunk.path != path || !around.holds(span) || !there.born) continue;
    const auto layer_place = [](const Record& record, const Producer& made) {
      const Instance* layer = layer_of(made);
      return layer && layer->born ? record.span(layer->born) : syntax::Span{};
    };
    for (std::size_t i = graph.nodes().size(); i-- > 0;) {
      const Producer& node = *graph.nodes()[i].made;
      if (node.row != there.row || layer_place(record_, node) != layer_place(*names_, there) ||
          record_.chunk(node.born).path != names_->chunk(there.born).path ||
          record_.span(node.born) != names_->span(there.born))
        continue;
      nodes[i].is_named = true;
      break;
    }
  }
}

}  // namespace stepzero::footprint
