// Layers and functions that are made of several operators: attention, recurrent layers, the Transformer's.
// What they keep, as recorded from PyTorch 2.13 on the CPU and 2.11 on a GPU.
#include "footprint/saving_kinds.hpp"

#include "footprint/strides.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

Int size_at(const TensorState* state, std::size_t from_right) {
  return state && state->shape.ndim_known && state->shape.dims.size() > from_right
      ? state->shape.dims[state->shape.dims.size() - 1 - from_right].size
      : nullptr;
}
Int product(symbolic::Context& s, std::initializer_list<Int> sizes) {
  Int made = s.constant(1);
  for (const Int size : sizes) made = made && size ? s.mul(made, size) : nullptr;
  return made;
}

// What an attention of so many numbers keeps after its projections. `weights`: one for each pair of a query
// and a key, in each head; `rows`: one for each query, in each head.
struct AttentionSizes {
  Int queries, keys, weights, rows;
};
// `given`: the weights as the program gets them; null: it gets none, or what is made of them.
void keep_weights(Keeper& keeper, const AttentionSizes& sizes, Dtype dtype, bool scales_keys, bool drops,
    const TensorState* given = nullptr) {
  keeper.extra(sizes.queries, dtype, "scaled");
  if (scales_keys) keeper.extra(sizes.keys, dtype, "scaled");
  const auto keep_last = [&](std::string_view what) {
    if (given)
      keeper.keep_result(*given);
    else
      keeper.extra(sizes.weights, dtype, what);
  };
  if (!drops) return keep_last("weights");
  keeper.extra(sizes.weights, dtype, "weights");
  keeper.extra(sizes.weights, keeper.device == Device::cuda ? Dtype::boolean : dtype, "mask");
  keep_last("weights behind dropout");
}

constexpr std::int64_t rows_of_tile = 32;  // of the kernel that takes float32

// Of fused kernels: a number for each query and, on a GPU, where the generator of random numbers stood.
void keep_fused(Keeper& keeper, Int heads, Int length, Dtype dtype) {
  symbolic::Context& s = keeper.s;
  if (keeper.device == Device::cuda && !is_half(dtype) && length)
    length = s.mul(s.floordiv(s.add(length, s.constant(rows_of_tile - 1)), s.constant(rows_of_tile)),
        s.constant(rows_of_tile));
  keeper.extra(product(s, {heads, length}), Dtype::float32, "log-sum-exp");
  if (keeper.device == Device::cuda) keeper.extra(s.constant(2), Dtype::int64, "random state");
}

// No fused kernel takes a query, key or value whose last dimension has its elements apart; nor does the one
// of float32 take fewer heads of keys.
bool has_kernel(const Keeper& keeper, std::initializer_list<const TensorState*> inputs, Dtype dtype) {
  for (const TensorState* each : inputs) {
    const std::vector<Int> strides = strides_of(keeper.graph.record(), *each, keeper.device);
    if (const auto step = strides.empty() || !strides.back() ? std::nullopt : keeper.s.value(strides.back());
        step && *step != 1)
      return false;
  }
  return is_half(dtype) || !keeper.flag("enable_gqa");
}

}  // namespace

