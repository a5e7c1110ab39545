// Attention whose scores a function changes (flex_attention), and attention of sequences of different lengths
// (varlen_attn). As PyTorch 2.13 answers.
#include "libraries/table/native.hpp"
#include "libraries/torch/nn/attention.hpp"
#include "values/kept.hpp"

#include <array>
#include <tuple>

namespace stepzero::libraries {

namespace {

bool has_rank(Op& op, std::string_view name, std::size_t rank) {
  const TensorState* state = op.expect(name);
  if (!state) return true;
  if (!ranked_input(op, name, std::array{rank})) return false;
  Shape shape = state->shape;
  if (shape.ndim_known) return true;
  shape.ndim_known = true;
  shape.dims.insert(shape.dims.begin(), rank - shape.dims.size(), Dim{});
  op.learn(name, shape);
  return true;
}
bool have_ranks(Op& op, std::size_t rank) {
  for (std::size_t i = 0; i < 3; ++i)
    if (!has_rank(op, op.call.row.parameters[i].text(), rank)) return false;
  return true;
}
// What comes out of three tensors of the same layout: the query's, with the features of the values.
Shape attended(Op& op) {
  Shape shape = op.shape(op.call.row.parameters[0].text());
  const Shape& values = op.shape(op.call.row.parameters[2].text());
  if (shape.ndim_known && !shape.dims.empty() && values.ndim_known && !values.dims.empty())
    shape.dims.back() = values.dims.back();
  return shape;
}
// Numbers beside the result, if they are asked for; unknown: that is not known.
Known asks_for(Op& op, std::string_view flag, std::string_view object) {
  if (op.call.spread) return Known::unknown;
  const Known flagged = flag.empty() ? Known::no : op.flag(flag);
  if (flagged != Known::no || object.empty()) return flagged;
  const Value value = op.argument(object);
  if (!value) return Known::no;
  return value.is(Kind::choice) || (value.is(Kind::unknown) && !op.run.policy().optional_is_given)
      ? Known::unknown
      : Known::yes;
}
// Of each token and head one number: [B, H, L] of [B, H, L, E], or [H, T] of [T, H, E].
Shape one_of_each(const Shape& shape, bool packed) {
  if (!shape.ndim_known || shape.dims.size() < 3) return {};
  if (packed) return {true, {shape.dims[1], shape.dims[0]}};
  return {true, {shape.dims.begin(), shape.dims.end() - 1}};
}
Value with_sums(Op& op, Known asked, bool as_object, bool packed) {
  const Shape shape = attended(op);
  if (asked == Known::unknown) return op.run.heap().unknown_from(op.tensors(), op.call.place);
  const TensorState* query = op.tensor(op.call.row.parameters[0].text());
  const Value out = op.result(shape, query ? query->dtype : Dtype::unknown);
  if (asked == Known::no) return out;
  const Value sums = op.result(one_of_each(shape, packed), Dtype::float32);
  constexpr static std::string_view fields[] = {"lse", "max_scores"};
  return op.tuple({out,
      as_object ? op.named_tuple({sums, op.result(one_of_each(shape, packed), Dtype::float32)}, fields)
                : sums});
}
// Sizes of two of its inputs that have to be the same. False after fail().
bool both_have(Op& op, std::string_view what, std::string_view left, std::string_view right,
    std::size_t from_the_right) {
  const Dim a = from_right(op.shape(left), from_the_right), b = from_right(op.shape(right), from_the_right);
  if (!op.never_equal(a, b)) return op.must_equal(a, b);
  fail_as_different(op, what, left, right, a, b);
  return false;
}
bool heads_fit(Op& op, std::size_t from_the_right) {
  const Known grouped = op.flag("enable_gqa");
  if (grouped == Known::yes)
    return heads_are_shared(
        op, from_right(op.shape("query"), from_the_right), from_right(op.shape("key"), from_the_right));
  return grouped == Known::unknown ||
      both_have(op, "their heads (`enable_gqa=True` shares them)", "query", "key", from_the_right);
}
// A mask is made for the lengths of the query and of the keys.
bool mask_is_for(Op& op, const Dim& length, const Dim& keys) {
  const Value mask = op.argument("block_mask");
  if (!mask.is(Kind::instance) || !op.run.is_a(mask, "torch.nn.attention.flex_attention.BlockMask"))
    return true;
  for (const auto& [name, size, what] : {std::tuple{values::FunctionState::queries, &length, "queries"},
           std::tuple{values::FunctionState::keys, &keys, "keys"}}) {
    const Value made_for = libraries::kept(op.run, *mask.as<Instance>(), name);
    const Int known = made_for ? op.run.to_int(made_for) : nullptr;
    if (!known) continue;
    const Dim dim = known_dim(op.run, known, mask.object()->born, "create_block_mask");
    if (!op.never_equal(dim, *size)) continue;
    op.fail(ProblemKind::layer_input, why<Reason::block_mask_size>(op.name("block_mask"), dim, what, *size),
        {dim, *size});
    return false;
  }
  return true;
}
// How many arguments the code of a function takes by position, the object of a method included: what PyTorch
// goes by.
struct Taken {
  std::size_t least = 0, most = 0;
};
std::optional<Taken> taken_by(Runtime& run, Value function) {
  function = run.resolve(function);
  if (function.is(Kind::bound)) function = run.resolve(function.as<values::Bound>()->function);
  if (!function.is(Kind::function)) return std::nullopt;
  Taken taken;
  for (const auto& parameter : function.as<values::Function>()->parameters->list) {
    if (parameter.kind == syntax::ParameterKind::var_positional) taken.most += 99;
    if (parameter.kind != syntax::ParameterKind::normal &&
        parameter.kind != syntax::ParameterKind::positional_only)
      continue;
    ++taken.most;
    taken.least += parameter.default_value == nullptr;
  }
  return taken;
}
bool scores_fit(Op& op) {
  const Value changes = op.run.resolve(op.argument("score_mod"));
  const auto taken = changes.is(Kind::function) ? taken_by(op.run, changes) : std::nullopt;
  if (!taken || (taken->least <= 5 && taken->most >= 5)) return true;
  op.fail(ProblemKind::argument, why<Reason::score_function>(taken->most < 5 ? taken->most : taken->least));
  return false;
}
Value flex(Op& op) {
  if (!have_ranks(op, 4)) return op.unknown();
  if (!op.call.spread) {
    if (!both_have(op, "their features", "query", "key", 0) ||
        !both_have(op, "their length", "key", "value", 1) || !heads_fit(op, 2))
      return op.unknown();
    if (!op.argument("block_mask") && !both_have(op, "their batch", "query", "key", 3)) return op.unknown();
    if (!scores_fit(op)) return op.unknown();
    if (!mask_is_for(op, from_right(op.shape("query"), 1), from_right(op.shape("key"), 1)))
      return op.unknown();
  }
  const Known object = asks_for(op, "", "return_aux");
  return object == Known::no ? with_sums(op, asks_for(op, "return_lse", ""), false, false)
                             : with_sums(op, object, true, false);
}
// Sequences of different lengths, one after the other: [T, H, E].
Value packed(Op& op) {
  if (!have_ranks(op, 3)) return op.unknown();
  if (!op.call.spread && !heads_fit(op, 1)) return op.unknown();
  for (std::size_t i = 3; i < 5; ++i)
    if (op.argument(op.call.row.parameters[i].text()) && !has_rank(op, op.call.row.parameters[i].text(), 1))
      return op.unknown();
  return with_sums(op, asks_for(op, "", "return_aux"), false, true);
}

// create_block_mask(mask_mod, B, H, Q_LEN, KV_LEN): what it was made for. Whose code takes four numbers
// masks, one that takes five changes scores.
Value block_mask(Call& call) {
  if (const auto taken = call.spread ? std::nullopt : taken_by(call.run, call.at(0));
      taken && taken->least != 4)
    explain(*call.run.problem(ProblemKind::argument, call),
        call.run.resolve(call.at(0)).is(Kind::bound) && taken->least == 5
            ? why<Reason::mask_method>()
            : why<Reason::mask_function>(taken->least));
  Instance* made = call.run.make_native("torch.nn.attention.flex_attention.BlockMask", call.place);
  keep(call.run, *made, values::FunctionState::queries, call.at(3));
  keep(call.run, *made, values::FunctionState::keys, call.at(4));
  return Value::of(Kind::instance, made);
}

// create_mask(mask_mod, B, H, Q_LEN, KV_LEN): the same as a tensor.
Value dense_mask(Call& call) {
  TensorState state = computed(call.run, std::span<const Value>{});
  state.dtype = Dtype::boolean;
  state.shape.ndim_known = true;
  for (std::size_t i = 1; i < 5; ++i) {
    const Value size = call.run.resolve(call.at(i));
    const Int known = !size || size.is(Kind::none) ? call.run.symbols().constant(1) : call.run.to_int(size);
    state.shape.dims.push_back(
        known && !call.spread ? known_dim(call.run, known, call.place, call.row.path) : Dim{});
  }
  return result(call, state);
}

constexpr Operator flexible_attention_operators[] = {
    {"flex_attention",
        "query, key, value, score_mod=None, block_mask=None, scale=None, enable_gqa=False, return_lse=False, kernel_options=None, *, return_aux=None, **options",
        "torch.nn.attention.flex_attention.flex_attention spread", flex, Type::input},
    {"varlen_attn",
        "query, key, value, cu_seq_q, cu_seq_k, max_q, max_k, *, return_aux=None, scale=None, window_size=None, enable_gqa=False, seqused_k=None, block_table=None, num_splits=None",
        "torch.nn.attention.varlen.varlen_attn spread", packed, Type::input},
};

}  // namespace

std::vector<Row> flexible_attention_rows() {
  std::vector<Row> rows = operator_rows(flexible_attention_operators);
  rows.push_back(
      row("torch.nn.attention.flex_attention.BlockMask", RowKind::class_, "*arguments, **options", nullptr));
  rows.push_back(row("torch.nn.attention.flex_attention.create_block_mask", RowKind::function,
      "mask_mod, B=None, H=None, Q_LEN=None, KV_LEN=None, device=None, BLOCK_SIZE=128, _compile=False, **options",
      block_mask));
  rows.push_back(row("torch.nn.attention.flex_attention.create_mask", RowKind::function,
      "mask_mod, B=None, H=None, Q_LEN=None, KV_LEN=None, device=None", dense_mask));
  return rows;
}

}  // namespace stepzero::libraries
