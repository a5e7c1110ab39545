#include "footprint/graph.hpp"

#include "footprint/gradients.hpp"

#include "footprint/saving_table.hpp"
#include "footprint/strides.hpp"
#include "libraries/table/names.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/meanings.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace stepzero::footprint {

using values::Kind;

namespace {

constexpr std::size_t most_nodes = 200'000;  // of one loss: an answer takes a second at most

// A subscript by numbers, slices, None and `...` alone.
bool is_basic_index(const Record& record, Value index) {
  index = decided(record, index);
  switch (index.kind) {
  case Kind::integer:
  case Kind::slice:
  case Kind::none:
  case Kind::ellipsis: return true;
  case Kind::unknown: return true;  // a number, as a rule
  case Kind::tuple:
    return std::ranges::all_of(
        index.as<values::Tuple>()->items, [&](Value item) { return is_basic_index(record, item); });
  default: return false;
  }
}

bool is_off(const Record& record, Value flag) {
  flag = decided(record, flag);
  return flag.is(Kind::boolean) && record.symbols.decide(flag.condition()) == symbolic::Answer::no;
}
bool is_on(const Record& record, Value flag) {
  flag = decided(record, flag);
  return flag.is(Kind::boolean) && record.symbols.decide(flag.condition()) == symbolic::Answer::yes;
}
bool is_zero(const Record& record, Value number) {
  number = decided(record, number);
  return (number.is(Kind::real) && number.real() == 0) ||
      (number.is(Kind::integer) && record.symbols.value(number.integer()) == 0);
}

}  // namespace

Value argument(const Producer& made, std::string_view name) {
  for (std::size_t i = 0; i < made.row->parameters.size() && i < made.arguments.size(); ++i)
    if (made.row->parameters[i].text() == name) return made.arguments[i];
  const std::size_t more = made.row->parameters.size() + made.self.is(values::Kind::instance);
  return name == "more" && more < made.arguments.size() ? made.arguments[more] : Value{};
}
const TensorState* operand(const Producer& made, std::string_view name) {
  for (std::size_t i = 0; i < made.row->parameters.size() && i < made.states.size(); ++i)
    if (made.row->parameters[i].text() == name) return made.states[i];
  return nullptr;
}
Value setting(const Record& record, const Producer& made, std::string_view name) {
  if (const Instance* layer = layer_of(made)) return attribute(record, *layer, name);
  const Value given = decided(record, argument(made, name));
  return given.is(Kind::none) ? Value{} : given;
}

bool is_evaluated(const Record& record, const Producer& made) {
  if (!layer_of(made))
    return is_off(record, argument(made, "training")) || is_off(record, argument(made, "train"));
  const std::size_t after = made.row->parameters.size();
  return made.arguments.size() > after && is_off(record, decided(record, made.arguments[after]));
}

bool is_checkpoint(const Producer& made) { return made.row->path.starts_with("torch.utils.checkpoint."); }
bool begins_history(const Node& node) {
  const auto has_none = [](const TensorState* state) {
    return !state || state->requires_grad == values::Known::no;
  };
  return !node.results.empty() && node.results.front()->requires_grad == values::Known::yes &&
      !layer_of(*node.made) && node.made->row->op && std::ranges::all_of(node.made->states, has_none) &&
      std::ranges::all_of(node.made->listed, has_none);
}
bool is_own_function(const Producer& made) { return made.row->path == "torch.autograd.Function.apply"; }
bool is_kept_gradient(const Record& record, const Producer& made) {
  const Value kept = decided(record, argument(made, "create_graph"));
  return made.row->operation == values::Operation::gradient_asked && kept && !is_off(record, kept);
}

bool is_idle_dropout(const Record& record, const Producer& made) {
  if (libraries::meaning_of(libraries::operator_name(*made.row)).memory != libraries::MemoryOf::dropout)
    return false;
  return is_evaluated(record, made) || is_zero(record, setting(record, made, "p"));
}

namespace {
// On the CPU the one, on a GPU the other.
bool lie_on_different_devices(const values::Device* a, const values::Device* b) {
  return a && b && a != b && (a->text == "cpu") != (b->text == "cpu");
}
}  // namespace

bool is_in_place(const Record& record, const Producer& made) {
  return made.row->variant != values::Variant::plain || (made.row->op && made.row->op->writes) ||
      is_on(record, setting(record, made, "inplace"));
}