// A fused kernel keeps what it was given, its result and a number for each query; where there is none the
// weights of the attention are kept.
void keep_attention(Keeper& keeper) {
  const TensorState *query = keeper.tensor("query"), *key = keeper.tensor("key"),
                    *value = keeper.tensor("value");
  const auto has_matrices = [](const TensorState* each) {
    return each && each->shape.ndim_known && each->shape.dims.size() >= 2;
  };
  if (!has_matrices(query) || !has_matrices(key) || !has_matrices(value)) return keeper.unknown();
  symbolic::Context& s = keeper.s;
  const auto dropout = keeper.number("dropout_p");
  const bool drops = !dropout || *dropout > 0, on_gpu = keeper.device == Device::cuda;
  const Dtype dtype = keeper.dtype();
  const Int rows = elements(
                s, Shape{true, std::vector(query->shape.dims.begin(), query->shape.dims.end() - 1)}),
            heads = elements(
                s, Shape{true, std::vector(query->shape.dims.begin(), query->shape.dims.end() - 2)});
  // On a GPU keys and values have the heads of the query by then.
  const AttentionSizes sizes{elements(s, query->shape),
      on_gpu ? product(s, {heads, size_at(key, 1), size_at(key, 0)}) : elements(s, key->shape),
      product(s, {rows, size_at(key, 1)}), rows};
  // The fused kernels take batches of heads.
  const bool has_heads = query->shape.dims.size() == 4 && key->shape.dims.size() == 4;
  if (!on_gpu && (drops || !has_heads)) {
    // Of half precision the weights are computed in float32.
    const Dtype computed = is_half(dtype) ? Dtype::float32 : dtype;
    keep_weights(keeper, sizes, computed, true, drops);
    // Where heads and batches do not lie in one row, they are copied.
    if (const Int batches = elements(
            s, Shape{true, std::vector(value->shape.dims.begin(), value->shape.dims.end() - 2)});
        computed == dtype &&
        can_be_viewed(keeper.graph.record(), *value,
            Shape{true, {{batches}, {size_at(value, 1)}, {size_at(value, 0)}}}, keeper.device))
      keeper.keep(*value);
    else
      keeper.extra(elements(s, value->shape), computed, "values");
    return;
  }
  if (on_gpu && (!has_heads || !has_kernel(keeper, {query, key, value}, dtype))) {
    // Of half precision, too, the weights are computed in float32.
    const Dtype computed = is_half(dtype) ? Dtype::float32 : dtype;
    keep_weights(keeper, sizes, computed, true, drops);
    keeper.extra(product(s, {heads, size_at(value, 1), size_at(value, 0)}), computed, "values");
    return;
  }
  for (const TensorState* each : {query, key, value}) keeper.keep(*each);
  if (const TensorState* mask = keeper.tensor("attn_mask")) {
    if (mask->dtype == Dtype::boolean)
      keeper.extra(elements(s, mask->shape), dtype, "mask in numbers");
    else
      keeper.keep(*mask);
  }
  keeper.keep_result(keeper.result());
  keep_fused(keeper, heads, size_at(query, 1), dtype);
}

namespace {

// Which of query, key and value are parts of one projection.
enum class Packed : std::uint8_t { none, keys, all };
struct Attention {
  Int batch, heads, length, other, width;
  Packed packed = Packed::all;
  std::int64_t added = 0;              // keys and values that the layer puts after those that it is given
  Int mask = nullptr;                  // numbers of what is added to the weights; null: none
  const TensorState* given = nullptr;  // the weights of each head, where the program gets them
};
// What is kept of the projections themselves: all of one where a part of it is. `whole`: queries are needed
// as they are, `keys`: keys are.
Int projected_numbers(symbolic::Context& s, const Attention& of, bool queries_are, bool keys_are) {
  const Int queries = product(s, {of.batch, of.length, of.width}),
            keys = product(s, {of.batch, of.other, of.width}),
            all_keys = of.added > 0 && of.other
      ? product(s, {of.batch, s.add(of.other, s.constant(of.added)), of.width})
      : keys;
  const auto times = [&](Int numbers, std::int64_t count) {
    return product(s, {numbers, s.constant(count)});
  };
  const std::int64_t copied = keys_are ? 2 : 1;
  if (of.added > 0) {
    const Int own = of.packed == Packed::all ? times(queries, 3) : queries;
    const Int kept = times(all_keys, copied);
    return !queries_are ? kept : own && kept ? s.add(own, kept) : nullptr;
  }
  if (of.packed == Packed::all) return times(queries, 3);
  const Int kept = times(keys, of.packed == Packed::keys ? 2 : copied);
  return !queries_are ? kept : queries && kept ? s.add(queries, kept) : nullptr;
}
// Of a layer with projections. As measured on GPUs of the Hopper kind, whose kernel for half precision gives
// its result in the order in which it is needed then; in float32 it is copied.
void keep_attention_of(Keeper& keeper, const Attention& of, Dtype dtype, bool fused, bool drops) {
  symbolic::Context& s = keeper.s;
  const Int other = of.other ? s.add(of.other, s.constant(of.added)) : nullptr;
  const Int queries = product(s, {of.batch, of.length, of.width}),
            keys = product(s, {of.batch, other, of.width});
  const AttentionSizes sizes{queries, keys, product(s, {of.batch, of.heads, of.length, other}),
      product(s, {of.batch, of.heads, of.length})};
  const bool on_cpu = keeper.device == Device::cpu;
  if (fused && !(on_cpu && drops)) {
    keeper.extra(projected_numbers(s, of, true, true), dtype, "projected");
    if (of.mask) keeper.extra(of.mask, dtype, "mask of the attention");
    keep_fused(keeper, product(s, {of.batch, of.heads}), of.length, dtype);
    if (!on_cpu && !is_half(dtype)) keeper.extra(queries, dtype, "result of the heads");
  } else if (fused && is_half(dtype)) {
    // Half precision is computed in float32 there.
    keep_weights(keeper, sizes, Dtype::float32, true, drops);
    keeper.extra(keys, Dtype::float32, "values");
  } else {
    keeper.extra(projected_numbers(s, of, false, !fused), dtype, "projected");
    keep_weights(keeper, sizes, dtype, fused, drops, of.given);
  }
  keeper.extra(queries, dtype, "joined heads");
}

// Of the weights of a layer's parts, where autocast casts them.
void keep_casts(Keeper& keeper, std::initializer_list<Int> weights) {
  if (keeper.result().cast_by && is_half(keeper.inner_dtype()))
    for (const Int numbers : weights) keeper.extra(numbers, keeper.inner_dtype(), "cast of a weight");
}

bool is_first(const Keeper& keeper, std::string_view name, const Instance* layer) {
  const Value flag = layer ? attribute(keeper.graph.record(), *layer, name) : Value{};
  return flag.is(Kind::boolean) && keeper.s.decide(flag.condition()) == symbolic::Answer::yes;
}

}  // namespace

