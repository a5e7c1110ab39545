// What a shape function answers, and the layer that it is called for.
#include "libraries/python/generators.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/meaning/autocast.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"
#include "values/strides.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;

Value Op::result(const Shape& shape) {
  return result(shape, result_type(call.row.op ? call.row.op->type : Type::own));
}

// Of numbers, and of slices, also of several: `x[rank::world]` is each rank's own part.
static Sharing sharing_of_index(Runtime& run, Value value, int depth = 0) {
  Sharing mixed = Sharing::uniform;
  switch (value.kind) {
  case Kind::integer:
  case Kind::boolean: return run.heap().sharing(value);
  case Kind::slice: {
    const auto* slice = value.as<values::SliceObject>();
    for (const Value& part : {slice->lower, slice->upper, slice->step})
      mixed = symbolic::mix(mixed, sharing_of_index(run, run.resolve(part)));
    return mixed;
  }
  case Kind::tuple:
    if (depth >= values::deepest_data) return mixed;
    for (const Value& part : value.as<values::Tuple>()->items)
      mixed = symbolic::mix(mixed, sharing_of_index(run, run.resolve(part), depth + 1));
    return mixed;
  default: return mixed;
  }
}

Value Op::result(const Shape& shape, Dtype dtype) {
  const auto& all = tensors();
  if (run.casting() && !all.empty() && (dtype == Dtype::unknown || values::is_floating(dtype)))
    dtype = under_autocast(*this, dtype);
  TensorState state = computed(run, std::span<const Value>(all));
  for (const auto* given : {&call.arguments, &call.rest})
    for (const Value& value : *given)
      state.sharing = symbolic::mix(state.sharing, sharing_of_index(run, value));
  if (takes_more()) {
    state.graph_complete = false;
    if (state.requires_grad == Known::no) state.requires_grad = Known::unknown;
  }
  if (call.row.op && call.row.op->has_parameters && call.self.is(Kind::instance)) {
    const Known trained = is_trained();
    if (trained == Known::yes || (trained == Known::unknown && state.requires_grad == Known::no))
      state.requires_grad = trained;
    state.graph.push_back(call.self.object());
    apply_modes(run, state);
    if (call.self.as<values::Instance>()->of_many) state.graph_complete = false;
  }
  // Integers and truth have no gradient.
  if (dtype != Dtype::unknown && category(dtype) < 2) cut_history(run, state, call.place, title());
  if (shape.ndim_known && shape.dims.empty()) state.is_gradient = false;
  state.poisoned = state.poisoned || failed_;
  // Of what would have come of a call that fails nothing is claimed; where shapes are shown it has the one
  // that was meant.
  if (!state.poisoned || run.policy().operands_fit) state.shape = shape;
  state.dtype = dtype;
  return libraries::result(call, std::move(state));
}

Value Op::fresh(const Shape& shape, Dtype dtype, bool random) {
  TensorState state;
  state.sharing = random ? drawn_with(run, argument("generator")) : Sharing::uniform;
  state.shape = shape;
  state.dtype = dtype;
  state.graph_complete = true;
  for (const Dim& d : shape.dims)
    if (d.size) state.sharing = symbolic::mix(state.sharing, s.sharing(d.size));
  const Value device = argument("device");
  if (!device)
    state.device = default_device(run);
  else
    state.device = values::device_named(run.heap(), device);
  state.strides = strides_in_order(shape);
  run.heap().set_no_grad(state);
  state.requires_grad = flag("requires_grad");
  if (state.requires_grad == Known::yes && dtype != Dtype::unknown && category(dtype) < 2)
    return fail(ProblemKind::dtype, why<Reason::gradient_of_dtype>(dtype));
  return libraries::result(call, std::move(state));
}

