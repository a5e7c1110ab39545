// Layers and functions that are made of several operators: attention, recurrent layers, the Transformer's.
// What they keep, as recorded from PyTorch 2.13 on the CPU and 2.11 on a GPU.
#include "footprint/saving_kinds.hpp"

#include "footprint/strides.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::footprint {

using values::Kind;

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
bool is_first(const Keeper& keeper, std::string_view name, const Instance* layer) {
  const Value flag = layer ? attribute(keeper.graph.record(), *layer, name) : Value{};
  return flag.is(Kind::boolean) && keeper.s.decide(flag.condition()) == symbolic::Answer::yes;
}

namespace {

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
// of a GPU for float32 take fewer heads of keys.
bool has_kernel(const Keeper& keeper, std::initializer_list<const TensorState*> inputs, Dtype dtype) {
  for (const TensorState* each : inputs)
    if (!has_rows(keeper.graph.record(), *each, keeper.device)) return false;
  return keeper.device == Device::cpu || is_half(dtype) || !keeper.flag("enable_gqa");
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
  const bool has_fused = has_heads && has_kernel(keeper, {query, key, value}, dtype);
  if (!on_gpu && (drops || !has_fused)) {
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
  if (on_gpu && !has_fused) {
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
  std::int64_t added = 0;                 // keys and values that the layer puts after those that it is given
  Int mask = nullptr;                     // numbers of what is added to the weights; null: none
  const TensorState* given = nullptr;     // the weights of each head, where the program gets them
  const TensorState* own_mask = nullptr;  // the program's, as the kernel gets it
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
    if (of.own_mask)
      keeper.keep(*of.own_mask);
    else if (of.mask)
      keeper.extra(of.mask, dtype, "mask of the attention");
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
  // Numbers that are not put together with others are added as they are.
  if (const TensorState* mask = keeper.tensor("attn_mask"); fused && mask && keeper.device == Device::cpu &&
      !keeper.tensor("key_padding_mask") && values::is_floating(keeper.dtype(*mask)) &&
      keeper.dtype(*mask) == keeper.inner_dtype())
    of.own_mask = mask;
  // Each head's weights are the program's where it does not ask for their average.
  if (const Value average = argument(keeper.made, "average_attn_weights");
      !fused && batched && average.is(Kind::boolean) && s.decide(average.condition()) == symbolic::Answer::no)
    for (const TensorState* result : keeper.node.results)
      if (result->made->part == 1) of.given = result;
  keep_attention_of(keeper, of, keeper.inner_dtype(), fused, dropout && *dropout > 0);
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
