// What recurrent layers and cells keep, as recorded from PyTorch 2.13 on the CPU and 2.11 on a GPU.
#include "footprint/saving_kinds.hpp"

#include "footprint/strides.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {
struct Recurrent {
  std::int64_t layers, ways;
  Int outputs, states;  // numbers of one layer and one way
};
// What cuDNN reserves for each number that a layer gives in one direction, and how many states each of them
// begins with.
struct OfCudnn {
  std::string_view layer;
  std::int64_t reserved;
  std::size_t states;
};
constexpr OfCudnn of_cudnn[] = {{"LSTM", 5, 2}, {"GRU", 6, 1}, {"RNN", 1, 1}};
constexpr std::int64_t reserved_besides = 256;              // bytes
constexpr std::int64_t random_states_of_cudnn = 6'488'064;  // bytes, on an H200; made once for each device

// What cuDNN reserves, and what it was given. As measured with PyTorch 2.11 and CUDA 13.
void keep_cudnn(Keeper& keeper, const Recurrent& of) {
  symbolic::Context& s = keeper.s;
  const Dtype dtype = keeper.inner_dtype();
  const TensorState& input = *keeper.first();
  if (keeper.dtype(input) == dtype)
    keeper.keep(input);
  else
    keeper.extra(elements(s, input.shape), dtype, "cast");
  const OfCudnn& kind = *std::ranges::find(of_cudnn, keeper.name, &OfCudnn::layer);
  const Int all = product(s, {of.outputs, s.constant(of.ways)}),
            between = product(s, {all, s.constant(of.layers - 1)});
  keeper.extra(product(s, {all, s.constant(kind.reserved * of.layers)}), dtype, "reserved by cuDNN");
  if (of.layers > 1) keeper.extra(between, dtype, "outputs of layers inside");
  keeper.extra(s.constant(reserved_besides), Dtype::uint8, "reserved by cuDNN");
  if (const auto dropout = keeper.number("dropout"); of.layers > 1 && (!dropout || *dropout > 0)) {
    keeper.extra(between ? s.floordiv(between, s.constant(8)) : nullptr, Dtype::uint8, "mask in bits");
    keeper.extra(s.constant(random_states_of_cudnn), Dtype::uint8, "random states of cuDNN");
  }
  std::vector<const TensorState*> given;
  for (const TensorState* state : keeper.tensors())
    if (state != &input) given.push_back(state);
  const Int states = product(s, {of.states, s.constant(of.layers * of.ways)});
  for (std::size_t i = 0; i < kind.states; ++i)
    if (given.size() == kind.states && keeper.dtype(*given[i]) == dtype)
      keeper.keep(*given[i]);
    else
      keeper.extra(states, dtype, "first state");
  keeper.keep_result(keeper.result());
}
}  // namespace

namespace {
// A row of so many numbers as oneDNN lays it out: at multiples of 64 bytes, and not of 1024.
std::int64_t leading(std::int64_t numbers) {
  constexpr std::int64_t line = 16, unfit = 256;
  const std::int64_t rounded = (numbers + line - 1) / line * line;
  return rounded % unfit == 0 ? rounded + line : rounded;
}
// What oneDNN works in, for one layer in one direction: seven arrays, each on pages of its own. As measured
// with PyTorch 2.13. Null: a size is not known.
Int workspace(symbolic::Context& s, Int length, Int batch, Int given, Int hidden) {
  const auto in = given ? s.value(given) : std::nullopt, out = hidden ? s.value(hidden) : std::nullopt;
  if (!in || !out || !length || !batch) return nullptr;
  constexpr std::int64_t page = 4096, width = 4, gates = 4;
  const auto array = [&](Int steps, std::int64_t row, std::int64_t times) {
    const Int bytes = s.mul(s.mul(steps, batch), s.constant(row * width));
    const Int pages = s.floordiv(s.add(bytes, s.constant(page - 1)), s.constant(page));
    return s.mul(pages, s.constant(page * times));
  };
  // States before and after each step, of the input and of the layer.
  const Int states = s.mul(s.add(length, s.constant(1)), s.constant(2));
  return s.add(s.add(array(states, leading(std::max(*in, *out)), 3), array(states, *out, 2)),
      s.add(array(length, leading(gates * *out), 1), array(length, leading(*out), 1)));
}
}  // namespace