bool shares_memory(const Record& record, const Producer& made, const TensorState* result, Device device) {
  if (made.states.empty() || !made.states[0]) return false;
  if (is_in_place(record, made)) return true;
  const TensorState& from = *made.states[0];
  switch (libraries::meaning_of(libraries::operator_name(*made.row)).memory) {
  case libraries::MemoryOf::same:
  case libraries::MemoryOf::view: return true;
  case libraries::MemoryOf::reshape: return !result || can_be_viewed(record, from, result->shape, device);
  case libraries::MemoryOf::cast:
    return result && result->dtype == from.dtype && !lie_on_different_devices(from.device, result->device);
  case libraries::MemoryOf::dropout:
    if (is_idle_dropout(record, made)) return true;
    break;
  case libraries::MemoryOf::contiguous: return in_order(record, from, device);
  case libraries::MemoryOf::rearranged: return result && is_rearranged_view(record, made, *result, device);
  case libraries::MemoryOf::subscript: return is_basic_index(record, argument(made, "index"));
  case libraries::MemoryOf::own: break;
  }
  return false;
}

const TensorState& Graph::base(const TensorState& state) const {
  const TensorState* at = &state;
  for (int steps = 0; at->made && steps < values::longest_chain && !held_.contains(identity(at)); ++steps) {
    if (const TensorState* made = gradient(*at)) {
      at = made;
      continue;
    }
    if (!shares_memory(record_, *at->made, at, device_)) break;
    at = at->made->states[0];
  }
  return *at;
}

const TensorState* Graph::gradient(const TensorState& state) const {
  return is_asked_gradient(state) ? Gradients::of(record_).followed(*this, state) : nullptr;
}

Storage Graph::storage(const TensorState& state) const {
  const TensorState& at = base(state);
  const std::size_t node = node_of(at);
  // The results of one operation have descriptions of their own.
  if (node != npos) return {nodes_[node].made, at.made->part};
  return {identity(&at), 0};
}

const Held* Graph::held(const TensorState& state) const {
  const auto found = held_.find(identity(&base(state)));
  return found != held_.end() ? found->second : nullptr;
}

std::size_t Graph::node_of(const TensorState& state) const {
  const auto found = places_.find(identity(&state));
  return found != places_.end() ? found->second : npos;
}

namespace {
// A parameter, or a tensor that no module and no parameter went into: data.
bool is_leaf(const TensorState& state) {
  if (state.graph.empty()) return true;
  const auto* tensor = state.graph.size() == 1 ? dynamic_cast<const values::Tensor*>(*state.graph.begin())
                                               : nullptr;
  return tensor && tensor->role != values::TensorRole::plain;
}

// May a tensor be in its place? A number is none.
bool may_be_tensor(const Record& record, Value given) {
  given = decided(record, given);
  if (given.is(Kind::choice)) {
    const auto& choice = *given.as<values::Choice>();
    return may_be_tensor(record, choice.yes) || may_be_tensor(record, choice.no);
  }
  return given.is(Kind::tensor) || (given.is(Kind::unknown) && !values::is_number(given));
}

// Is something unknown in the place of its first tensor, or of the other one?
bool lacks_operand(const Record& record, const Producer& made) {
  for (std::size_t i = 0;
      i < made.arguments.size() && i < made.states.size() && i < made.row->parameters.size(); ++i) {
    const std::string_view name = made.row->parameters[i].text();
    // Of a list there may be more than is listed.
    if (const Value list = decided(record, made.arguments[i]);
        i == 0 && list.is(Kind::list) && values::Heap::list_state(list)->open)
      return true;
    if ((i == 0 || name == "other" || name == "mat2" || name == "key" || name == "value") &&
        !made.states[i] && may_be_tensor(record, made.arguments[i]))
      return true;
  }
  return false;
}

// Has it a gradient that nothing hands on which is seen to go in? What is in a list may not be.
bool lacks_history(const TensorState& state, const std::vector<const TensorState*>& inputs) {
  return state.requires_grad == values::Known::yes && !layer_of(*state.made) && !is_leaf(state) &&
      !is_checkpoint(*state.made) && !is_own_function(*state.made) &&
      std::ranges::none_of(inputs, [](const TensorState* each) { return Graph::requires_grad(*each); });
}

// Descriptions of one operation that made several tensors: alike but for the part.
struct Same {
  const values::Row* row;
  values::Place born;
  const interpreter::CallSite* calls;
  const void* self;
  const void* first;
  const void* second;
  friend bool operator==(const Same&, const Same&) = default;
};
struct SameHash {
  std::size_t operator()(const Same& same) const {
    std::size_t made = std::hash<const void*>()(same.row);
    for (const void* each : {static_cast<const void*>(same.calls), same.self, same.first, same.second})
      made = made * 31 + std::hash<const void*>()(each);
    return made * 31 + same.born.span.begin;
  }
};
Same key_of(const Producer& made) {
  const auto nth = [&](std::size_t i) -> const void* {
    for (const auto* list : {&made.states, &made.listed})
      for (const TensorState* state : *list)
        if (state && i-- == 0) return identity(state);
    return nullptr;
  };
  return {made.row, made.born, made.calls, made.self ? made.self.object() : nullptr, nth(0), nth(1)};
}
}  // namespace

