// Layers and functions that are made of several operators: attention, recurrent layers, the Transformer's. What they keep, as recorded from
// PyTorch 2.13.
#include "footprint/saving_kinds.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

namespace {

Int size_at(const TensorState* state, std::size_t from_right) {
  return state && state->shape.rank_known && state->shape.dims.size() > from_right ? state->shape.dims[state->shape.dims.size() - 1 - from_right].size : nullptr;
}
Int product(symbolic::Context& s, std::initializer_list<Int> sizes) {
  Int made = s.constant(1);
  for (const Int size : sizes) made = made && size ? s.mul(made, size) : nullptr;
  return made;
}

// What an attention of so many numbers keeps behind its projections. `weights`: one for each pair of a query and a key, in each head.
struct Sizes {
  Int queries, keys, weights, rows;
};
void keep_scores(Keeper& keeper, const Sizes& sizes, bool fused, bool drops) {
  const Dtype dtype = keeper.dtype();
  if (fused && !(keeper.device == Device::cpu && drops)) {
    keeper.extra(sizes.rows, Dtype::float32, "log-sum-exp");
    return;
  }
  keeper.extra(sizes.queries, dtype, "scaled");
  if (fused) keeper.extra(sizes.keys, dtype, "scaled");
  keeper.extra(sizes.weights, dtype, "weights");
  if (!drops) return;
  keeper.extra(sizes.weights, keeper.device == Device::cuda ? Dtype::boolean : dtype, "mask");
  keeper.extra(sizes.weights, dtype, "weights behind dropout");
}

} // namespace

// A fused kernel keeps what it was given, its result and a number for each query; where there is none the weights of the attention are kept.
void keep_attention(Keeper& keeper) {
  const TensorState *query = keeper.tensor("query"), *key = keeper.tensor("key"), *value = keeper.tensor("value");
  if (!query || !key || !value || !query->shape.rank_known || query->shape.dims.size() < 2) return keeper.unknown();
  const auto dropout = keeper.number("dropout_p");
  const bool drops = !dropout || *dropout > 0;
  const Int rows = elements(keeper.s, Shape{true, std::vector(query->shape.dims.begin(), query->shape.dims.end() - 1)});
  if (keeper.device == Device::cpu && drops) {
    keep_scores(keeper, {elements(keeper.s, query->shape), elements(keeper.s, key->shape), product(keeper.s, {rows, size_at(key, 1)}), rows}, true, true);
    keeper.keep(*value);
    return;
  }
  for (const TensorState* each : {query, key, value}) keeper.keep(*each);
  if (const TensorState* mask = keeper.tensor("attn_mask")) keeper.keep(*mask);
  keeper.keep_result(keeper.result());
  keeper.extra(rows, Dtype::float32, "log-sum-exp");
}

namespace {

struct Attention {
  Int batch, heads, length, other, width;
};
void keep_attention_of(Keeper& keeper, const Attention& of, bool fused, bool drops) {
  symbolic::Context& s = keeper.s;
  const Int queries = product(s, {of.batch, of.length, of.width}), keys = product(s, {of.batch, of.other, of.width});
  for (const Int each : {queries, keys, keys}) keeper.extra(each, keeper.dtype(), "projected");
  keep_scores(keeper, {queries, keys, product(s, {of.batch, of.heads, of.length, of.other}), product(s, {of.batch, of.heads, of.length})}, fused, drops);
  keeper.extra(queries, keeper.dtype(), "joined heads");
}

bool is_first(const Keeper& keeper, std::string_view name, const Instance* layer) {
  const Value flag = layer ? attribute(keeper.graph.record(), *layer, name) : Value{};
  return flag.is(Kind::boolean) && keeper.s.decide(flag.condition()) == symbolic::Answer::yes;
}

} // namespace

void keep_multihead(Keeper& keeper) {
  const TensorState *query = keeper.tensor("query"), *key = keeper.tensor("key"), *value = keeper.tensor("value");
  symbolic::Context& s = keeper.s;
  const Int heads = keeper.size("num_heads"), width = keeper.size("embed_dim");
  if (!query || !key || !value || !heads || !width) return keeper.unknown();
  const bool batch_first = is_first(keeper, "batch_first", layer_of(keeper.made));
  const bool batched = query->shape.rank_known && query->shape.dims.size() == 3;
  const auto length = [&](const TensorState* of) { return size_at(of, batched && !batch_first ? 2 : 1); };
  for (const TensorState* each : {query, key, value}) keeper.keep(*each);
  const Value asked = argument(keeper.made, "need_weights");
  const bool fused = asked.is(Kind::boolean) && s.decide(asked.condition()) == symbolic::Answer::no;
  const auto dropout = keeper.number("dropout");
  keep_attention_of(keeper, {!batched ? s.constant(1) : size_at(query, batch_first ? 2 : 1), heads, length(query), length(key), width}, fused, dropout && *dropout > 0);
}

