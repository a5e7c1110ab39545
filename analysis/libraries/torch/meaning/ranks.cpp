#include "libraries/torch/meaning/ranks.hpp"

#include "libraries/table/columns.hpp"
#include "libraries/table/names.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// What a tensor of unknown rank keeps beside its shape: the tensor that it was made from, how many of its own
// last dimensions are not that one's, how many more it has, how many it has in any case, whatever that one
// has, and (where it is said) that both end with the same.
constexpr values::KeptKey source_name = values::NdimState::from,
                          differing_name = values::NdimState::differing,
                          added_name = values::NdimState::added, over_name = values::NdimState::over,
                          last_name = values::NdimState::last;

struct NamedNdims {
  std::string_view name;
  std::int64_t differing;
  std::int64_t added = 0;
  std::int64_t over = 0;  // it says something only of what has more dimensions than these
  bool ends_equally = false;
};
// Operators whose result has the shape of their first tensor, but for so many last dimensions.
constexpr NamedNdims named[] = {
    {"Linear", 1},
    {"linear", 1},
    {"LayerNorm", 0},
    {"layer_norm", 0},
    {"RMSNorm", 0},
    {"rms_norm", 0},
    {"Dropout", 0},
    {"dropout", 0},
    {"GELU", 0},
    {"gelu", 0},
    {"ReLU", 0},
    {"relu", 0},
    {"SiLU", 0},
    {"silu", 0},
    {"Sigmoid", 0},
    {"sigmoid", 0},
    {"Tanh", 0},
    {"tanh", 0},
    {"Softmax", 0},
    {"softmax", 0},
    {"LogSoftmax", 0},
    {"log_softmax", 0},
    {"LeakyReLU", 0},
    {"leaky_relu", 0},
    {"ELU", 0},
    {"elu", 0},
    {"Softplus", 0},
    {"softplus", 0},
    {"normalize", 0},
    {"contiguous", 0},
    {"clone", 0},
    {"float", 0},
    {"Embedding", 1, 1},
    {"embedding", 1, 1},
    {"one_hot", 1, 1},
    {"Identity", 0},
    {"Mish", 0},
    {"mish", 0},
    {"Hardswish", 0},
    {"hardswish", 0},
    {"ReLU6", 0},
    {"relu6", 0},
    {"SELU", 0},
    {"selu", 0},
    {"to", 0},
    {"detach", 0},
    {"sin", 0},
    {"cos", 0},
    {"sqrt", 0},
    {"rsqrt", 0},
    {"log", 0},
    {"log1p", 0},
    {"double", 0},
    {"long", 0},
    {"cpu", 0},
    {"cuda", 0},
    {"half", 0},
    {"bfloat16", 0},
    {"type_as", 0},
    {"exp", 0},
    {"neg", 0},
    {"square", 0},
    {"abs", 0},
    {"clamp", 0},
    {"zeros_like", 0},
    {"ones_like", 0},
    {"empty_like", 0},
    {"full_like", 0},
    {"rand_like", 0},
    {"randn_like", 0},
    {"cumsum", 0},
    {"int", 0},
    {"argsort", 0},
    {"sort", 0},
    {"flip", 0},
    {"roll", 0},
    {"bool", 0},
    {"pin_memory", 0},
};
// Those whose result has as many dimensions as their first tensor, and nothing else of it for sure.
constexpr std::string_view of_same_rank[] = {"topk", "transpose", "index_select", "cummax", "cummin"};
// Those that broadcast their two operands, one of which is a number or has no more dimensions than the other
// here.
constexpr std::string_view pairwise[] = {"mul", "div", "add", "sub", "pow"};
// Those that leave a dimension of size 1 for what they reduce, if told so.
constexpr std::string_view reducing[] = {"mean", "sum", "amax", "amin", "var", "std"};
constexpr std::int64_t all_of_them = 64;  // dimensions that may differ: only their number is the same
// Those that cut along a dimension, which counts from the last one here.
constexpr std::string_view cutting[] = {"chunk", "split"};

bool is_number(const Op& op, std::string_view parameter) {
  const Value value = op.argument(parameter);
  if (!value.is(Kind::unknown)) return value.is(Kind::integer) || value.is(Kind::real);
  const auto* unknown = value.as<values::Unknown>();
  return unknown->is_real || unknown->default_value.is(Kind::real) ||
      unknown->default_value.is(Kind::integer);
}

