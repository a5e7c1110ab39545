// torch.func: functions made of functions (vmap, grad), and modules that are called with other parameters. Parameters as one vector.
#include "torch/names.hpp"
#include "torch/native.hpp"
#include "torch/op.hpp"

#include <algorithm>
#include <map>

namespace stepzero::torch {

using interpreter::Arguments;
using values::Kind;

namespace {

// A function that calls `path` with these arguments in front of its own.
Value before(Call& call, std::string_view path, std::vector<Value> arguments) {
  if (call.spread) return unknown_of(call);
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol(path);
  made->arguments = std::move(arguments);
  return Value::of(Kind::partial, made);
}
Value vmap(Call& call) { return before(call, "torch.func.$mapped", {call.at(0), call.at(1), call.at(2)}); }
Value grad(Call& call) { return before(call, "torch.func.$gradient", {call.at(0), call.at(1), call.at(2)}); }
Value grad_and_value(Call& call) { return before(call, "torch.func.$gradient_and_value", {call.at(0), call.at(1), call.at(2)}); }

// A tensor as `of`, but for its shape. It is no view.
Value another(Call& call, const TensorState& of, Shape shape) {
  TensorState made = of;
  made.shape = std::move(shape);
  made.shape_value = {};
  made.content = nullptr;
  made.mean = nullptr;
  made.strides.clear();
  return result(call, std::move(made));
}

// The dimension that vmap takes from the argument at `i`; nullopt: not known; -1: none, it is handed on whole.
std::optional<std::int64_t> mapped_dim(Call& call, std::size_t i) {
  Value dims = call.run.resolve(call.at(1));
  if (dims.is(Kind::tuple) || dims.is(Kind::list)) {
    const auto all = call.run.elements(dims, call.place);
    if (!all || i >= all->size()) return std::nullopt;
    dims = call.run.resolve((*all)[i]);
  }
  if (dims.is(Kind::none)) return -1;
  const auto known = call.run.to_constant(dims);
  return known && *known >= 0 ? known : std::nullopt;
}
Value with_mapped(Call& call, Value made, const Dim& size, std::int64_t at) {
  made = call.run.resolve(made);
  if (made.is(Kind::tuple)) {
    std::vector<Value> parts;
    for (const Value& part : made.as<values::Tuple>()->items) parts.push_back(with_mapped(call, part, size, at));
    return call.run.heap().tuple(std::move(parts));
  }
  const TensorState* state = tensor_state(call.run, made);
  if (!state || !state->shape.rank_known || static_cast<std::size_t>(at) > state->shape.dims.size()) return unknown_of(call);
  Shape shape = state->shape;
  shape.dims.insert(shape.dims.begin() + at, size);
  return another(call, *state, std::move(shape));
}
// vmap(function, in_dims, out_dims)(x, …): the function sees one of each, and its results are stacked.
Value mapped(Call& call) {
  const auto out = call.run.to_constant(call.run.resolve(call.at(2)));
  if (call.spread || !call.options.empty() || !out || *out < 0) return unknown_of(call);
  std::vector<Value> one;
  Dim size;
  for (std::size_t i = 0; i < call.rest.size(); ++i) {
    const auto at = mapped_dim(call, i);
    if (!at) return unknown_of(call);
    if (*at == -1) {
      one.push_back(call.rest[i]);
      continue;
    }
    const TensorState* state = tensor_state(call.run, call.run.resolve(call.rest[i]));
    if (!state || !state->shape.rank_known || static_cast<std::size_t>(*at) >= state->shape.dims.size()) return unknown_of(call);
    Shape shape = state->shape;
    if (!size.size) size = shape.dims[static_cast<std::size_t>(*at)];
    shape.dims.erase(shape.dims.begin() + *at);
    one.push_back(another(call, *state, std::move(shape)));
  }
  return with_mapped(call, call.run.call(call.at(0), {std::move(one), {}, false}, call.place), size, *out);
}

// grad(function, argnums, has_aux)(x, …): a gradient of the shape of x.
std::pair<Value, Value> gradient_and_rest(Call& call) {
  Value value = call.run.resolve(call.run.call(call.at(0), {call.rest, call.options, call.spread}, call.place));
  const auto at = call.run.to_constant(call.run.resolve(call.at(1)));
  const TensorState* state = !call.spread && at && *at >= 0 && static_cast<std::size_t>(*at) < call.rest.size() ? tensor_state(call.run, call.run.resolve(call.rest[static_cast<std::size_t>(*at)])) : nullptr;
  return {state ? another(call, *state, state->shape) : unknown_of(call), value};
}
symbolic::Answer has_aux(Call& call) { return call.run.symbols().decide(call.run.truth(call.at(2))); }
Value gradient(Call& call) {
  const auto [made, value] = gradient_and_rest(call);
  const symbolic::Answer aux = has_aux(call);
  if (aux == symbolic::Answer::no) return made;
  if (aux == symbolic::Answer::unknown || !value.is(Kind::tuple) || value.as<values::Tuple>()->items.size() != 2) return unknown_of(call);
  return call.run.heap().tuple({made, value.as<values::Tuple>()->items[1]});
}
Value gradient_and_value(Call& call) {
  const auto [made, value] = gradient_and_rest(call);
  return call.run.heap().tuple({made, value});
}

// Are the named tensors as large as the module's own of those names? With others it is another module. A name that is missing keeps its own.
bool fits(Call& call, Value module, Value given) {
  given = call.run.resolve(given);
  if (!given.is(Kind::dict) || values::Heap::dict_state(given)->open) return false;
  std::map<std::string, Value, std::less<>> own;
  for (const char* kind : {"named_parameters", "named_buffers"}) {
    const Value method = call.run.attribute_or_none(module, syntax::Name(kind), call.place);
    const auto all = method ? call.run.elements(call.run.call(method, {}, call.place), call.place) : std::nullopt;
    if (!all) return false;
    for (const Value pair : *all) {
      const auto parts = call.run.elements(pair, call.place);
      if (!parts || parts->size() != 2 || !(*parts)[0].is(Kind::string)) return false;
      own.emplace((*parts)[0].text(), (*parts)[1]);
    }
  }
  for (const auto& [key, value] : values::Heap::dict_state(given)->items) {
    if (!key.is(Kind::string)) return false;
    const auto found = own.find(key.text());
    const TensorState* mine = found == own.end() ? nullptr : tensor_state(call.run, found->second);
    const TensorState* theirs = tensor_state(call.run, value);
    if (!mine || !theirs || !mine->shape.rank_known || !theirs->shape.rank_known) return false;
    if (!std::ranges::equal(mine->shape.dims, theirs->shape.dims, [](const Dim& a, const Dim& b) { return a.size && a.size == b.size; })) return false;
  }
  return true;
}

// functional_call(module, parameters, args, kwargs): the module's forward. With parameters of other sizes it is only shown what its own give.
Value functional_call(Call& call) {
  if (!call.run.to_show() && !fits(call, call.at(0), call.at(1))) return unknown_of(call);
  Arguments arguments;
  arguments.spread = call.spread;
  const Value given = call.run.resolve(call.at(2)), options = call.run.resolve(call.at(3));
  if (given.is(Kind::tuple)) arguments.positional = given.as<values::Tuple>()->items;
  else if (given.is(Kind::unknown)) return unknown_of(call);  // one, or a tuple of them
  else if (given && !given.is(Kind::none)) arguments.positional.push_back(given);
  if (options.is(Kind::dict) && !values::Heap::dict_state(options)->open) {
    for (const auto& [key, value] : values::Heap::dict_state(options)->items) {
      if (!key.is(Kind::string)) return unknown_of(call);
      arguments.keywords.push_back({syntax::Name(key.text()), value});
    }
  } else if (options && !options.is(Kind::none)) {
    return unknown_of(call);
  }
  return call.run.call(call.at(0), std::move(arguments), call.place);
}

// All of the parameters, one behind the other.
Value to_vector(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  const auto all = given.is(Kind::list) || given.is(Kind::tuple) ? call.run.elements(given, call.place) : std::nullopt;
  auto& s = call.run.symbols();
  Int total = all ? s.constant(0) : nullptr;
  TensorState made = all ? computed(call.run, std::span<const Value>(*all)) : TensorState{};
  if (!all) {
    made.external = true;
    made.graph_complete = false;
  }
  for (std::size_t i = 0; all && i < all->size(); ++i) {
    const TensorState* part = tensor_state(call.run, call.run.resolve((*all)[i]));
    made.dtype = part && (i == 0 || made.dtype == part->dtype) ? part->dtype : Dtype::unknown;
    Int size = part && part->shape.rank_known && total ? s.constant(1) : nullptr;
    for (std::size_t d = 0; size && d < part->shape.dims.size(); ++d) size = part->shape.dims[d].size ? s.mul(size, part->shape.dims[d].size) : nullptr;
    total = size ? s.add(total, size) : nullptr;
  }
  made.shape = {true, {total ? known_dim(call.run, total, call.place, call.row.path) : Dim{}}};
  return result(call, std::move(made));
}
// They are views of the vector from here on.
Value from_vector(Call& call) {
  call.run.heap().note_write(nullptr);
  return Value::none();
}

} // namespace

std::vector<Row> transform_rows() {
  using enum RowKind;
  return {
      row("torch.func.vmap", function, "func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None", vmap),
      row("torch.func.$mapped", function, "func, in_dims, out_dims, *arguments, **options", mapped),
      row("torch.func.grad", function, "func, argnums=0, has_aux=False", grad),
      row("torch.func.$gradient", function, "func, argnums, has_aux, *arguments, **options", gradient),
      row("torch.func.grad_and_value", function, "func, argnums=0, has_aux=False", grad_and_value),
      row("torch.func.$gradient_and_value", function, "func, argnums, has_aux, *arguments, **options", gradient_and_value),
      row("torch.func.functional_call", function, "module, parameter_and_buffer_dicts, args=None, kwargs=None, *, tie_weights=True, strict=False", functional_call),
      row("torch.nn.utils.parameters_to_vector", function, "parameters", to_vector),
      row("torch.nn.utils.vector_to_parameters", function, "vec, parameters", from_vector),
  };
}

} // namespace stepzero::torch