void Graph::walk(const TensorState& from, std::vector<Node>& into,
    std::unordered_map<const void*, std::size_t>& places, const Skips& skips) const {
  std::unordered_map<Same, std::size_t, SameHash> several;
  struct Open {
    const TensorState* state;
    std::vector<const TensorState*> inputs;
    std::size_t next = 0;
  };
  std::vector<Open> stack;
  std::unordered_set<const void*> begun;
  const auto push = [&](const TensorState* state) {
    if (skips && skips(*state)) return;
    // It came from somewhere, and where is not known: from one of several paths, or from code that was not
    // seen.
    if (!state->made && !held_.contains(identity(state)) && requires_grad(*state) && !is_leaf(*state))
      miss(stack.empty() ? nullptr : stack.back().state->made, Gap::What::origin);
    if (!state->made || held_.contains(identity(state)) || !begun.insert(identity(state)).second) return;
    const TensorState* gradient = this->gradient(*state);
    if (!gradient && is_kept_gradient(record_, *state->made))
      miss(Gradients::of(record_).lost(*this, *state), Gap::What::kept_gradient);
    if (!all_ && !requires_grad(*state)) return;
    if (begun.size() > most_nodes) return miss(nullptr, Gap::What::length);
    Open open{state, {}};
    if (gradient) {
      open.inputs.push_back(gradient);
      stack.push_back(std::move(open));
      return;
    }
    for (const TensorState* each : state->made->states)
      if (each) open.inputs.push_back(each);
    if (!is_checkpoint(*state->made) && !is_own_function(*state->made))
      for (const TensorState* each : state->made->listed)
        if (each) open.inputs.push_back(each);
    if (lacks_operand(record_, *state->made)) miss(state->made, Gap::What::operand);
    if (lacks_history(*state, open.inputs)) miss(state->made, Gap::What::history);
    stack.push_back(std::move(open));
  };
  push(&from);
  while (!stack.empty()) {
    Open& open = stack.back();
    if (open.next < open.inputs.size()) {
      push(open.inputs[open.next++]);
      continue;
    }
    const TensorState* state = open.state;
    const Producer& made = *state->made;
    const auto [at, is_new] = made.part < 0 ? std::pair{several.end(), true}
                                            : several.try_emplace(key_of(made), into.size());
    const std::size_t place = is_new ? into.size() : at->second;
    if (is_new) into.push_back({&made, {}, {}, false});
    places[identity(state)] = place;
    into[place].results.push_back(state);
    for (const TensorState* input : open.inputs)
      if (const auto found = places.find(identity(input)); found != places.end() && found->second != place)
        into[place].from.push_back(found->second);
    stack.pop_back();
  }
}

namespace {
Dtype promoted(Dtype a, Dtype b) {
  if (a == Dtype::unknown || a == b) return b;
  return b == Dtype::unknown ? a : libraries::promote(a, b);
}
}  // namespace

Dtype Graph::half_of(const TensorState& state) const {
  if (!state.cast_by) return Dtype::unknown;
  const Value half = attribute(record_, *state.cast_by, values::ContextState::dtype);
  return half.is(Kind::dtype) ? half.dtype() : device_ == Device::cpu ? Dtype::bfloat16 : Dtype::float16;
}

Dtype Graph::dtype(const TensorState& state) const {
  if (state.dtype != Dtype::unknown) return state.dtype;
  if (const auto known = dtypes_.find(identity(&state)); known != dtypes_.end()) return known->second;
  if (!state.made || !state.made->row->op) return state.dtype;
  dtypes_[identity(&state)] = Dtype::unknown;  // of what leads back to itself
  const Producer& made = *state.made;
  Dtype found = Dtype::unknown;
  const Casts casts = state.cast_by ? casts_of(libraries::operator_name(*made.row), device_) : Casts::none;
  if (casts == Casts::lower) {
    found = half_of(state);
  } else if (casts == Casts::higher) {
    found = Dtype::float32;
  } else if (casts == Casts::of_input && !made.states.empty() && made.states[0]) {
    found = dtype(*made.states[0]);
  } else {
    if (const Instance* layer = layer_of(made))
      if (const Value weight = attribute(record_, *layer, "weight"); weight.is(Kind::tensor))
        found = weight.as<values::Tensor>()->now()->dtype;
    for (const auto* list : {&made.states, &made.listed})
      for (const TensorState* each : *list)
        if (each)
          if (const Dtype one = dtype(*each); values::is_floating(one)) found = promoted(found, one);
  }
  return dtypes_[identity(&state)] = found;
}