std::optional<NamedNdims> relation(Op& op) {
  const std::string_view name = operator_name(op.call.row);
  if (const auto* found = std::ranges::find(named, name, &NamedNdims::name); found != std::end(named))
    return *found;
  if (std::ranges::find(of_same_rank, name) != std::end(of_same_rank)) return NamedNdims{name, all_of_them};
  // x[i] of a vector of indices leaves one dimension for the one that it takes.
  if (name == "__getitem__") {
    const TensorState* index = op.tensor(op.call.at(1));
    const bool vector = index && index->shape.ndim_known && index->shape.dims.size() == 1 &&
        (index->dtype == Dtype::int64 || index->dtype == Dtype::int32);
    return vector ? std::optional(NamedNdims{name, all_of_them}) : std::nullopt;
  }
  if (op.call.row.parameters.size() < 2) return std::nullopt;
  if (std::ranges::find(pairwise, name) != std::end(pairwise))
    return is_number(op, op.call.row.parameters[1].text()) ? std::optional(NamedNdims{name, 0})
                                                           : std::nullopt;
  if (std::ranges::find(reducing, name) != std::end(reducing))
    return op.flag("keepdim") == Known::yes ? std::optional(NamedNdims{name, all_of_them}) : std::nullopt;
  if (std::ranges::find(cutting, name) != std::end(cutting))
    if (const auto axis = op.integer("dim"); axis && *axis < 0) return NamedNdims{name, -*axis};
  return std::nullopt;
}

void follow(Op& op, Value source, const NamedNdims& by, Value made) {
  made = op.run.resolve(made);
  if (made.is(Kind::tuple) || made.is(Kind::list)) {
    const auto& items = made.is(Kind::tuple) ? made.as<values::Tuple>()->items
                                             : values::Heap::list_state(made)->items;
    for (const Value& item : items)
      if (!item.is(Kind::tuple) && !item.is(Kind::list)) follow(op, source, by, item);
    return;
  }
  const TensorState* state = made.is(Kind::tensor) && !(made == source) ? op.tensor(made) : nullptr;
  if (!state || state->shape.ndim_known || state->shape_value) return;
  values::Heap& heap = op.run.heap();
  const Value shape = heap.unknown_from({made}, op.call.place);
  auto* unknown = shape.as<values::Unknown>();
  unknown->shape_of = made;
  heap.slot_of(unknown->attributes, Name(source_name)).value = source;
  heap.slot_of(unknown->attributes, Name(differing_name)).value = heap.integer(by.differing);
  heap.slot_of(unknown->attributes, Name(added_name)).value = heap.integer(by.added);
  heap.slot_of(unknown->attributes, Name(over_name)).value = heap.integer(by.over);
  if (op.run.policy().operands_fit && (by.ends_equally || (by.differing == 0 && by.added == 0)))
    heap.slot_of(unknown->attributes, Name(last_name)).value = heap.integer(1);
  state->shape_value = shape;
}

// Where what a tensor of unknown rank was made from began, and how many dimensions it has more than that.
std::pair<Value, std::int64_t> origin_of(Op& op, Value value) {
  constexpr int longest_way = 64;  // operations back along one operand each
  std::int64_t added = 0;
  value = op.run.resolve(value);
  for (int way = 0; way < longest_way; ++way) {
    const TensorState* state = op.tensor(value);
    if (!state || !state->shape_value.is(Kind::unknown)) break;
    const auto& kept = state->shape_value.as<values::Unknown>()->attributes;
    const Value source = kept.value(Name(source_name));
    if (!source) break;
    added += op.run.to_constant(kept.value(Name(added_name))).value_or(0);
    value = op.run.resolve(source);
  }
  return {value, added};
}

struct Leading {
  Value operand;
  std::int64_t over = 0;  // if it has more dimensions than these
};
// The operand of two that are broadcast whose rank the result has; null: not known.
Leading leading(Op& op) {
  const Value a = op.argument(op.call.row.parameters[0].text()),
              b = op.argument(op.call.row.parameters[1].text());
  const TensorState *first = op.tensor(a), *second = op.tensor(b);
  if (!first || !second || (first->shape.ndim_known && second->shape.ndim_known)) return {};
  if (first->shape.ndim_known) return {b, static_cast<std::int64_t>(first->shape.dims.size())};
  if (second->shape.ndim_known) return {a, static_cast<std::int64_t>(second->shape.dims.size())};
  return {origin_of(op, a) == origin_of(op, b) ? a : Value{}};
}

}  // namespace

