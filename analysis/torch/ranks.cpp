#include "torch/ranks.hpp"

#include <algorithm>

namespace stepzero::torch {

namespace {

// What a tensor of unknown rank keeps beside its shape: the tensor that it was made from, and how many of the last dimensions differ.
constexpr std::string_view source_name = "$from", differing_name = "$differing";

struct Named {
  std::string_view name;
  std::int64_t differing;  // of the last dimensions
};
// Operators whose result has the shape of their first tensor, but for so many last dimensions.
constexpr Named named[] = {
    {"Linear", 1},    {"linear", 1},   {"LayerNorm", 0}, {"layer_norm", 0}, {"RMSNorm", 0},    {"rms_norm", 0},  {"Dropout", 0},    {"dropout", 0},
    {"GELU", 0},      {"gelu", 0},     {"ReLU", 0},      {"relu", 0},       {"SiLU", 0},       {"silu", 0},      {"Sigmoid", 0},    {"sigmoid", 0},
    {"Tanh", 0},      {"tanh", 0},     {"Softmax", 0},   {"softmax", 0},    {"LogSoftmax", 0}, {"log_softmax", 0}, {"LeakyReLU", 0}, {"leaky_relu", 0},
    {"ELU", 0},       {"elu", 0},      {"Softplus", 0},  {"softplus", 0},   {"normalize", 0},  {"contiguous", 0}, {"clone", 0},     {"float", 0},
    {"half", 0},      {"bfloat16", 0}, {"type_as", 0},   {"exp", 0},        {"neg", 0},        {"square", 0},    {"abs", 0},        {"clamp", 0},
};
// Those that take another operand, which is a number here.
constexpr std::string_view with_number[] = {"mul", "div", "add", "sub", "pow"};
// Those that cut along a dimension, which counts from the last one here.
constexpr std::string_view cutting[] = {"chunk", "split"};

bool is_number(const Op& op, std::string_view parameter) {
  const Value value = op.argument(parameter);
  return value.is(Kind::integer) || value.is(Kind::real) || (value.is(Kind::unknown) && value.as<values::Unknown>()->is_real);
}

std::optional<std::int64_t> differing(Op& op) {
  const std::string_view path = op.call.row.path;
  const std::string_view name = last_part(path.ends_with(".forward") ? path.substr(0, path.size() - std::string_view(".forward").size()) : path);
  if (const auto* found = std::ranges::find(named, name, &Named::name); found != std::end(named)) return found->differing;
  if (op.call.row.parameters.size() < 2) return std::nullopt;
  if (std::ranges::find(with_number, name) != std::end(with_number)) return is_number(op, op.call.row.parameters[1].text()) ? std::optional<std::int64_t>(0) : std::nullopt;
  if (std::ranges::find(cutting, name) != std::end(cutting))
    if (const auto axis = op.integer("dim"); axis && *axis < 0) return -*axis;
  return std::nullopt;
}

void follow(Op& op, Value source, std::int64_t count, Value made) {
  made = op.run.resolve(made);
  if (made.is(Kind::tuple) || made.is(Kind::list)) {
    const auto& items = made.is(Kind::tuple) ? made.as<values::Tuple>()->items : values::Heap::list_state(made)->items;
    for (const Value& item : items)
      if (!item.is(Kind::tuple) && !item.is(Kind::list)) follow(op, source, count, item);
    return;
  }
  const TensorState* state = made.is(Kind::tensor) && !(made == source) ? op.tensor(made) : nullptr;
  if (!state || state->shape.rank_known || state->shape_value) return;
  values::Heap& heap = op.run.heap();
  const Value shape = heap.unknown_from({made}, op.call.place);
  auto* unknown = shape.as<values::Unknown>();
  unknown->shape_of = made;
  heap.slot_of(unknown->attributes, Name(source_name)).value = source;
  heap.slot_of(unknown->attributes, Name(differing_name)).value = heap.integer(count);
  state->shape_value = shape;
}

} // namespace

void follow_rank(Op& op, Value made) {
  if (op.call.row.parameters.empty() || op.failed() || op.run.guarded()) return;
  const Value source = op.argument(op.call.row.parameters[0].text());
  const TensorState* from = op.tensor(source);
  if (!from || from->shape.rank_known) return;
  if (const auto count = differing(op)) follow(op, source, *count, made);
}

void learn_source(Interpreter& run, Value shape_value, const Shape& learned) {
  if (!shape_value.is(Kind::unknown) || !learned.rank_known || run.guarded()) return;
  const auto& kept = shape_value.as<values::Unknown>()->attributes;
  const values::Slot *source = kept.find(Name(source_name)), *count = kept.find(Name(differing_name));
  if (!source || !count) return;
  const TensorState* state = tensor_state(run, source->value);
  const auto rank = learned.dims.size();
  const auto last = static_cast<std::size_t>(run.to_constant(count->value).value_or(0));
  if (!state || state->shape.rank_known || state->shape.dims.size() > rank || last > rank) return;
  TensorState changed = *state;
  changed.shape.rank_known = true;
  changed.shape.dims.insert(changed.shape.dims.begin(), rank - state->shape.dims.size(), Dim{});
  for (std::size_t i = 0; i + last < rank; ++i)
    if (!changed.shape.dims[i].size) changed.shape.dims[i] = learned.dims[i];
  const Value before = state->shape_value;
  settle_rank(run, changed);
  set_state(run, source->value, changed);
  learn_source(run, before, changed.shape);
}

} // namespace stepzero::torch
