// Tensors: making them, computing with them, changing their shape, asking them. Semantics as in PyTorch's documentation of
// each name.
#include "torch/shapes.hpp"

#include <algorithm>

namespace stepzero::torch {

using values::Kind;

namespace {

Interpreter& run_of(Call& call) { return call.run; }

// ---------------------------------------------------------------- making

// A named argument; absent if it was not given or is None.
Value option(const Call& call, std::string_view name) {
  Value found;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) found = call.run.resolve(call.at(i));
  for (const auto& [key, value] : call.options)
    if (key.text() == name) found = call.run.resolve(value);
  return found.is(Kind::none) ? Value{} : found;
}

const values::Device* device_of(Call& call, Value value) {
  if (value.is(Kind::device)) return value.as<values::Device>();
  if (value.is(Kind::string)) return call.run.heap().device(value.text()).as<values::Device>();
  return nullptr;
}

TensorState fresh_state(Call& call, values::Dtype dtype) {
  TensorState state;
  state.sharing = Sharing::uniform;
  state.dtype = dtype;
  state.graph_complete = true;
  const Value wanted = option(call, "dtype");
  if (wanted.is(Kind::dtype)) state.dtype = wanted.dtype();
  else if (wanted && !wanted.is(Kind::none)) state.dtype = values::Dtype::unknown;
  const Value device = option(call, "device");
  if (!device || device.is(Kind::none)) state.device = call.run.heap().device("cpu").as<values::Device>();
  else state.device = device_of(call, device);
  const Value grad = option(call, "requires_grad");
  state.requires_grad = Known::no;
  if (grad && !(grad.is(Kind::boolean) && call.run.symbols().decide(grad.condition()) == symbolic::Answer::no)) state.requires_grad = Known::unknown;
  return state;
}

Value make_sized(Call& call, values::Dtype dtype, bool random) {
  TensorState state = fresh_state(call, dtype);
  if (random) state.sharing = Sharing::local;
  const auto dims = sizes(run_of(call), call.at(0), call.rest, call.place);
  if (dims && !call.spread) {
    state.shape.rank_known = true;
    for (const Int size : *dims) {
      state.shape.dims.push_back(known_dim(call.run, size, call.place, call.row.path));
      state.sharing = symbolic::mix(state.sharing, call.run.symbols().sharing(size));
    }
  }
  return result(call, state);
}
Value make_float(Call& call) { return make_sized(call, values::Dtype::float32, false); }
Value make_random(Call& call) { return make_sized(call, values::Dtype::float32, true); }
Value make_full(Call& call) {
  call.rest.clear();
  TensorState state = *tensor_state(call.run, make_sized(call, values::Dtype::unknown, false));
  const Value fill = call.run.resolve(call.at(1));
  if (state.dtype == values::Dtype::unknown && !option(call, "dtype")) state.dtype = fill.is(Kind::real) ? values::Dtype::float32 : fill.is(Kind::integer) ? values::Dtype::int64 : values::Dtype::unknown;
  state.sharing = symbolic::mix(state.sharing, call.run.heap().sharing(fill));
  return result(call, state);
}
Value make_randint(Call& call) {
  // randint(high, size) or randint(low, high, size)
  TensorState state = fresh_state(call, values::Dtype::int64);
  state.sharing = Sharing::local;
  const Value last = call.run.resolve(call.at(2) ? call.at(2) : call.at(1));
  if (last.is(Kind::tuple) || last.is(Kind::list))
    if (const auto dims = sizes(call.run, last, {}, call.place)) {
      state.shape.rank_known = true;
      for (const Int size : *dims) state.shape.dims.push_back(known_dim(call.run, size, call.place, call.row.path));
    }
  return result(call, state);
}
Value make_arange(Call& call) {
  TensorState state = fresh_state(call, values::Dtype::int64);
  const Value start = call.run.resolve(call.at(0)), end = call.run.resolve(call.at(1)), step = call.run.resolve(call.at(2));
  Dim length;
  const auto integer = [](Value value) { return !value || value.is(Kind::integer) || value.is(Kind::none); };
  if (integer(start) && integer(end) && (!step || step.is(Kind::none))) {
    auto& s = call.run.symbols();
    if (!end || end.is(Kind::none)) length = known_dim(call.run, call.run.to_int(start), call.place, call.row.path);
    else length = known_dim(call.run, s.sub(call.run.to_int(end), call.run.to_int(start)), call.place, call.row.path);
  } else {
    state.dtype = values::Dtype::unknown;
  }
  state.shape = {true, {length}};
  return result(call, state);
}
// torch.tensor(data): nested lists have the shape of their nesting.
Value make_tensor(Call& call) {
  TensorState state = fresh_state(call, values::Dtype::unknown);
  const Value data = call.run.resolve(call.at(0));
  state.content = data;
  state.sharing = call.run.heap().sharing(data);
  state.external = call.run.heap().is_external(data);
  Shape shape{true, {}};
  Value level = data;
  bool known = true;
  for (int depth = 0; depth < 8; ++depth) {
    if (level.is(Kind::list) || level.is(Kind::tuple)) {
      const auto items = call.run.elements(level, call.place);
      if (!items) {
        known = false;
        break;
      }
      shape.dims.push_back(known_dim(call.run, call.run.symbols().constant(static_cast<std::int64_t>(items->size())), call.place, call.row.path));
      if (items->empty()) break;
      level = call.run.resolve(items->front());
      continue;
    }
    if (level.is(Kind::integer) || level.is(Kind::real) || level.is(Kind::boolean)) {
      if (state.dtype == values::Dtype::unknown && !option(call, "dtype"))
        state.dtype = level.is(Kind::integer) ? values::Dtype::int64 : level.is(Kind::real) ? values::Dtype::float32 : values::Dtype::boolean;
    } else {
      // An unknown item may itself be a list; where a list is given, it is nearly always a number.
      known = level.is(Kind::unknown) && depth > 0;
      if (level.is(Kind::unknown) && level.as<values::Unknown>()->is_real && !option(call, "dtype")) state.dtype = values::Dtype::float32;
    }
    break;
  }
  if (known) state.shape = shape;
  return result(call, state);
}
Value make_like(Call& call) {
  TensorState state = computed(call.run, {call.at(0)});
  if (const TensorState* from = tensor_state(call.run, call.at(0))) state.shape = from->shape;
  const Value wanted = option(call, "dtype");
  if (wanted.is(Kind::dtype)) state.dtype = wanted.dtype();
  const Value device = option(call, "device");
  if (device && !device.is(Kind::none)) state.device = device_of(call, device);
  state.requires_grad = Known::no;
  state.graph.clear();
  state.scaled_by = nullptr;
  state.sharing = Sharing::uniform;
  state.content = {};
  return result(call, state);
}
Value make_random_like(Call& call) {
  const Value made = make_like(call);
  TensorState state = *tensor_state(call.run, made);
  state.sharing = Sharing::local;
  set_state(call.run, made, state);
  return made;
}

// ---------------------------------------------------------------- computing

// The subject of a method, or the first argument of a function.
Value subject(const Call& call) { return call.self ? call.self : call.at(0); }
std::size_t after_subject(const Call& call) { return call.self ? 0 : 1; }

Value same_shape_as_input(Call& call) {
  const Value input = subject(call);
  TensorState state = computed(call.run, {input});
  if (const TensorState* from = tensor_state(call.run, input)) {
    state.shape = from->shape;
    state.dtype = from->dtype;
  } else if (!call.run.resolve(input).is(Kind::unknown) && !call.run.resolve(input).is(Kind::choice)) {
    return call.run.heap().external("", call.place);
  }
  return result(call, state);
}
Value in_place(Call& call) {
  return call.self;
}
Value to_scalar_tensor(Call& call) {
  const Value input = subject(call);
  TensorState state = computed(call.run, {input});
  // A loss of more arguments depends on all of them.
  for (std::size_t i = after_subject(call); i < call.arguments.size(); ++i) {
    const TensorState more = computed(call.run, {call.at(i)});
    state.sharing = symbolic::mix(state.sharing, more.sharing);
  }
  const Value dim = option(call, "dim");
  const Value reduction = option(call, "reduction");
  if ((!dim || dim.is(Kind::none)) && (!reduction || (reduction.is(Kind::string) && reduction.text() != "none"))) state.shape = {true, {}};
  else if (dim && dim.is(Kind::integer)) {
    const TensorState* from = tensor_state(call.run, input);
    const Value keep = option(call, "keepdim");
    const bool keeps = keep.is(Kind::boolean) && call.run.symbols().decide(keep.condition()) == symbolic::Answer::yes;
    if (from && from->shape.rank_known)
      if (const auto at = dim_index(call.run, dim, from->shape)) {
        state.shape = from->shape;
        if (keeps) state.shape.dims[*at] = {call.run.symbols().constant(1), nullptr, nullptr};
        else state.shape.dims.erase(state.shape.dims.begin() + static_cast<std::ptrdiff_t>(*at));
      }
  }
  return result(call, state);
}
Value matmul(Call& call) { return multiply_matrices(call, subject(call), call.at(after_subject(call))); }
Value mm(Call& call) {
  for (const Value& operand : {subject(call), call.at(after_subject(call))})
    if (const TensorState* state = tensor_state(call.run, operand); state && state->shape.rank_known && state->shape.dims.size() != 2) {
      auto* problem = call.run.problem(values::ProblemKind::rank, call);
      problem->operands = {subject(call), call.at(after_subject(call))};
      problem->states = {tensor_state(call.run, problem->operands[0]), tensor_state(call.run, problem->operands[1])};
      return result(call, computed(call.run, {subject(call)}));
    }
  return matmul(call);
}
Value bmm(Call& call) {
  for (const Value& operand : {subject(call), call.at(after_subject(call))})
    if (const TensorState* state = tensor_state(call.run, operand); state && state->shape.rank_known && state->shape.dims.size() != 3) {
      auto* problem = call.run.problem(values::ProblemKind::rank, call);
      problem->operands = {subject(call), call.at(after_subject(call))};
      problem->states = {tensor_state(call.run, problem->operands[0]), tensor_state(call.run, problem->operands[1])};
      return result(call, computed(call.run, {subject(call)}));
    }
  return matmul(call);
}
Value addmm(Call& call) { return multiply_matrices(call, call.at(after_subject(call)), call.at(after_subject(call) + 1)); }
// F.linear(input, weight[out, in])
Value linear(Call& call) {
  const TensorState* input = require_tensor(call.run, call.at(0));
  const TensorState* weight = require_tensor(call.run, call.at(1));
  TensorState out = computed(call.run, {call.at(0), call.at(1), call.at(2)});
  if (!input || !weight) return result(call, out);
  const Dim arrives = from_right(input->shape, 0), expected = from_right(weight->shape, 0);
  if (differ(call.run, arrives, expected)) {
    auto* problem = call.run.problem(values::ProblemKind::inner_dimensions, call);
    problem->operands = {call.at(0), call.at(1)};
    problem->states = {input, weight};
    problem->left = arrives;
    problem->right = expected;
  }
  out.shape = input->shape;
  const Dim features = weight->shape.dims.size() >= 2 ? from_right(weight->shape, 1) : Dim{};
  if (out.shape.dims.empty()) out.shape.dims.push_back(features);
  else out.shape.dims.back() = features;
  return result(call, out);
}
// einsum: letters shared between operands must have the same size.
Value einsum(Call& call) {
  TensorState out = computed(call.run, {call.at(1)});
  std::vector<Value> operands = call.rest;
  operands.insert(operands.begin(), call.at(1));
  const Value equation = call.run.resolve(call.at(0));
  if (!equation.is(Kind::string) || equation.text().find('.') != std::string_view::npos) return result(call, out);
  std::string text(equation.text());
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  std::vector<std::string> inputs;
  std::string part;
  for (const char c : text.substr(0, arrow)) {
    if (c == ',') {
      inputs.push_back(part);
      part.clear();
    } else {
      part += c;
    }
  }
  inputs.push_back(part);
  if (inputs.size() != operands.size()) return result(call, out);
  std::unordered_map<char, std::pair<Dim, std::size_t>> letters;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorState* state = require_tensor(call.run, operands[i]);
    if (!state || !state->shape.rank_known || state->shape.dims.size() != inputs[i].size()) continue;
    for (std::size_t k = 0; k < inputs[i].size(); ++k) {
      const Dim& dim = state->shape.dims[k];
      const bool one = dim.size && call.run.symbols().value(dim.size) == 1;
      auto [it, inserted] = letters.try_emplace(inputs[i][k], dim, i);
      if (inserted || one) continue;
      const bool other_one = it->second.first.size && call.run.symbols().value(it->second.first.size) == 1;
      if (!other_one && differ(call.run, it->second.first, dim)) {
        auto* problem = call.run.problem(values::ProblemKind::inner_dimensions, call);
        problem->operands = {operands[it->second.second], operands[i]};
        problem->states = {tensor_state(call.run, operands[it->second.second]), state};
        problem->left = it->second.first;
        problem->right = dim;
        return result(call, out);
      }
      if (other_one || !it->second.first.size) it->second.first = dim;
    }
  }
  if (arrow != std::string::npos) {
    out.shape.rank_known = true;
    for (const char c : text.substr(arrow + 2)) out.shape.dims.push_back(letters.contains(c) ? letters[c].first : Dim{});
  }
  return result(call, out);
}