void follow_rank(Op& op, Value made) {
  // Most results are known: there is nothing to follow.
  if (const TensorState* state = op.tensor(op.run.resolve(made));
      state && (state->shape.ndim_known || state->shape_value))
    return;
  if (op.call.row.parameters.empty() || op.failed() || op.run.guarded()) return;
  if (op.call.row.parameters.size() > 1 &&
      std::ranges::find(pairwise, operator_name(op.call.row)) != std::end(pairwise))
    if (const auto [source, over] = leading(op); source) {
      const Value first = op.argument(op.call.row.parameters[0].text()),
                  second = op.argument(op.call.row.parameters[1].text());
      const TensorState* other = op.tensor(source == first ? second : first);
      return follow(op, source,
          NamedNdims{"", all_of_them, 0, over, other && op.value(from_right(other->shape, 0)) == 1}, made);
    }
  const Value source = op.argument(op.call.row.parameters[0].text());
  const TensorState* from = op.tensor(source);
  if (!from || from->shape.ndim_known) return;
  if (const auto by = relation(op)) follow(op, source, *by, made);
}

void learn_ends(Runtime& run, Value shape_value, const Shape& learned) {
  if (!run.policy().operands_fit || learned.ndim_known || learned.dims.empty() || !learned.dims.back().size)
    return;
  constexpr int longest_way = 16;  // operations back, at each of which the shape is learned anew
  for (int way = 0; way < longest_way && shape_value.is(Kind::unknown); ++way) {
    const auto& kept = shape_value.as<values::Unknown>()->attributes;
    const Value source = kept.value(Name(last_name)) ? kept.value(Name(source_name)) : Value{};
    const TensorState* state = source ? tensor_state(run, source) : nullptr;
    if (!state || state->shape.ndim_known || (!state->shape.dims.empty() && state->shape.dims.back().size))
      return;
    TensorState changed = *state;
    if (changed.shape.dims.empty()) changed.shape.dims.emplace_back();
    changed.shape.dims.back() = learned.dims.back();
    shape_value = changed.shape_value;
    set_state(run, source, changed);
  }
}

void learn_source(Runtime& run, Value shape_value, const Shape& learned) {
  if (!shape_value.is(Kind::unknown) || !learned.ndim_known || run.guarded()) return;
  const auto& kept = shape_value.as<values::Unknown>()->attributes;
  const Value source = kept.value(Name(source_name));
  if (!source) return;
  const TensorState* state = tensor_state(run, source);
  const auto last = static_cast<std::size_t>(run.to_constant(kept.value(Name(differing_name))).value_or(0));
  const auto added = static_cast<std::size_t>(run.to_constant(kept.value(Name(added_name))).value_or(0));
  if (!state || state->shape.ndim_known || (last > learned.dims.size() && last != all_of_them) ||
      added > learned.dims.size() || state->shape.dims.size() > learned.dims.size() - added)
    return;
  const std::size_t rank = learned.dims.size() - added;
  if (learned.dims.size() <=
      static_cast<std::size_t>(run.to_constant(kept.value(Name(over_name))).value_or(0)))
    return;
  TensorState changed = *state;
  changed.shape.ndim_known = true;
  changed.shape.dims.insert(changed.shape.dims.begin(), rank - state->shape.dims.size(), Dim{});
  for (std::size_t i = 0; i + last < learned.dims.size() && i < rank; ++i)
    if (!changed.shape.dims[i].size) changed.shape.dims[i] = learned.dims[i];
  const Value before = state->shape_value;
  decide_ndim(run, changed);
  set_state(run, source, changed);
  learn_source(run, before, changed.shape);
}

std::vector<Column> ndim_columns() {
  return {column_of("ndim, but for the last", named), column_of_names("same ndim", of_same_rank),
      column_of_names("ndim of two operands", pairwise), column_of_names("ndim that is kept", reducing),
      column_of_names("ndim of parts", cutting)};
}

}  // namespace stepzero::libraries