std::vector<Int> Op::strides_in_order(const Shape& shape) const { return values::strides_in_order(s, shape); }
Value Op::in_order(Value made) {
  const TensorState* state = tensor(made);
  return state ? laid_out(made, strides_in_order(state->shape)) : made;
}
Value Op::laid_out(Value made, std::vector<Int> strides) {
  const TensorState* state = tensor(made);
  if (!state || strides.empty() || strides.size() != state->shape.dims.size()) return made;
  TensorState known = *state;
  known.strides = std::move(strides);
  set_state(run, made, known);
  return made;
}

Value Op::named_tuple(std::vector<Value> items, std::span<const std::string_view> fields) {
  const Value made_tuple = tuple(std::move(items));
  made_tuple.as<values::Tuple>()->fields = fields;
  return made_tuple;
}

// ---------------------------------------------------------------- layers

// What a layer computes needs a gradient if one of its parameters does. Of those that are not known it is
// taken to be so.
namespace {
// The parameters of a layer of the library, and of those that it is made of.
struct Trained {
  bool any = false, yes = false, unsure = false;
};
void look_for_trained(Runtime& run, Value value, Trained& found, int depth) {
  value = run.resolve(value);
  constexpr int most = 6;  // levels of layers
  if (value.is(Kind::choice)) found.unsure = true;
  if (value.is(Kind::tensor) && value.as<values::Tensor>()->role == values::TensorRole::parameter) {
    const TensorState& state = *value.as<values::Tensor>()->now();
    found.any = true;
    found.yes = found.yes || state.requires_grad != Known::no;
    found.unsure = found.unsure || run.heap().requires_grad(state) != Known::no;
  }
  if (!value.is(Kind::instance) || found.yes || depth > most) return;
  const auto& layer = *value.as<values::Instance>();
  for (const auto& [name, slot] : layer.attributes.entries()) {
    if (depth > 0 && slot->value.is(Kind::list) && name.text() == values::ContainerState::items)
      for (const Value& item : values::Heap::list_state(slot->value)->items)
        look_for_trained(run, item, found, depth + 1);
    else if (!values::is_kept(name.text()) || slot->value.is(Kind::tensor))
      look_for_trained(run, slot->value, found, depth + 1);
  }
}
}  // namespace

Known Op::is_trained() const {
  Trained found;
  look_for_trained(run, call.self, found, 0);
  return found.yes || !found.any ? Known::yes : found.unsure ? Known::unknown : Known::no;
}

Value Op::kept(values::AttributeKey name) const {
  if (!call.self.is(Kind::instance)) return {};
  const values::Slot* slot = call.self.as<values::Instance>()->attributes.find(syntax::Name(name.text()));
  const Value value = slot ? run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}
void Op::keep(values::AttributeKey name, Value value) {
  run.heap().set(
      run.heap().slot_of(call.self.as<values::Instance>()->attributes, syntax::Name(name.text())), value);
}
Int Op::kept_size(std::string_view name) const {
  const Value value = kept(name);
  return value.is(Kind::integer) || value.is(Kind::unknown) ? run.to_int(value) : nullptr;
}
std::optional<std::vector<Int>> Op::per_axis(Value value, std::size_t count) const {
  value = run.resolve(value);
  if (value.is(Kind::integer) || value.is(Kind::unknown)) {
    // An unknown may be one number or several.
    if (value.is(Kind::unknown) && count > 1) return std::nullopt;
    const Int one = run.to_int(value);
    return one ? std::optional(std::vector<Int>(count, one)) : std::nullopt;
  }
  const auto items = value.is(Kind::list) || value.is(Kind::tuple) ? run.elements(value, call.place)
                                                                   : std::nullopt;
  if (!items) return std::nullopt;
  std::vector<Int> found;
  for (const Value& item : *items) {
    const Value part = run.resolve(item);
    if (!part.is(Kind::integer) && !part.is(Kind::unknown)) return std::nullopt;
    found.push_back(run.to_int(part));
    if (!found.back()) return std::nullopt;
  }
  if (found.size() == 1) found.resize(count, found.front());
  return found.size() == count ? std::optional(found) : std::nullopt;
}

}  // namespace stepzero::libraries