// ---------------------------------------------------------------- asking and moving

Value shape_of(Interpreter& run, Value input, values::Place place) {
  TensorState* state = tensor_state(run, input);
  if (!state || !state->shape.rank_known) {
    if (state && state->shape_value) return state->shape_value;
    Value made = run.heap().unknown("", run.heap().sharing(input), place);
    made.as<values::Unknown>()->external = run.heap().is_external(input);
    made.as<values::Unknown>()->shape_of = run.resolve(input);
    if (state) state->shape_value = made;
    return made;
  }
  // A size that is not known becomes a symbol of this tensor from now on.
  TensorState named = *state;
  bool changed = false;
  std::vector<Value> items;
  for (Dim& dim : named.shape.dims) {
    if (!dim.size) {
      symbolic::AtomInfo info;
      info.lower = 0;
      info.sharing = state->sharing == Sharing::uniform ? Sharing::uniform : Sharing::local;
      dim.size = run.symbols().fresh(info);
      changed = true;
    }
    items.push_back(Value::of(dim.size));
  }
  if (changed) set_state(run, input, named);
  return run.heap().tuple(std::move(items));
}
Value shape(Call& call) { return shape_of(call.run, call.self, call.place); }
Value size(Call& call) {
  const Value all = shape_of(call.run, call.self, call.place);
  const Value dim = call.run.resolve(call.at(0));
  if (!dim || dim.is(Kind::none)) return all;
  const auto at = call.run.to_constant(dim);
  if (all.is(Kind::tuple) && at) {
    const auto& items = all.as<values::Tuple>()->items;
    const auto rank = static_cast<std::int64_t>(items.size());
    if (*at < rank && *at >= -rank) return items[static_cast<std::size_t>(*at < 0 ? *at + rank : *at)];
  }
  // From the right, a size may be known although the rank is not.
  if (const TensorState* state = tensor_state(call.run, call.self); state && at && *at < 0)
    if (const Dim known = from_right(state->shape, static_cast<std::size_t>(-*at - 1)); known.size) return Value::of(known.size);
  return call.run.heap().unknown("", call.run.heap().sharing(call.self), call.place);
}
Value rank_of(Call& call) {
  const TensorState* state = tensor_state(call.run, call.self);
  if (state && state->shape.rank_known) return call.run.heap().integer(static_cast<std::int64_t>(state->shape.dims.size()));
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
Value dtype_of(Call& call) {
  const TensorState* state = tensor_state(call.run, call.self);
  if (state && state->dtype != values::Dtype::unknown) return Value::of(state->dtype);
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}
Value device_of_tensor(Call& call) {
  const TensorState* state = tensor_state(call.run, call.self);
  if (state && state->device) return Value::of(Kind::device, state->device);
  return call.run.heap().unknown("", Sharing::divergent, call.place);
}
Value to(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) {
    state = *from;
    state.content = from->content;
  }
  std::vector<Value> all = call.arguments;
  all.insert(all.end(), call.rest.begin(), call.rest.end());
  for (const auto& [name, value] : call.options) all.push_back(value);
  for (Value value : all) {
    value = call.run.resolve(value);
    if (value.is(Kind::dtype)) state.dtype = value.dtype();
    else if (value.is(Kind::device) || value.is(Kind::string)) state.device = device_of(call, value);
    else if (const TensorState* like = tensor_state(call.run, value)) {
      state.dtype = like->dtype;
      state.device = like->device;
    } else if (value && !value.is(Kind::boolean) && !value.is(Kind::none)) {
      state.device = nullptr;
      if (value.is(Kind::unknown)) state.dtype = values::Dtype::unknown;
    }
  }
  return result(call, state);
}
Value to_cuda(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) state = *from;
  state.device = call.run.heap().device("cuda").as<values::Device>();
  return result(call, state);
}
Value to_cpu(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) state = *from;
  state.device = call.run.heap().device("cpu").as<values::Device>();
  return result(call, state);
}
template <values::Dtype dtype> Value cast(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) state = *from;
  state.dtype = dtype;
  return result(call, state);
}
Value detach(Call& call) {
  TensorState state = computed(call.run, {call.self});
  if (const TensorState* from = tensor_state(call.run, call.self)) state = *from;
  state.requires_grad = Known::no;
  state.graph.clear();
  state.graph_complete = true;
  state.scaled_by = nullptr;
  return result(call, state);
}
Value item(Call& call) {
  const TensorState* state = tensor_state(call.run, call.self);
  Value content = state ? call.run.resolve(state->content) : Value{};
  if (content.is(Kind::list) || content.is(Kind::tuple))
    if (const auto items = call.run.elements(content, call.place); items && items->size() == 1) content = call.run.resolve(items->front());
  if (content.is(Kind::integer) || content.is(Kind::real)) return content;
  Value made = call.run.heap().unknown("", call.run.heap().sharing(call.self), call.place);
  made.as<values::Unknown>()->external = call.run.heap().is_external(call.self);
  made.as<values::Unknown>()->is_real = !state || state->dtype == values::Dtype::unknown || values::is_floating(state->dtype);
  return made;
}
Value backward(Call&) { return Value::none(); }