Graph::Graph(const Record& record, const TensorState& loss,
    const std::unordered_map<const void*, const Held*>& held, Device device, bool all)
    : record_(record), held_(held), device_(device), all_(all) {
  walk(loss, nodes_, places_, nullptr);
  note_data();
  if (!loss.made) miss(nullptr, Gap::What::origin);
}

void Graph::miss(const Producer* at, Gap::What what) const {
  const Gap gap{at, what};
  if (std::ranges::find(gaps_, gap) == gaps_.end()) gaps_.push_back(gap);
}

// Data of a type that is not known, given to a layer: it takes that of its weights, and refuses others.
void Graph::note_data() {
  for (const Node& node : nodes_) {
    const Instance* layer = layer_of(*node.made);
    const TensorState* data = layer && !node.made->states.empty() ? node.made->states[0] : nullptr;
    if (!data || data->made || data->dtype != Dtype::unknown || node.results.empty() ||
        node.results[0]->cast_by || libraries::operator_name(*node.made->row).starts_with("Embedding"))
      continue;
    const Value weight = attribute(record_, *layer, "weight");
    if (!weight.is(Kind::tensor)) continue;
    if (const Dtype dtype = weight.as<values::Tensor>()->now()->dtype; values::is_floating(dtype))
      dtypes_.try_emplace(data, dtype);
  }
}

const TensorState* Graph::other_result(const Producer& made, int part) const {
  const Same wanted = key_of(made);
  for (const Node& node : nodes_)
    for (const auto* list : {&node.made->states, &node.made->listed})
      for (const TensorState* state : *list)
        if (state)
          if (const TensorState& at = base(*state);
              at.made && at.made->part == part && key_of(*at.made) == wanted)
            return &at;
  return nullptr;
}

void Graph::sort_by(const std::vector<std::uint32_t>& keys) {
  std::vector<std::size_t> order(nodes_.size()), place(nodes_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return keys[i]; });
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (std::ranges::any_of(nodes_[i].from, [&](std::size_t from) { return place[from] > place[i]; })) return;
  std::vector<Node> sorted;
  sorted.reserve(order.size());
  for (const std::size_t i : order) sorted.push_back(std::move(nodes_[i]));
  for (Node& node : sorted)
    for (std::size_t& from : node.from) from = place[from];
  for (auto& [state, at] : places_) at = place[at];
  nodes_ = std::move(sorted);
}

std::vector<Node> Graph::region(const Node& checkpoint) const {
  std::vector<Node> inside;
  std::unordered_map<const void*, std::size_t> places;
  const auto& inputs = checkpoint.made->states;
  const auto is_input = [&](const TensorState& state) {
    return std::ranges::find(inputs, &state) != inputs.end();
  };
  for (const TensorState* result : checkpoint.made->listed)
    if (result) walk(*result, inside, places, is_input);
  for (Node& node : inside) node.inside_checkpoint = true;
  return inside;
}

std::vector<Node> Graph::beside(
    const std::vector<const TensorState*>& alive, const std::vector<const TensorState*>& passed) const {
  std::unordered_set<const void*> seen;
  std::unordered_set<Same, SameHash> several;
  const auto note = [&](const TensorState& state) {
    if (state.made && state.made->part >= 0) several.insert(key_of(*state.made));
    return seen.insert(identity(&state)).second;
  };
  for (const Node& node : nodes_)
    for (const TensorState* result : node.results) note(*result);
  const auto is_seen = [&](const TensorState& state) {
    return seen.contains(identity(&state)) ||
        (state.made && state.made->part >= 0 && several.contains(key_of(*state.made)));
  };
  std::vector<Node> made;
  if (std::ranges::all_of(alive, [&](const TensorState* state) { return is_seen(*state); })) return made;
  std::vector<const TensorState*> open(passed);
  while (!open.empty()) {
    const TensorState& state = *open.back();
    open.pop_back();
    if (!state.made || !requires_grad(state) || held_.contains(identity(&state)) || !note(state)) continue;
    for (const auto* list : {&state.made->states, &state.made->listed})
      for (const TensorState* each : *list)
        if (each) open.push_back(each);
  }
  std::vector<Gap> own = std::exchange(gaps_, {});
  std::unordered_map<const void*, std::size_t> places;
  for (const TensorState* state : alive) {
    if (is_seen(*state)) continue;
    walk(*state, made, places, is_seen);
    for (const auto& [each, at] : places) seen.insert(each);
  }
  gaps_beside_ = std::exchange(gaps_, std::move(own));
  return made;
}

}  // namespace stepzero::footprint