namespace {
// Does a batch lie in memory step by step, as a layer gives it whose batches come first?
bool is_in_order_by_steps(const Keeper& keeper, const TensorState& batch) {
  const std::vector<Int> strides = strides_of(keeper.graph.record(), batch, keeper.device);
  const auto& dims = batch.shape.dims;
  return strides.size() == 3 && dims[0].size && dims[2].size && keeper.s.value(strides[2]) == 1 &&
      strides[0] == dims[2].size && strides[1] == keeper.s.mul(dims[0].size, dims[2].size);
}
}  // namespace

namespace {
// Of one layer in one direction, each step put together from other operators. `projected`: numbers of what
// states are projected to; null: they are not.
void keep_steps(Keeper& keeper, const Recurrent& of, bool has_bias, bool casts, Int projected) {
  const bool is_lstm = keeper.name == "LSTM";
  const TensorState& input = *keeper.first();
  symbolic::Context& s = keeper.s;
  if (of.layers != 1 || of.ways != 1 || !has_bias || keeper.tensors().size() > 1 || casts == is_lstm ||
      is_frozen(keeper.graph.record(), *layer_of(keeper.made)) || (is_lstm == !projected)) {
    keeper.keep(input);
    return keeper.unknown();
  }
  if (is_lstm) {
    // The state that each step is given, its gates, and cells before, after and through their function.
    keeper.keep(input);
    keeper.extra(projected, keeper.dtype(), "states");
    return keeper.extra(product(s, {of.outputs, s.constant(4 + 3)}), keeper.dtype(), "gates and cells");
  }
  // Products in half precision, of what is cast for them; states in that of the input.
  const Dtype half = keeper.inner_dtype();
  keeper.extra(elements(s, input.shape), half, "cast");
  const Int hidden = keeper.size("hidden_size"), given = size_at(&input, 0);
  for (const Int width : {given, hidden})
    keeper.extra(product(s, {s.constant(3), hidden, width}), half, "cast of a parameter");
  keeper.extra(product(s, {of.outputs, s.constant(3 + 3)}), half, "gates and states");
  keeper.extra(of.outputs, keeper.dtype(input), "changes of states");
}
}  // namespace