Row row(std::string_view path, RowKind kind, std::string_view signature, Value (*run)(Call&), Operation operation = Operation::none) {
  Row made;
  made.path = path;
  made.kind = kind;
  made.signature = signature;
  made.run = run;
  made.operation = operation;
  made.source = "PyTorch documentation";
  return made;
}

} // namespace

std::vector<Row> tensor_rows() {
  using enum RowKind;
  using values::Dtype;
  std::vector<Row> rows = {
      row("torch.Tensor", class_, "", nullptr),
      row("torch.zeros", function, "size, *more, dtype=None, device=None, requires_grad=False", make_float),
      row("torch.ones", function, "size, *more, dtype=None, device=None, requires_grad=False", make_float),
      row("torch.empty", function, "size, *more, dtype=None, device=None, requires_grad=False", make_float),
      row("torch.randn", function, "size, *more, dtype=None, device=None, requires_grad=False", make_random),
      row("torch.rand", function, "size, *more, dtype=None, device=None, requires_grad=False", make_random),
      row("torch.full", function, "size, fill_value, dtype=None, device=None, requires_grad=False", make_full),
      row("torch.randint", function, "low, high, size, dtype=None, device=None, requires_grad=False", make_randint),
      row("torch.arange", function, "start, end, step, dtype=None, device=None, requires_grad=False", make_arange),
      row("torch.tensor", function, "data, dtype=None, device=None, requires_grad=False", make_tensor),
      row("torch.as_tensor", function, "data, dtype=None, device=None", make_tensor),
      row("torch.zeros_like", function, "input, dtype=None, device=None", make_like),
      row("torch.ones_like", function, "input, dtype=None, device=None", make_like),
      row("torch.empty_like", function, "input, dtype=None, device=None", make_like),
      row("torch.full_like", function, "input, fill_value, dtype=None, device=None", make_like),
      row("torch.randn_like", function, "input, dtype=None, device=None", make_random_like),
      row("torch.rand_like", function, "input, dtype=None, device=None", make_random_like),

      row("torch.matmul", function, "input, other", matmul),
      row("torch.mm", function, "input, mat2", mm),
      row("torch.bmm", function, "input, mat2", bmm),
      row("torch.addmm", function, "input, mat1, mat2", addmm),
      row("torch.baddbmm", function, "input, batch1, batch2", addmm),
      row("torch.einsum", function, "equation, first, *operands", einsum),
      row("torch.nn.functional.linear", function, "input, weight, bias=None", linear),
      row("torch.Tensor.matmul", method, "other", matmul),
      row("torch.Tensor.mm", method, "mat2", mm),
      row("torch.Tensor.bmm", method, "mat2", bmm),
      row("torch.Tensor.addmm", method, "mat1, mat2", addmm),


      row("torch.Tensor.shape", property, "", shape),
      row("torch.Tensor.size", method, "dim=None", size),
      row("torch.Tensor.ndim", property, "", rank_of),
      row("torch.Tensor.dim", method, "", rank_of),
      row("torch.Tensor.dtype", property, "", dtype_of),
      row("torch.Tensor.device", property, "", device_of_tensor),
      row("torch.Tensor.to", method, "target, *more, **options", to),
      row("torch.Tensor.type", method, "target", to),
      row("torch.Tensor.cuda", method, "device=None, non_blocking=False", to_cuda),
      row("torch.Tensor.cpu", method, "", to_cpu),
      row("torch.Tensor.float", method, "", cast<Dtype::float32>),
      row("torch.Tensor.double", method, "", cast<Dtype::float64>),
      row("torch.Tensor.half", method, "", cast<Dtype::float16>),
      row("torch.Tensor.bfloat16", method, "", cast<Dtype::bfloat16>),
      row("torch.Tensor.long", method, "", cast<Dtype::int64>),
      row("torch.Tensor.int", method, "", cast<Dtype::int32>),
      row("torch.Tensor.bool", method, "", cast<Dtype::boolean>),
      row("torch.Tensor.detach", method, "", detach),
      row("torch.Tensor.data", property, "", detach),
      row("torch.Tensor.item", method, "", item),
      row("torch.Tensor.backward", method, "gradient=None, retain_graph=None, create_graph=False, inputs=None", backward, Operation::backward),
      row("torch.Tensor.requires_grad_", method, "requires_grad=True", in_place),
  };
  struct Both {
    std::string_view function_path, method_path, signature, method_signature;
    Value (*run)(Call&);
  };
  const Both both[] = {
      {"torch.mean", "torch.Tensor.mean", "input, dim=None, keepdim=False, dtype=None", "dim=None, keepdim=False, dtype=None", to_scalar_tensor},
      {"torch.sum", "torch.Tensor.sum", "input, dim=None, keepdim=False, dtype=None", "dim=None, keepdim=False, dtype=None", to_scalar_tensor},
      {"torch.prod", "torch.Tensor.prod", "input, dim=None, keepdim=False", "dim=None, keepdim=False", to_scalar_tensor},
      {"torch.norm", "torch.Tensor.norm", "input, p=2, dim=None, keepdim=False", "p=2, dim=None, keepdim=False", to_scalar_tensor},
      {"torch.std", "torch.Tensor.std", "input, dim=None, keepdim=False", "dim=None, keepdim=False", to_scalar_tensor},
      {"torch.var", "torch.Tensor.var", "input, dim=None, keepdim=False", "dim=None, keepdim=False", to_scalar_tensor},
  };
  for (const Both& pair : both) {
    if (!pair.function_path.empty()) rows.push_back(row(pair.function_path, function, pair.signature, pair.run));
    rows.push_back(row(pair.method_path, method, pair.method_signature, pair.run));
  }
  // Shape and dtype of the input.
  constexpr std::string_view same[][3] = {
      {"torch.relu", "torch.Tensor.relu", "torch.nn.functional.relu"},
      {"torch.sigmoid", "torch.Tensor.sigmoid", "torch.nn.functional.sigmoid"},
      {"torch.tanh", "torch.Tensor.tanh", "torch.nn.functional.tanh"},
      {"torch.exp", "torch.Tensor.exp", ""},
      {"torch.log", "torch.Tensor.log", ""},
      {"torch.sqrt", "torch.Tensor.sqrt", ""},
      {"torch.rsqrt", "torch.Tensor.rsqrt", ""},
      {"torch.abs", "torch.Tensor.abs", ""},
      {"torch.sin", "torch.Tensor.sin", ""},
      {"torch.cos", "torch.Tensor.cos", ""},
      {"torch.clamp", "torch.Tensor.clamp", ""},
      {"torch.softmax", "torch.Tensor.softmax", "torch.nn.functional.softmax"},
      {"torch.log_softmax", "torch.Tensor.log_softmax", "torch.nn.functional.log_softmax"},
      {"torch.clone", "torch.Tensor.clone", "torch.nn.functional.gelu"},
      {"torch.dropout", "", "torch.nn.functional.dropout"},
      {"torch.nan_to_num", "", "torch.nn.functional.silu"},
      {"", "", "torch.nn.functional.leaky_relu"},
      {"", "", "torch.nn.functional.elu"},
      {"torch.nn.functional.layer_norm", "torch.Tensor.neg", "torch.nn.functional.normalize"},
      {"torch.nn.functional.relu6", "torch.Tensor.cumsum", "torch.nn.functional.softplus"},
  };
  for (const auto& names : same)
    for (const std::string_view name : names) {
      if (name.empty()) continue;
      const bool is_method = name.starts_with("torch.Tensor.");
      rows.push_back(row(name, is_method ? method : function, is_method ? "*more, **options" : "input, *more, **options", same_shape_as_input));
    }
  // A loss: a scalar unless reduction='none'.
  for (const std::string_view name :
       {"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss",
        "torch.nn.functional.binary_cross_entropy", "torch.nn.functional.binary_cross_entropy_with_logits", "torch.nn.functional.kl_div",
        "torch.nn.functional.smooth_l1_loss"})
    rows.push_back(row(name, function, "input, target, weight=None, reduction='mean', **options", to_scalar_tensor));
  // In place: the tensor itself.
  for (const std::string_view name :
       {"torch.Tensor.add_", "torch.Tensor.mul_", "torch.Tensor.div_", "torch.Tensor.sub_", "torch.Tensor.zero_", "torch.Tensor.fill_",
        "torch.Tensor.copy_", "torch.Tensor.clamp_", "torch.Tensor.relu_", "torch.Tensor.normal_", "torch.Tensor.uniform_",
        "torch.Tensor.share_memory_"})
    rows.push_back(row(name, method, "*more, **options", in_place));
  return rows;
}

} // namespace stepzero::torch