namespace {
// Of projections, each input once: where batches come first they are transposed and copied; autocast copies,
// too. `as_is`: none is.
void keep_inputs(
    Keeper& keeper, std::initializer_list<const TensorState*> inputs, bool transposed, bool as_is = false) {
  std::vector<const TensorState*> seen;
  for (const TensorState* each : inputs) {
    if (std::ranges::find(seen, each) != seen.end()) continue;
    seen.push_back(each);
    if (as_is)
      keeper.keep(*each);
    else if (transposed || keeper.dtype(*each) != keeper.inner_dtype())
      keeper.extra(elements(keeper.s, each->shape), keeper.inner_dtype(), "input of a projection");
    else
      keep_as_rows(keeper, *each);
  }
}
}  // namespace

namespace {
// What is added to the weights: of a padding each head gets its own, and of both each query.
Int numbers_of_mask(Keeper& keeper, const TensorState* mask, const TensorState* padding, Int batch, Int heads,
    Int length, Int other) {
  if (!mask && !padding) return nullptr;
  const Int spread = product(keeper.s, {batch, heads, other});
  return !mask ? spread : padding ? product(keeper.s, {spread, length}) : elements(keeper.s, mask->shape);
}
}  // namespace

void keep_multihead(Keeper& keeper) {
  const TensorState *query = keeper.tensor("query"), *key = keeper.tensor("key"),
                    *value = keeper.tensor("value");
  symbolic::Context& s = keeper.s;
  const Int heads = keeper.size("num_heads"), width = keeper.size("embed_dim");
  if (!query || !key || !value || !heads || !width) return keeper.unknown();
  const bool batch_first = is_first(keeper, "batch_first", layer_of(keeper.made));
  const bool batched = query->shape.ndim_known && query->shape.dims.size() == 3;
  const auto length = [&](const TensorState* of) { return size_at(of, batched && !batch_first ? 2 : 1); };
  // Only the gradients of weights need what was projected.
  if (!is_frozen(keeper.graph.record(), *layer_of(keeper.made)))
    keep_inputs(keeper, {query, key, value}, batch_first && batched);
  const Value asked = argument(keeper.made, "need_weights");
  const bool fused = asked.is(Kind::boolean) && s.decide(asked.condition()) == symbolic::Answer::no;
  const auto dropout = keeper.number("dropout");
  const bool apart = keeper.tensor("q_proj_weight") != nullptr;
  const auto width_of = [&](const TensorState* of) { return apart ? size_at(of, 0) : width; };
  for (const TensorState* each : {query, key, value})
    if (keeper.graph.requires_grad(*each)) keep_casts(keeper, {product(s, {width, width_of(each)})});
  keep_casts(keeper, {product(s, {width, width})});
  Attention of{!batched ? s.constant(1) : size_at(query, batch_first ? 2 : 1), heads, length(query),
      length(key), width};
  of.packed = apart || key != value ? Packed::none : query == key ? Packed::all : Packed::keys;
  of.added = (keeper.flag("add_bias_kv") ? 1 : 0) + (keeper.flag("add_zero_attn") ? 1 : 0);
  const Int others = of.other ? s.add(of.other, s.constant(of.added)) : nullptr;
  if (fused)
    of.mask = numbers_of_mask(keeper, keeper.tensor("attn_mask"), keeper.tensor("key_padding_mask"), of.batch,
        heads, of.length, others);
  // Each head's weights are the program's where it does not ask for their average.
  if (const Value average = argument(keeper.made, "average_attn_weights");
      !fused && batched && average.is(Kind::boolean) && s.decide(average.condition()) == symbolic::Answer::no)
    for (const TensorState* result : keeper.node.results)
      if (result->made->part == 1) of.given = result;
  keep_attention_of(keeper, of, keeper.inner_dtype(), fused, dropout && *dropout > 0);
}

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
  if (keeper.device == Device::cpu &&
      ((keeper.result().cast_by && is_half(keeper.inner_dtype())) ||
          (keeper.option("proj_size") && keeper.number("proj_size") != 0))) {
    keeper.keep(*input);
    return keeper.unknown();
  }
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