void keep_recurrent(Keeper& keeper) {
  const TensorState* input = keeper.first();
  symbolic::Context& s = keeper.s;
  const Int hidden = keeper.size("hidden_size");
  const auto layers = keeper.number("num_layers");
  if (!input || !input->shape.rank_known || input->shape.dims.size() < 2 || !hidden || !layers || *layers > 64) return keeper.unknown();
  const std::int64_t ways = keeper.flag("bidirectional") ? 2 : 1;
  const bool batch_first = is_first(keeper, "batch_first", layer_of(keeper.made));
  const Int batch = input->shape.dims.size() == 3 ? size_at(input, batch_first ? 2 : 1) : s.constant(1);
  const Int tokens = elements(s, Shape{true, std::vector(input->shape.dims.begin(), input->shape.dims.end() - 1)});
  const Int outputs = product(s, {tokens, hidden}), states = product(s, {batch, hidden});
  const Dtype dtype = keeper.dtype();
  const bool is_lstm = keeper.name == "LSTM";
  keeper.keep(*input);
  for (int layer = 0; layer < static_cast<int>(*layers); ++layer) {
    for (std::int64_t way = 0; way < ways; ++way) {
      if (is_lstm && keeper.device == Device::cpu) {
        keeper.extra(outputs ? s.mul(outputs, s.constant(64)) : nullptr, Dtype::uint8, "workspace");  // of oneDNN, as measured
        if (layer + 1 < static_cast<int>(*layers) || ways > 1) keeper.extra(outputs, dtype, "output");
      } else {
        const std::int64_t each = is_lstm ? 6 : keeper.name == "GRU" ? (keeper.device == Device::cpu ? 7 : 5) : 1;
        keeper.extra(outputs ? s.mul(outputs, s.constant(each)) : nullptr, dtype, "gates and states");
      }
      if (is_lstm)
        for (const char* what : {"first state", "first cell", "last state", "last cell"}) keeper.extra(states, dtype, what);
    }
    // What runs backwards gets its input turned around.
    if (ways > 1 && !is_lstm && keeper.device == Device::cpu) keeper.extra(layer == 0 ? elements(s, input->shape) : outputs ? s.mul(outputs, s.constant(2)) : nullptr, dtype, "input turned around");
    if (!is_lstm && keeper.device == Device::cpu && layer + 1 < static_cast<int>(*layers)) keeper.extra(outputs ? s.mul(outputs, s.constant(ways)) : nullptr, dtype, "output");
  }
  if (is_lstm) keeper.keep_result(keeper.result());
}

void keep_cell(Keeper& keeper) {
  const TensorState* input = keeper.first();
  const Int hidden = keeper.size("hidden_size");
  if (!input || !hidden) return keeper.unknown();
  const std::int64_t gates = keeper.name == "LSTMCell" ? 4 : keeper.name == "GRUCell" ? 3 : 1;
  for (const TensorState* state : keeper.tensors()) keeper.keep(*state);
  const Int rows = elements(keeper.s, keeper.result().shape);
  keeper.extra(product(keeper.s, {rows, keeper.s.constant(gates + 1)}), keeper.dtype(), "gates and states");
}

