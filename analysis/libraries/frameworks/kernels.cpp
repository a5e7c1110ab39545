// Attention and norms that libraries of kernels have: flash_attn, xformers. What these take and give depends
// on the version: nothing is judged by it, and only what is known of the operands is known of the results.
#include "libraries/frameworks/kernels.hpp"

#include "libraries/torch/nn/layer.hpp"
#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

namespace {

constexpr std::string_view batches[] = {"batch_size", "seq_len", "heads", "head_dim"},
                           rows[] = {"tokens", "heads", "head_dim"};

// The query's shape, in the width of the values.
Shape attended(
    Op& op, std::string_view query, std::string_view values, std::span<const std::string_view> usual) {
  for (const std::string_view name : {query, values}) take_usual(op, name, usual);
  const TensorState *q = op.expect(query), *v = op.expect(values);
  if (!q || !v) return {};
  Shape shape = q->shape;
  const Dim width = from_right(v->shape, 0);
  if (!shape.dims.empty() && !shape.dims.back().size) shape.dims.back() = width;
  return shape;
}
// Statistics and weights come with it where they are asked for.
Value with_weights(Op& op, const Shape& shape) {
  const Known asked = op.flag("return_attn_probs");
  if (asked == Known::unknown) return op.run.heap().unseen("", op.call.place);
  const Value made = op.result(shape);
  return asked == Known::no ? made : op.tuple({made, op.unknown(), op.unknown()});
}
Value in_batches(Op& op) {
  op.expect("k");
  return with_weights(op, attended(op, "q", "v", batches));
}
Value in_rows(Op& op) {
  op.expect("k");
  return with_weights(op, attended(op, "q", "v", rows));
}
Value with_cache(Op& op) {
  take_usual(op, "q", batches);
  const TensorState* q = op.expect("q");
  return q ? op.result(q->shape) : op.unknown();
}
// Query, key and value in one tensor, or key and value: [..., 3, heads, head_dim].
Shape unpacked(Op& op, std::string_view name, std::size_t rank) {
  const TensorState* packed = op.expect(name);
  if (!packed || !packed->shape.ndim_known || packed->shape.dims.size() != rank) return {};
  Shape shape = packed->shape;
  shape.dims.erase(shape.dims.end() - 3);
  return shape;
}
Value packed_batches(Op& op) { return with_weights(op, unpacked(op, "qkv", 5)); }
Value packed_rows(Op& op) { return with_weights(op, unpacked(op, "qkv", 4)); }
Value beside_packed(Op& op) {
  op.expect("kv");
  const TensorState* q = op.expect("q");
  return with_weights(op, q ? q->shape : Shape{});
}
Value efficient(Op& op) {
  op.expect("key");
  return op.result(attended(op, "query", "value", batches));
}

// Rows that padding was taken from, and back.
Value padded(Op& op) {
  const TensorState* kept = op.expect("hidden_states");
  if (!kept || !kept->shape.ndim_known || kept->shape.dims.empty()) return op.unknown();
  Shape shape = kept->shape;
  const Int batch = op.size("batch"), length = op.size("seqlen");
  shape.dims[0] = length ? op.made(length) : Dim{};
  shape.dims.insert(shape.dims.begin(), batch ? op.made(batch) : Dim{});
  return op.result(shape);
}
Value first_axis(Op& op) {
  const TensorState *input = op.expect("input"), *indices = op.expect("indices");
  if (!input || !indices || !input->shape.ndim_known || input->shape.dims.empty()) return op.unknown();
  Shape shape = input->shape;
  shape.dims[0] = indices->shape.ndim_known && indices->shape.dims.size() == 1 ? indices->shape.dims[0]
                                                                               : Dim{};
  return op.result(shape);
}

Value rotated(Op& op) {
  const TensorState* x = op.expect("x");
  return x ? op.result(x->shape) : op.unknown();
}
// Query, key and value together, or the query and the other two.
Value rotary(Op& op) {
  const TensorState* turned = op.expect("qkv");
  const Value query = turned ? op.result(turned->shape) : op.unknown();
  if (!op.given("kv")) return query;
  const TensorState* others = op.tensor("kv");
  if (!others)
    return op.argument("kv") ? op.tuple({query, op.unknown()}) : op.run.heap().unseen("", op.call.place);
  return op.tuple({query, op.result(others->shape)});
}

// A norm, perhaps of the sum with what was kept from before, which then comes out, too.
Value normed(Op& op) {
  const TensorState *x = op.expect("x"), *weight = op.tensor("weight");
  if (!x) return op.unknown();
  Shape shape = x->shape;
  if (weight && weight->shape.ndim_known && weight->shape.dims.size() == 1 && !from_right(shape, 0).size) {
    const Dim last[] = {weight->shape.dims[0]};
    op.learn_last("x", last);
    shape = with_last(shape, last);
  }
  const Value made = op.result(shape);
  switch (op.flag("prenorm")) {
  case Known::no:
    return op.given("x1") || op.given("dropout_p") ? op.run.heap().unknown_from({made}, op.call.place) : made;
  case Known::yes: return op.tuple({made, op.result(shape, Dtype::unknown)});
  default: return op.run.heap().unseen("", op.call.place);
  }
}
Value norm_layer(Op& op) {
  const TensorState* x = op.expect("x");
  if (!x) return op.unknown();
  const Dim width = setting_dim(op, "hidden_size"), last[] = {width};
  if (width.size && !from_right(x->shape, 0).size) op.learn_last("x", last);
  const bool plain = !op.given("residual") && op.flag("prenorm") == Known::no;
  return plain ? op.result(op.shape("x")) : op.run.heap().unseen("", op.call.place);
}

constexpr Layer kernel_layers[] = {
    {"flash_attn.layers.rotary.RotaryEmbedding", "dim, base=10000.0, *more, **options", nullptr,
        "qkv, kv=None, seqlen_offset=0, max_seqlen=None, *more, **options", rotary, Type::own, false},
    {"flash_attn.ops.rms_norm.RMSNorm", "hidden_size, eps=1e-5, *more, **options", nullptr,
        "x, residual=None, prenorm=False, *more, **options", norm_layer},
    {"flash_attn.ops.triton.layer_norm.RMSNorm", "hidden_size, eps=1e-5, *more, **options", nullptr,
        "x, residual=None, prenorm=False, *more, **options", norm_layer},
};
constexpr std::string_view of_rows =
    "q, k, v, cu_seqlens_q=None, cu_seqlens_k=None, max_seqlen_q=None, max_seqlen_k=None, dropout_p=0.0, *more, return_attn_probs=False, **options";
constexpr std::string_view of_norms =
    "x, weight, bias=None, residual=None, *more, prenorm=False, x1=None, **options";
constexpr Operator kernel_operators[] = {
    {"flash_attn_func", "q, k, v, dropout_p=0.0, *more, return_attn_probs=False, **options",
        "flash_attn.flash_attn_func flash_attn.flash_attn_interface.flash_attn_func", in_batches,
        Type::input},
    {"flash_attn_varlen_func", of_rows,
        "flash_attn.flash_attn_varlen_func flash_attn.flash_attn_interface.flash_attn_varlen_func", in_rows,
        Type::input},
    {"flash_attn_unpadded_func", of_rows, "flash_attn.flash_attn_interface.flash_attn_unpadded_func", in_rows,
        Type::input},
    {"flash_attn_with_kvcache", "q, k_cache, v_cache, *more, **options",
        "flash_attn.flash_attn_with_kvcache flash_attn.flash_attn_interface.flash_attn_with_kvcache",
        with_cache, Type::input},
    {"flash_attn_qkvpacked_func", "qkv, dropout_p=0.0, *more, return_attn_probs=False, **options",
        "flash_attn.flash_attn_qkvpacked_func flash_attn.flash_attn_interface.flash_attn_qkvpacked_func",
        packed_batches, Type::input},
    {"flash_attn_varlen_qkvpacked_func",
        "qkv, cu_seqlens=None, max_seqlen=None, dropout_p=0.0, *more, return_attn_probs=False, **options",
        "flash_attn.flash_attn_varlen_qkvpacked_func flash_attn.flash_attn_interface.flash_attn_varlen_qkvpacked_func",
        packed_rows, Type::input},
    {"flash_attn_kvpacked_func", "q, kv, dropout_p=0.0, *more, return_attn_probs=False, **options",
        "flash_attn.flash_attn_kvpacked_func flash_attn.flash_attn_interface.flash_attn_kvpacked_func",
        beside_packed, Type::input},
    {"memory_efficient_attention", "query, key, value, *more, **options",
        "xformers.ops.memory_efficient_attention", efficient, Type::input},
    {"pad_input", "hidden_states, indices, batch, seqlen", "flash_attn.bert_padding.pad_input", padded,
        Type::input},
    {"index_first_axis", "input, indices", "flash_attn.bert_padding.index_first_axis", first_axis,
        Type::input},
    {"apply_rotary_emb", "x, cos, sin, *more, **options", "flash_attn.layers.rotary.apply_rotary_emb",
        rotated, Type::input},
    {"layer_norm_fn", of_norms, "flash_attn.ops.triton.layer_norm.layer_norm_fn", normed, Type::own},
    {"rms_norm_fn", of_norms, "flash_attn.ops.triton.layer_norm.rms_norm_fn", normed, Type::own},
};

}  // namespace

std::vector<Row> kernel_rows() { return rows_of(kernel_layers, kernel_operators); }

}  // namespace stepzero::libraries