namespace {

// The settings of a Transformer's layer, or of a whole one.
struct TransformerBlock {
  Int width, heads, hidden, batch, length, other;  // other: of the memory that a decoder attends to
  bool drops = false, is_relu = false, norm_first = false, is_frozen = false;
  Dtype outside = Dtype::unknown;  // of what goes from part to part: under autocast not what products have
  Int mask = nullptr;  // numbers of what the attention adds to its weights, for each layer; null: none
};

void keep_norm(Keeper& keeper, Int numbers, Int tokens, Dtype dtype) {
  keeper.extra(numbers, dtype, "input of a norm");
  for (const char* what : {"mean", "deviation"}) keeper.extra(tokens, Dtype::float32, what);
}

// Each part and each norm keeps its input; what the first of them gets is the layer's own, and what the last
// one gives its result.
struct Ends {
  bool is_first, is_last;
};
void keep_block(Keeper& keeper, const TransformerBlock& block, bool decodes, Ends ends) {
  symbolic::Context& s = keeper.s;
  const Int tokens = product(s, {block.batch, block.length}), numbers = product(s, {tokens, block.width}),
            inner = product(s, {tokens, block.hidden});
  const Dtype dtype = keeper.inner_dtype(), mask = keeper.device == Device::cuda ? Dtype::boolean : dtype;
  const Int square = product(s, {block.width, block.width, s.constant(4)});
  keep_attention_of(keeper,
      {block.batch, block.heads, block.length, block.length, block.width, Packed::all, 0, block.mask}, dtype,
      true, block.drops);
  const int norms = decodes ? 3 : 2;
  if (decodes)
    keep_attention_of(keeper,
        {block.batch, block.heads, block.length, block.other, block.width, Packed::keys}, dtype, true,
        block.drops);
  keep_casts(keeper,
      {square, decodes ? square : s.constant(0), product(s, {block.width, block.hidden, s.constant(2)})});
  for (int i = 0; i < norms; ++i) {
    const bool has_input = !block.norm_first || i > 0 || !ends.is_first;
    keep_norm(keeper, has_input ? numbers : s.constant(0), tokens, block.outside);
    if (!block.is_frozen && (block.norm_first || i + 1 < norms || !ends.is_last))
      keeper.extra(numbers, dtype, "input of a part");
    if (block.drops) keeper.extra(numbers, mask, "mask");
  }
  keeper.extra(inner, dtype, "hidden numbers");
  if (!block.is_relu && !block.drops && !block.is_frozen)
    keeper.extra(inner, dtype, "hidden numbers behind the activation");
  if (!block.drops) return;
  keeper.extra(inner, mask, "mask");
  if (!block.is_frozen) keeper.extra(inner, dtype, "hidden numbers behind dropout");
}

}  // namespace