void keep_recurrent(Keeper& keeper) {
  const TensorState* input = keeper.first();
  symbolic::Context& s = keeper.s;
  const Int hidden = keeper.size("hidden_size");
  const auto layers = keeper.number("num_layers");
  if (!input || !input->shape.ndim_known || input->shape.dims.size() < 2 || !hidden || !layers ||
      *layers > 64)
    return keeper.unknown();
  const std::int64_t ways = keeper.flag("bidirectional") ? 2 : 1;
  const bool batch_first = is_first(keeper, "batch_first", layer_of(keeper.made));
  const Int batch = input->shape.dims.size() == 3 ? size_at(input, batch_first ? 2 : 1) : s.constant(1);
  const Int tokens = elements(
      s, Shape{true, std::vector(input->shape.dims.begin(), input->shape.dims.end() - 1)});
  const Int outputs = product(s, {tokens, hidden}), states = product(s, {batch, hidden});
  const Dtype dtype = keeper.dtype();
  const bool is_lstm = keeper.name == "LSTM";
  const Value bias = attribute(keeper.graph.record(), *layer_of(keeper.made), values::ModuleState::bias);
  const bool has_bias = !bias.is(Kind::boolean) || s.decide(bias.condition()) != symbolic::Answer::no;
  // Under autocast, and where states are projected, the CPU takes each step by itself.
  const Int projected = keeper.size("proj_size");
  const bool projects = projected && s.value(projected) != 0;
  const bool casts = keeper.result().cast_by && is_half(keeper.inner_dtype());
  if (keeper.device == Device::cpu && (casts || projects))
    return keep_steps(keeper, {static_cast<std::int64_t>(*layers), ways, outputs, states}, has_bias, casts,
        projects ? product(s, {tokens, projected}) : nullptr);
  if (keeper.device == Device::cuda)
    return keep_cudnn(keeper, {static_cast<std::int64_t>(*layers), ways, outputs, states});
  // Weights that are not trained need no input and no state; oneDNN keeps for an LSTM what it works in
  // anyway.
  if (!is_lstm && is_frozen(keeper.graph.record(), *layer_of(keeper.made))) {
    const std::int64_t each = (keeper.name == "GRU" ? 6 : 1) * ways * static_cast<std::int64_t>(*layers);
    keeper.extra(outputs ? s.mul(outputs, s.constant(each)) : nullptr, dtype, "gates and states");
    if (const auto dropout = keeper.number("dropout");
        *layers > 1 && (!dropout || *dropout > 0) && !is_evaluated(keeper.graph.record(), keeper.made))
      keeper.extra(
          outputs ? s.mul(outputs, s.constant(ways * (static_cast<std::int64_t>(*layers) - 1))) : nullptr,
          dtype, "mask of dropout");
    return;
  }
  keeper.keep(*input);
  const Int length = input->shape.dims.size() == 3 ? size_at(input, batch_first ? 1 : 2) : size_at(input, 1);
  const auto dropout = keeper.number("dropout");
  const bool drops = (!dropout || *dropout > 0) && !is_evaluated(keeper.graph.record(), keeper.made);
  // The states that it begins with, of all layers: parts of one tensor.
  const TensorState* given = nullptr;
  for (const TensorState* state : keeper.tensors())
    if (state != input && !is_lstm) given = state;
  if (given) keeper.keep(*given);
  for (int layer = 0; layer < static_cast<int>(*layers); ++layer) {
    for (std::int64_t way = 0; way < ways; ++way) {
      if (is_lstm) {
        const Int given = layer == 0 ? size_at(input, 0) : s.mul(hidden, s.constant(ways));
        keeper.extra(workspace(s, length, batch, given, hidden), Dtype::uint8, "workspace");
        // Zeros as large as the weights take the place of the biases.
        if (!has_bias)
          keeper.extra(
              product(s, {s.constant(4), hidden, given ? s.add(given, hidden) : nullptr}), dtype, "no bias");
        if (layer + 1 < static_cast<int>(*layers) || ways > 1) keeper.extra(outputs, dtype, "output");
      } else {
        const bool is_gru = keeper.name == "GRU";
        const Int all = outputs ? s.mul(outputs, s.constant(is_gru ? 7 : 1)) : nullptr;
        keeper.extra(is_gru && given && all && states ? s.sub(all, states) : all, dtype, "gates and states");
        if (!is_gru && !given) keeper.extra(states, dtype, "first state");
      }
      if (is_lstm)
        for (const char* what : {"first state", "first cell", "last state", "last cell"})
          keeper.extra(states, dtype, what);
    }
    // Where batches come first the rows of the input are copied, for each way by itself.
    if (ways > 1 && !is_lstm && layer == 0 && batch_first && input->shape.dims.size() == 3 &&
        !is_in_order_by_steps(keeper, *input))
      keeper.extra(elements(s, input->shape), dtype, "input of the way back");
    // What drops between two layers keeps its mask, in numbers; of an LSTM of one way what it leaves as well,
    // which is not the output then.
    if (drops && layer + 1 < static_cast<int>(*layers)) {
      const std::int64_t each = is_lstm && ways == 1 ? 2 : ways;
      keeper.extra(outputs ? s.mul(outputs, s.constant(each)) : nullptr, dtype, "mask of dropout");
    }
    // What goes into the next layer: of both ways put together.
    if (layer + 1 < static_cast<int>(*layers) && (!is_lstm || ways > 1))
      keeper.extra(outputs ? s.mul(outputs, s.constant(ways)) : nullptr, dtype, "output");
  }
  // Of both ways each keeps its own output, and not what they are put together to.
  if (is_lstm && ways == 1) keeper.keep_result(keeper.result());
}

void keep_cell(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int hidden = keeper.size("hidden_size");
  if (!input || !hidden) return keeper.unknown();
  const auto given = keeper.tensors();
  const bool is_lstm = keeper.name == "LSTMCell",
             is_trained = !is_frozen(keeper.graph.record(), *layer_of(keeper.made));
  if (is_trained)
    for (const TensorState* state : given) keeper.keep(*state);
  else if (is_lstm && given.size() == 3)
    keeper.keep(*given.back());  // what its cells held
  // Zeros, where it is given no state.
  if (given.size() == 1 && (is_trained || is_lstm))
    keeper.extra(elements(keeper.s, keeper.result().shape), keeper.dtype(), "first state");
  if (keeper.name == "RNNCell") return keeper.keep_result(keeper.result());
  // Its gates; of an LSTM what the state gives, of a GRU the three gates once more, after their functions.
  const std::int64_t numbers = is_lstm ? 4 + 1 : 3 + 3;
  const Int rows = elements(keeper.s, keeper.result().shape);
  keeper.extra(product(keeper.s, {rows, keeper.s.constant(numbers)}), keeper.dtype(), "gates and states");
}

}  // namespace stepzero::footprint
