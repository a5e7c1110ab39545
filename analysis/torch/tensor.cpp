// What of torch.nn.functional has no operator row yet, and backward.
#include "torch/shapes.hpp"

namespace stepzero::torch {

using values::Kind;

namespace {

// A named argument; absent if it was not given or is None.
Value option(const Call& call, std::string_view name) {
  Value found;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) found = call.run.resolve(call.at(i));
  for (const auto& [key, value] : call.options)
    if (key.text() == name) found = call.run.resolve(value);
  return found.is(Kind::none) ? Value{} : found;
}

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
  if (state.dtype == values::Dtype::complex64 || state.dtype == values::Dtype::complex128) state.dtype = values::Dtype::unknown;
  return result(call, state);
}
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
Value backward(Call&) { return Value::none(); }

} // namespace

std::vector<Row> tensor_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.nn.functional.linear", function, "input, weight, bias=None", linear),
      row("torch.Tensor.backward", method, "gradient=None, retain_graph=None, create_graph=False, inputs=None", backward, {}, Operation::backward),
  };
  rows.push_back(row("torch.nn.functional.layer_norm", function, "input, *more, **options", same_shape_as_input));
  // A loss: a scalar unless reduction='none'.
  for (const std::string_view name :
       {"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss", "torch.nn.functional.mse_loss", "torch.nn.functional.l1_loss",
        "torch.nn.functional.binary_cross_entropy", "torch.nn.functional.binary_cross_entropy_with_logits", "torch.nn.functional.kl_div",
        "torch.nn.functional.smooth_l1_loss"})
    rows.push_back(row(name, function, "input, target, weight=None, reduction='mean', **options", to_scalar_tensor));
  return rows;
}

} // namespace stepzero::torch