void keep_built(Keeper& keeper) {
  const Instance* layer = layer_of(keeper.made);
  const TensorState *first = keeper.first(), *memory = keeper.tensor("memory");
  if (!layer || !first || !first->shape.ndim_known || first->shape.dims.size() < 2) return keeper.unknown();
  const Value of = attribute(keeper.graph.record(), *layer, values::ModuleState::layer);
  const Instance* settings = of.is(Kind::instance) ? of.as<Instance>() : layer;
  const auto option = [&](std::string_view name) {
    return attribute(keeper.graph.record(), *settings, name);
  };
  const auto size = [&](std::string_view name) {
    return option(name).is(Kind::integer) ? option(name).integer() : nullptr;
  };
  const auto dropout = option("dropout");
  const bool drops = !(dropout.is(Kind::real) && dropout.real() == 0) &&
      !(dropout.is(Kind::integer) && keeper.s.value(dropout.integer()) == 0);
  const bool batch_first = is_first(keeper, "batch_first", settings), batched = first->shape.dims.size() == 3;
  const auto length = [&](const TensorState* state) {
    return size_at(state, batched && !batch_first ? 2 : 1);
  };
  const Value activation = option("activation");
  const bool is_relu = activation.is(Kind::string) ? activation.text() == "relu" : !activation;
  const bool is_stack = !keeper.name.ends_with("Layer"), frozen = is_frozen(keeper.graph.record(), *layer);
  const auto block = [&](const TensorState* state, const TensorState* other) {
    const TensorState *mask = keeper.tensor(other ? "tgt_mask" : "src_mask"),
                      *padding = keeper.tensor("src_key_padding_mask");
    if (!mask && !other) mask = keeper.tensor("mask");
    // A stack sees that a mask is the causal one, and leaves it to the kernel.
    if (is_stack && mask && !padding && mask->made &&
        mask->made->row->path.ends_with("generate_square_subsequent_mask"))
      mask = nullptr;
    const Int batch = batched ? size_at(state, batch_first ? 2 : 1) : keeper.s.constant(1);
    const Int added = numbers_of_mask(
        keeper, mask, padding, batch, size("nhead"), length(state), length(state));
    return TransformerBlock{size("d_model"), size("nhead"), size("dim_feedforward"), batch, length(state),
        other ? length(other) : nullptr, drops, is_relu, is_first(keeper, "norm_first", settings), frozen,
        keeper.dtype(), added};
  };
  const auto count = [&](std::string_view name) {
    const Value layers = attribute(keeper.graph.record(), *layer, name);
    const auto known = layers.is(Kind::integer) ? keeper.s.value(layers.integer()) : std::nullopt;
    return known && *known <= 512 ? *known : std::int64_t{1};
  };
  const bool norm_first = is_first(keeper, "norm_first", settings), transposed = batch_first && batched;
  // A norm in front keeps what the layer gets as it is.
  const auto keep_first = [&](const TensorState* state) {
    if (frozen && !norm_first) return;
    keep_inputs(keeper, {state}, transposed && !norm_first, norm_first);
  };
  const bool casts = keeper.dtype() != keeper.inner_dtype();
  // Where batches come first, what a decoder attends to is transposed and copied in each of its layers.
  const auto stack = [&](std::int64_t layers, const TransformerBlock& each, bool decodes,
                         const TensorState* attended, bool is_made) {
    for (std::int64_t i = 0; i < layers; ++i) {
      if (attended && is_made && (transposed || casts || i == 0))
        keeper.extra(elements(keeper.s, attended->shape), keeper.inner_dtype(), "input of a projection");
      else if (attended && (transposed || casts || i == 0))
        keep_inputs(keeper, {attended}, transposed);
      keep_block(keeper, each, decodes, {i == 0, i + 1 == layers});
    }
  };
  if (keeper.name == "Transformer") {
    const TensorState* target = keeper.tensor("tgt");
    if (!target) return keeper.unknown();
    for (const TensorState* state : {first, target}) keep_first(state);
    stack(count("num_encoder_layers"), block(first, nullptr), false, nullptr, false);
    // What the encoder makes of its input has its shape.
    stack(count("num_decoder_layers"), block(target, first), true, first, true);
    for (const TensorState* state : {first, target})
      keep_norm(keeper, elements(keeper.s, state->shape),
          keeper.s.mul(block(state, nullptr).batch, length(state)), keeper.dtype());
    return;
  }
  const bool decodes = keeper.name.find("Decoder") != std::string_view::npos;
  if (decodes && !memory) return keeper.unknown();
  keep_first(first);
  stack(!is_stack ? 1 : count("num_layers"), block(first, memory), decodes, memory, false);
  if (attribute(keeper.graph.record(), *layer, "norm").is(Kind::instance))
    keep_norm(keeper, elements(keeper.s, first->shape),
        elements(keeper.s, Shape{true, std::vector(first->shape.dims.begin(), first->shape.dims.end() - 1)}),
        keeper.dtype());
}

}  // namespace stepzero::footprint