namespace {

// The settings of a Transformer's layer, or of a whole one.
struct Block {
  Int width, heads, hidden, batch, length, other;  // other: of the memory that a decoder attends to
  bool drops = false, is_relu = false;
};

void keep_norm(Keeper& keeper, Int numbers, Int tokens) {
  keeper.extra(numbers, keeper.dtype(), "input of a norm");
  for (const char* what : {"mean", "deviation"}) keeper.extra(tokens, Dtype::float32, what);
}

// Each part keeps its input; what the first one gets is the layer's own.
void keep_block(Keeper& keeper, const Block& block, bool decodes, bool is_last) {
  symbolic::Context& s = keeper.s;
  const Int tokens = product(s, {block.batch, block.length}), numbers = product(s, {tokens, block.width}), inner = product(s, {tokens, block.hidden});
  const Dtype dtype = keeper.dtype(), mask = keeper.device == Device::cuda ? Dtype::boolean : dtype;
  keep_attention_of(keeper, {block.batch, block.heads, block.length, block.length, block.width}, true, block.drops);
  const int norms = decodes ? 3 : 2;
  if (decodes) keep_attention_of(keeper, {block.batch, block.heads, block.length, block.other, block.width}, true, block.drops);
  for (int i = 0; i < norms; ++i) {
    keep_norm(keeper, numbers, tokens);
    if (i + 1 < norms || !is_last) keeper.extra(numbers, dtype, "input of a part");  // what comes out of the last is the result
    if (block.drops) keeper.extra(numbers, mask, "mask");
  }
  keeper.extra(inner, dtype, "hidden numbers");
  if (!block.is_relu && !block.drops) keeper.extra(inner, dtype, "hidden numbers behind the activation");
  if (!block.drops) return;
  keeper.extra(inner, mask, "mask");
  keeper.extra(inner, dtype, "hidden numbers behind dropout");
}

} // namespace

void keep_built(Keeper& keeper) {
  const Instance* layer = layer_of(keeper.made);
  const TensorState *first = keeper.first(), *memory = keeper.tensor("memory");
  if (!layer || !first || !first->shape.rank_known || first->shape.dims.size() < 2) return keeper.unknown();
  const Value of = attribute(keeper.graph.record(), *layer, "$layer");
  const Instance* settings = of.is(Kind::instance) ? of.as<Instance>() : layer;
  const auto option = [&](std::string_view name) { return attribute(keeper.graph.record(), *settings, name); };
  const auto size = [&](std::string_view name) { return option(name).is(Kind::integer) ? option(name).integer() : nullptr; };
  const auto dropout = option("dropout");
  const bool drops = !(dropout.is(Kind::real) && dropout.real() == 0) && !(dropout.is(Kind::integer) && keeper.s.value(dropout.integer()) == 0);
  const bool batch_first = is_first(keeper, "batch_first", settings), batched = first->shape.dims.size() == 3;
  const auto length = [&](const TensorState* state) { return size_at(state, batched && !batch_first ? 2 : 1); };
  const Value activation = option("activation");
  const bool is_relu = activation.is(Kind::string) ? activation.text() == "relu" : !activation;
  const auto block = [&](const TensorState* state, const TensorState* other) {
    return Block{size("d_model"), size("nhead"), size("dim_feedforward"), batched ? size_at(state, batch_first ? 2 : 1) : keeper.s.constant(1), length(state), other ? length(other) : nullptr, drops, is_relu};
  };
  const auto count = [&](std::string_view name) {
    const Value layers = attribute(keeper.graph.record(), *layer, name);
    const auto known = layers.is(Kind::integer) ? keeper.s.value(layers.integer()) : std::nullopt;
    return known && *known <= 512 ? *known : std::int64_t{1};
  };
  for (const TensorState* state : keeper.made.states)
    if (state) keeper.keep(*state);
  const auto stack = [&](std::int64_t layers, const Block& each, bool decodes) {
    for (std::int64_t i = 0; i < layers; ++i) keep_block(keeper, each, decodes, i + 1 == layers);
  };
  if (keeper.name == "Transformer") {
    const TensorState* target = keeper.tensor("tgt");
    if (!target) return keeper.unknown();
    stack(count("num_encoder_layers"), block(first, nullptr), false);
    stack(count("num_decoder_layers"), block(target, first), true);
    for (const TensorState* state : {first, target}) keep_norm(keeper, elements(keeper.s, state->shape), keeper.s.mul(block(state, nullptr).batch, length(state)));
    return;
  }
  const bool decodes = keeper.name.find("Decoder") != std::string_view::npos;
  if (decodes && !memory) return keeper.unknown();
  stack(keeper.name.ends_with("Layer") ? 1 : count("num_layers"), block(first, memory), decodes);
  if (attribute(keeper.graph.record(), *layer, "norm").is(Kind::instance)) keep_norm(keeper, elements(keeper.s, first->shape), elements(keeper.s, Shape{true, std::vector(first->shape.dims.begin(), first->shape.dims.end() - 1)}));
}

} // namespace stepzero::footprint
