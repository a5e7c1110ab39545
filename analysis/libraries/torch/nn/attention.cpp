// Attention: the function, MultiheadAttention and the Transformer layers.
#include "libraries/torch/nn/attention.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"

#include <array>

namespace stepzero::libraries {

namespace {

bool last_is(Op& op, std::string_view name, const Dim& wanted) {
  const TensorState* state = op.expect(name);
  if (!state) return true;
  const Dim arrives = from_right(state->shape, 0);
  if (op.never_equal(arrives, wanted)) {
    op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{op.taker(), "features", wanted, op.name(name), arrives, state->shape},
        {wanted, arrives});
    return false;
  }
  if (wanted.size) {
    const Dim last[] = {wanted};
    op.learn_last(name, last);
  }
  return true;
}
bool in_heads(Op& op, std::string_view width_name, std::string_view heads_name) {
  if (!are_positive(op, {width_name, heads_name})) return false;
  const Dim width = setting_dim(op, width_name), heads = setting_dim(op, heads_name);
  if (!width.size || !heads.size || op.s.divides(heads.size, width.size) != Answer::no) return true;
  op.fail(ProblemKind::argument, interpreter::NotDivisible{width_name, width, {}, heads, "heads"},
      {width, heads});
  return false;
}
// Batch and length of [L, N, E], [N, L, E] or [L, E].
struct Sequence {
  bool known = false, batched = false;
  Dim length, batch;
};
Sequence sequence_of(const Shape& shape, Known batch_first) {
  Sequence made;
  if (!shape.ndim_known || shape.dims.size() < 2 || shape.dims.size() > 3) return made;
  made.batched = shape.dims.size() == 3;
  if (!made.batched) {
    made.known = true;
    made.length = shape.dims[0];
  } else if (batch_first != Known::unknown) {
    made.known = true;
    made.batch = shape.dims[batch_first == Known::yes ? 0 : 1];
    made.length = shape.dims[batch_first == Known::yes ? 1 : 0];
  }
  return made;
}
bool sequence_rank(Op& op, std::string_view name) {
  constexpr std::size_t ranks[] = {2, 3};
  constexpr std::string_view batch_first[] = {"N", "L", ""}, length_first[] = {"L", "N", ""};
  if (op.argument(name))
    take_usual(op, name, setting_flag(op, "batch_first") == Known::yes ? batch_first : length_first);
  return !op.argument(name) || ranked_input(op, name, ranks) || !op.failed();
}

interpreter::SizesApart different(const Op& op, std::string_view what, std::string_view left,
    std::string_view right, const Dim& a, const Dim& b, bool length_first = false) {
  return {what, {op.name(left), op.shape(left)}, {op.name(right), op.shape(right)}, a, b, length_first};
}

// A mask has to be of these sizes; null ones are not looked at.
bool mask_fits(Op& op, std::string_view name, std::initializer_list<Dim> wanted) {
  const TensorState* mask = op.tensor(name);
  if (!mask || !mask->shape.ndim_known || mask->shape.dims.size() != wanted.size()) return true;
  std::size_t i = 0;
  for (const Dim& size : wanted) {
    if (op.equal(mask->shape.dims[i++], size) == Answer::no) {
      op.fail(ProblemKind::layer_input,
          why<Reason::mask_shape>(op.taker(), op.name(name), Shape{true, wanted}, mask->shape), {size});
      return false;
    }
  }
  return true;
}

// ---------------------------------------------------------------- the function

// The flash attention of the CPU, for inputs of four dimensions and without dropout, checks less than every
// other kernel. True if the call may come to it.
bool may_be_unchecked(Op& op, const Shape& query) {
  const auto dropout = op.argument("dropout_p") ? op.real("dropout_p") : std::optional(0.0);
  return !values::is_accelerator(op.tensor("query")->device) && !(dropout && *dropout > 0) &&
      !(query.ndim_known && query.dims.size() != 4);
}
symbolic::Cond elsewhere(Op& op) {
  return op.run.named_condition("the query is not on the CPU", Sharing::uniform);
}

// A mask beside is_causal=True, which only that kernel takes. True if it fails on every run.
bool both_masks(Op& op, const Shape& query) {
  const interpreter::Refusal refusal = why<Reason::two_masks>();
  if (!may_be_unchecked(op, query)) {
    (void)op.fail(ProblemKind::argument, refusal);
    return true;
  }
  op.fail_when(elsewhere(op), ProblemKind::argument, refusal);
  return false;
}

// Another number of values than keys: that kernel takes the first, or reads beyond the last. Without a single
// value the others answer, too. False if it fails on every run.
bool values_reach(Op& op, const Shape& query, const Dim& keys, const Dim& values) {
  if (op.equal(keys, values) != Answer::no || op.value(values) == 0) return true;
  constexpr std::string_view what = "their length";
  const TensorState* mask = op.tensor("attn_mask");
  if (!may_be_unchecked(op, query) || (mask && op.equal(from_right(mask->shape, 0), 1) == Answer::no)) {
    fail_as_different(op, what, "key", "value", keys, values);
    return false;
  }
  op.fail_when(elsewhere(op), ProblemKind::layer_input, different(op, what, "key", "value", keys, values),
      {keys, values});
  return true;
}

Value attend(Op& op) {
  // Programs give a batch of heads.
  constexpr std::string_view usual[] = {"", "", "", ""};
  for (const std::string_view name : {"query", "key", "value"})
    if (op.argument(name)) take_usual(op, name, usual);
  const TensorState *query = op.expect("query"), *key = op.expect("key"), *value = op.expect("value");
  if (!query || !key || !value) return op.unknown();
  const Shape q = query->shape, k = key->shape, v = value->shape;
  for (const auto& [name, shape] : {std::pair{"query", &q}, std::pair{"key", &k}, std::pair{"value", &v}})
    if (shape->ndim_known && shape->dims.size() < 2)
      return op.fail(ProblemKind::layer_input,
          interpreter::WrongShape{op.taker(), ShapeNeed::at_least(2), op.name(name), *shape});
  if (op.flag("is_causal") == Known::yes && op.tensor("attn_mask") && both_masks(op, q)) return op.unknown();
  const auto both = [&](const Dim& a, const Dim& b, std::string_view what, std::string_view left,
                        std::string_view right) {
    if (op.equal(a, b) != Answer::no) return true;
    fail_as_different(op, what, left, right, a, b);
    return false;
  };
  if (!both(from_right(q, 0), from_right(k, 0), "their last dimension", "query", "key") ||
      !values_reach(op, q, from_right(k, 1), from_right(v, 1)))
    return op.unknown();
  op.must_equal(from_right(q, 0), from_right(k, 0));
  if (op.equal(from_right(k, 1), from_right(v, 1)) != Answer::no)
    op.must_equal(from_right(k, 1), from_right(v, 1));
  if (!in_autocast(op) && query->dtype != Dtype::unknown &&
      ((key->dtype != Dtype::unknown && key->dtype != query->dtype) ||
          (value->dtype != Dtype::unknown && value->dtype != query->dtype)))
    return op.fail(
        ProblemKind::dtype, why<Reason::dtypes_of_attention>(query->dtype, key->dtype, value->dtype));
  const TensorState* mask = op.tensor("attn_mask");
  if (mask && mask->dtype != Dtype::unknown && mask->dtype != Dtype::boolean &&
      !values::is_floating(mask->dtype))
    return op.fail(ProblemKind::dtype,
        interpreter::WrongDtype{op.taker(), DtypeNeed::mask_or_floats, op.name("attn_mask"), mask->dtype});
  const Dim length = from_right(q, 1), other = from_right(k, 1);
  if (mask && mask->shape.ndim_known)
    for (const auto& [at, size] : {std::pair{std::size_t{0}, other}, std::pair{std::size_t{1}, length}}) {
      const Dim has = from_right(mask->shape, at);
      if (at < mask->shape.dims.size() && op.equal(has, 1) == Answer::no && op.equal(has, size) == Answer::no)
        return op.fail(ProblemKind::broadcast,
            why<Reason::mask_of_ends>(length, other, op.name("attn_mask"), mask->shape), {has, size});
    }
  const Dim width = from_right(v, 0);
  const Known grouped = op.flag("enable_gqa");
  if (!q.ndim_known || !k.ndim_known || !v.ndim_known) {
    // The query's leading dimensions are those of the result unless something broadcasts.
    return op.result({false, {length, width}});
  }
  Shape leading{true, {q.dims.begin(), q.dims.end() - 2}};
  if (grouped == Known::no) {
    for (const Shape* shape : {&k, &v}) {
      const auto made = op.broadcast(leading, Shape{true, {shape->dims.begin(), shape->dims.end() - 2}});
      if (!made) return op.unknown();
      leading = *made;
    }
  } else if (grouped == Known::yes && q.dims.size() >= 3 && k.dims.size() >= 3) {
    if (!heads_are_shared(op, from_right(q, 2), from_right(k, 2))) return op.unknown();
  }
  // A mask for each sequence, without a dimension for the heads, meets the heads with its batch.
  if (mask && mask->shape.ndim_known)
    for (std::size_t at = 0; at < leading.dims.size() && at + 2 < mask->shape.dims.size(); ++at) {
      const Dim has = from_right(mask->shape, at + 2), size = from_right(leading, at);
      if (op.equal(has, 1) != Answer::no || op.equal(size, 1) != Answer::no ||
          op.equal(has, size) != Answer::no)
        continue;
      Shape scores = leading;
      scores.dims.push_back(length);
      scores.dims.push_back(other);
      return op.fail(ProblemKind::broadcast,
          why<Reason::mask_of_scores>(scores, op.name("attn_mask"), mask->shape), {has, size});
    }
  leading.dims.push_back(length);
  leading.dims.push_back(width);
  return op.result(leading);
}

// ---------------------------------------------------------------- MultiheadAttention

void make_attention(Op& op) { in_heads(op, "embed_dim", "num_heads"); }

Value multihead(Op& op) {
  const Dim width = setting_dim(op, "embed_dim");
  for (const std::string_view name : {"query", "key", "value"}) {
    op.expect(name);
    if (!sequence_rank(op, name)) return op.unknown();
  }
  if (!last_is(op, "query", width)) return op.unknown();
  if (!last_is(op, "key", op.kept("kdim") ? setting_dim(op, "kdim") : width)) return op.unknown();
  if (!last_is(op, "value", op.kept("vdim") ? setting_dim(op, "vdim") : width)) return op.unknown();
  if (!fits_weights(op, "query")) return op.unknown();
  const Known first = setting_flag(op, "batch_first");
  const TensorState* query = op.tensor("query");
  if (!query) return op.run.heap().unseen("", op.call.place);
  const Dtype dtype = query->dtype;
  const Sequence q = sequence_of(query->shape, first), k = sequence_of(op.shape("key"), first),
                 v = sequence_of(op.shape("value"), first);
  if (q.known && k.known && q.batched != k.batched)
    return op.fail(ProblemKind::layer_input,
        interpreter::ShapesApart{interpreter::ShapesApart::batch_or_none, op.taker(),
            {{op.name("query"), query->shape}, {op.name("key"), op.shape("key")}}});
  if (k.known && v.known && op.equal(k.length, v.length) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        different(op, "their length", "key", "value", k.length, v.length), {k.length, v.length});
  if (q.known && k.known && q.batched && op.equal(q.batch, k.batch) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        different(op, "their batch", "query", "key", q.batch, k.batch, first == Known::no),
        {q.batch, k.batch});
  if (q.known && k.known) {
    if (!mask_fits(op, "attn_mask", {q.length, k.length})) return op.unknown();
    // Of three dimensions it has one for each head of each sequence.
    const Dim heads = setting_dim(op, "num_heads");
    const Dim all = !q.batched             ? heads
        : op.mul(q.batch.size, heads.size) ? op.made(op.mul(q.batch.size, heads.size), "batch and heads")
                                           : Dim{};
    if (all.size && !mask_fits(op, "attn_mask", {all, q.length, k.length})) return op.unknown();
    if (q.batched && !mask_fits(op, "key_padding_mask", {k.batch, k.length})) return op.unknown();
  }
  const Dim last[] = {width};
  const Value output = op.result(with_last(query->shape, last), dtype);
  const Known need = op.flag("need_weights"), average = op.flag("average_attn_weights");
  if (need == Known::no) return op.tuple({output, Value::none()});
  if (need == Known::unknown || average == Known::unknown || !q.known || !k.known)
    return op.tuple({output, op.result({}, dtype)});
  Shape weights{true, {q.length, k.length}};
  for (const std::string_view more : {"add_bias_kv", "add_zero_attn"}) {
    const Known adds = setting_flag(op, more);
    Dim& size = weights.dims.back();
    if (adds == Known::unknown)
      size = {};
    else if (adds == Known::yes && size.size)
      size = op.made(op.s.add(size.size, op.s.constant(1)));
  }
  if (average == Known::no) weights.dims.insert(weights.dims.begin(), setting_dim(op, "num_heads"));
  if (q.batched) weights.dims.insert(weights.dims.begin(), q.batch);
  return op.tuple({output, op.result(weights, dtype)});
}

// What MultiheadAttention calls, with all its weights: query [L, N, E], or [L, E] without a batch.
Value multihead_function(Op& op) {
  for (const std::string_view name : {"query", "key", "value"}) op.expect(name);
  const TensorState* query = op.tensor("query");
  if (!query) return op.run.heap().unseen("", op.call.place);
  const Int width = op.size("embed_dim_to_check"), heads = op.size("num_heads");
  const Sequence q = sequence_of(query->shape, Known::no), k = sequence_of(op.shape("key"), Known::no);
  if (query->shape.ndim_known && width && !query->shape.dims.empty() &&
      op.equal(query->shape.dims.back(), op.dim(width)) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{
            op.taker(), "features", op.dim(width), op.name("query"), query->shape.dims.back(), query->shape},
        {query->shape.dims.back()});
  const Value output = op.result(query->shape, query->dtype);
  const Known need = op.flag("need_weights"), average = op.flag("average_attn_weights");
  if (need == Known::no) return op.tuple({output, Value::none()});
  if (need == Known::unknown || average == Known::unknown || !q.known || !k.known)
    return op.tuple({output, op.result({}, query->dtype)});
  Shape weights{true, {q.length, k.length}};
  const auto one_more = [&](Known adds) {
    Dim& size = weights.dims.back();
    if (adds == Known::unknown)
      size = {};
    else if (adds == Known::yes && size.size)
      size = op.made(op.s.add(size.size, op.s.constant(1)));
  };
  one_more(op.argument("bias_k") ? Known::yes : Known::no);
  one_more(op.flag("add_zero_attn"));
  if (average == Known::no) weights.dims.insert(weights.dims.begin(), heads ? op.made(heads) : Dim{});
  if (q.batched) weights.dims.insert(weights.dims.begin(), q.batch);
  return op.tuple({output, op.result(weights, query->dtype)});
}

// ---------------------------------------------------------------- Transformer

void make_layer(Op& op) { in_heads(op, "d_model", "nhead"); }
void make_stack(Op& op) {
  // The layer given is copied; it is no part itself.
  for (const std::string_view name : {"encoder_layer", "decoder_layer"})
    if (const Value layer = op.kept(name)) {
      op.keep(values::ModuleState::layer, layer);
      op.keep(name, {});
    }
}
Dim width_of(Op& op) {
  const Value layer = op.kept(values::ModuleState::layer);
  if (!layer) return setting_dim(op, "d_model");
  if (!layer.is(Kind::instance)) return {};
  const values::Slot* slot = layer.as<Instance>()->attributes.find(Name("d_model"));
  const Value size = slot ? op.run.resolve(slot->value) : Value{};
  const Int known = size.is(Kind::integer) || size.is(Kind::unknown) ? op.run.to_int(size) : nullptr;
  return known ? known_dim(op.run, known, layer.object()->born, "d_model") : Dim{};
}
Known batch_first_of(Op& op) {
  const Value layer = op.kept(values::ModuleState::layer);
  if (!layer) return setting_flag(op, "batch_first");
  if (!layer.is(Kind::instance)) return Known::unknown;
  const values::Slot* slot = layer.as<Instance>()->attributes.find(Name("batch_first"));
  if (!slot || !slot->value) return Known::unknown;
  const Answer answer = op.s.decide(op.run.truth(slot->value));
  return answer == Answer::yes ? Known::yes : answer == Answer::no ? Known::no : Known::unknown;
}

Value encode(Op& op) {
  // A layer of the user's own does what it does.
  if (const Value layer = op.kept(values::ModuleState::layer);
      layer && !op.run.is_a(layer, "torch.nn.TransformerEncoderLayer"))
    return op.unknown();
  op.expect("src");
  if (!sequence_rank(op, "src") || !last_is(op, "src", width_of(op)) || !fits_weights(op, "src"))
    return op.unknown();
  const TensorState* src = op.tensor("src");
  if (!src) return op.unknown();
  const Sequence s = sequence_of(src->shape, batch_first_of(op));
  if (s.known) {
    if (!mask_fits(op, "mask", {s.length, s.length}) || !mask_fits(op, "src_mask", {s.length, s.length}))
      return op.unknown();
    if (s.batched && !mask_fits(op, "src_key_padding_mask", {s.batch, s.length})) return op.unknown();
  }
  return op.result(src->shape);
}
Value decode(Op& op, std::string_view target, std::string_view memory) {
  if (const Value layer = op.kept(values::ModuleState::layer);
      layer && !op.run.is_a(layer, "torch.nn.TransformerDecoderLayer"))
    return op.unknown();
  for (const std::string_view name : {target, memory}) {
    op.expect(name);
    if (!sequence_rank(op, name) || !last_is(op, name, width_of(op)) || !fits_weights(op, name))
      return op.unknown();
  }
  const TensorState *tgt = op.tensor(target), *mem = op.tensor(memory);
  if (!tgt || !mem) return op.unknown();
  const Known first = batch_first_of(op);
  const Sequence t = sequence_of(tgt->shape, first), m = sequence_of(mem->shape, first);
  if (t.known && m.known && t.batched && m.batched && op.equal(t.batch, m.batch) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        different(op, "their batch", target, memory, t.batch, m.batch, first == Known::no),
        {t.batch, m.batch});
  if (t.known) {
    if (!mask_fits(op, "tgt_mask", {t.length, t.length})) return op.unknown();
    if (t.batched && !mask_fits(op, "tgt_key_padding_mask", {t.batch, t.length})) return op.unknown();
    if (m.known && !mask_fits(op, "memory_mask", {t.length, m.length})) return op.unknown();
    if (m.known && m.batched && !mask_fits(op, "memory_key_padding_mask", {m.batch, m.length}))
      return op.unknown();
  }
  return op.result(tgt->shape, tgt->dtype);
}
Value decoder(Op& op) { return decode(op, "tgt", "memory"); }
Value transformer(Op& op) {
  if (op.kept("custom_encoder") || op.kept("custom_decoder")) return op.unknown();
  const TensorState* src = op.expect("src");
  if (src) {
    const Sequence s = sequence_of(src->shape, setting_flag(op, "batch_first"));
    if (s.known && !mask_fits(op, "src_mask", {s.length, s.length})) return op.unknown();
  }
  return decode(op, "tgt", "src");
}

Value square_mask(Op& op) {
  const Int size = op.size("sz");
  const Dim dim = size ? op.made(size) : Dim{};
  return op.fresh({true, {dim, dim}}, op.dtype("dtype", op.run.default_dtype()));
}

constexpr std::string_view layer_made =
    "d_model, nhead, dim_feedforward=2048, dropout=0.1, activation='relu', layer_norm_eps=1e-05, batch_first=False, norm_first=False, bias=True, device=None, dtype=None";
constexpr Layer attention_layers[] = {
    {"torch.nn.MultiheadAttention",
        "embed_dim, num_heads, dropout=0.0, bias=True, add_bias_kv=False, add_zero_attn=False, kdim=None, vdim=None, batch_first=False, device=None, dtype=None",
        make_attention,
        "query, key, value, key_padding_mask=None, need_weights=True, attn_mask=None, average_attn_weights=True, is_causal=False",
        multihead},
    {"torch.nn.TransformerEncoderLayer", layer_made, make_layer,
        "src, src_mask=None, src_key_padding_mask=None, is_causal=False", encode},
    {"torch.nn.TransformerDecoderLayer", layer_made, make_layer,
        "tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=False, memory_is_causal=False",
        decoder},
    {"torch.nn.TransformerEncoder",
        "encoder_layer, num_layers, norm=None, enable_nested_tensor=True, mask_check=True", make_stack,
        "src, mask=None, src_key_padding_mask=None, is_causal=None", encode},
    {"torch.nn.TransformerDecoder", "decoder_layer, num_layers, norm=None", make_stack,
        "tgt, memory, tgt_mask=None, memory_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, tgt_is_causal=None, memory_is_causal=False",
        decoder},
    {"torch.nn.Transformer",
        "d_model=512, nhead=8, num_encoder_layers=6, num_decoder_layers=6, dim_feedforward=2048, dropout=0.1, activation='relu', custom_encoder=None, custom_decoder=None, "
        "layer_norm_eps=1e-05, batch_first=False, norm_first=False, bias=True, device=None, dtype=None",
        make_layer,
        "src, tgt, src_mask=None, tgt_mask=None, memory_mask=None, src_key_padding_mask=None, tgt_key_padding_mask=None, memory_key_padding_mask=None, src_is_causal=None, "
        "tgt_is_causal=None, memory_is_causal=False",
        transformer},
};

constexpr Operator attention_operators[] = {
    {"scaled_dot_product_attention",
        "query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, scale=None, enable_gqa=False",
        "F", attend, Type::input},
    {"multi_head_attention_forward",
        "query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, "
        "key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, "
        "static_v=None, average_attn_weights=True, is_causal=False",
        "F", multihead_function, Type::own},
    {"generate_square_subsequent_mask", "sz, device=None, dtype=None",
        "torch.nn.Transformer.generate_square_subsequent_mask", square_mask, Type::own},
};

}  // namespace

void fail_as_different(Op& op, std::string_view what, std::string_view left, std::string_view right,
    const Dim& a, const Dim& b) {
  op.fail(ProblemKind::layer_input, different(op, what, left, right, a, b), {a, b});
}

bool heads_are_shared(Op& op, const Dim& heads, const Dim& shared) {
  if (!heads.size || !shared.size || op.s.divides(shared.size, heads.size) != Answer::no) return true;
  op.fail(ProblemKind::layer_input,
      why<Reason::shared_heads>(heads, op.name(op.call.row.parameters[0].text()), shared,
          op.name(op.call.row.parameters[1].text())),
      {heads, shared});
  return false;
}
std::vector<Row> attention_rows() {
  std::vector<Row> rows = rows_of(attention_layers, attention_operators);
  for (const auto& family : {flexible_attention_rows, nested_rows})
    for (Row& each : family()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
