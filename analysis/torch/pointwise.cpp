// Operators that work element by element: their operands broadcast.
#include "torch/op.hpp"

namespace stepzero::torch {

using values::Kind;
using values::ProblemKind;

namespace {

// ---------------------------------------------------------------- shapes

// The shape of the input.
Value same(Op& op) {
  const TensorState* input = op.expect(op.call.row.parameters[0].text());
  return input ? op.result(input->shape) : op.unknown();
}

// All operands that are tensors, broadcast; numbers fit everywhere.
Value broadcasting(Op& op) {
  std::optional<Shape> shape;
  for (std::size_t i = 0; i < op.call.row.parameters.size(); ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if (name == "out" || op.is_number(name)) continue;
    const Value value = op.argument(name);
    if (!value || value.is(Kind::string) || value.is(Kind::dtype)) continue;
    const TensorState* state = op.tensor(value);
    if (!state) return op.unknown();
    if (!shape) shape = state->shape;
    else if (!(shape = op.broadcast(*shape, state->shape))) return op.unknown();
  }
  return shape ? op.result(*shape) : op.unknown();
}

// div(…, rounding_mode='floor') of integers stays an integer.
Value divide(Op& op) {
  if (!op.argument("rounding_mode")) return broadcasting(op);
  const Value made = broadcasting(op);
  if (const TensorState* state = op.tensor(made); state && !op.failed()) {
    TensorState changed = *state;
    changed.dtype = op.result_type(Type::promote);
    set_state(op.run, made, changed);
  }
  return made;
}

// where(condition) lists the indices; where(condition, a, b) chooses.
Value where(Op& op) {
  const TensorState* condition = op.expect("condition");
  if (!condition) return op.unknown();
  if (!op.given("input")) {
    if (!condition->shape.rank_known) return op.run.heap().open_list(op.result({true, {Dim{}}}, values::Dtype::int64));
    const Shape indices{true, {Dim{}}};
    std::vector<Value> parts;
    for (std::size_t i = 0; i < std::max<std::size_t>(condition->shape.dims.size(), 1); ++i) parts.push_back(op.result(indices, values::Dtype::int64));
    return op.tuple(std::move(parts));
  }
  std::optional<Shape> shape = condition->shape;
  std::vector<Value> operands;
  for (const std::string_view name : {"input", "other"}) {
    const TensorState* state = op.tensor(name);
    if (!state && !op.is_number(name)) return op.unknown();
    if (state && !(shape = op.broadcast(*shape, state->shape))) return op.unknown();
  }
  const TensorState *a = op.tensor("input"), *b = op.tensor("other");
  const values::Dtype dtype = a && b ? (a->dtype == values::Dtype::unknown || b->dtype == values::Dtype::unknown ? values::Dtype::unknown
                                        : a->dtype == b->dtype                                                   ? a->dtype
                                                                                                                 : values::Dtype::unknown)
                                     : values::Dtype::unknown;
  return op.result(*shape, dtype);
}

// ---------------------------------------------------------------- the operators

constexpr Operator operators[] = {
    // of one tensor
    {"abs", "input, *, out=None", "torch method in_place torch.absolute torch.Tensor.absolute", same, Type::real},
    {"neg", "input, *, out=None", "torch method in_place torch.negative torch.Tensor.negative", same, Type::input},
    {"positive", "input", "torch method", same, Type::input},
    {"sign", "input, *, out=None", "torch method in_place", same, Type::input},
    {"sgn", "input, *, out=None", "torch method in_place", same, Type::input},
    {"ceil", "input, *, out=None", "torch method in_place", same, Type::input},
    {"floor", "input, *, out=None", "torch method in_place", same, Type::input},
    {"trunc", "input, *, out=None", "torch method in_place torch.fix", same, Type::input},
    {"frac", "input, *, out=None", "torch method in_place", same, Type::input},
    {"round", "input, *, decimals=0, out=None", "torch method in_place", same, Type::input},
    {"square", "input, *, out=None", "torch method in_place", same, Type::input},
    {"relu", "input", "torch method in_place", same, Type::input},
    {"clone", "input, *, memory_format=None", "torch method", same, Type::input},
    {"bitwise_not", "input, *, out=None", "torch method in_place", same, Type::input},
    {"logical_not", "input, *, out=None", "torch method", same, Type::boolean},
    {"isnan", "input", "torch method", same, Type::boolean},
    {"isinf", "input", "torch method", same, Type::boolean},
    {"isfinite", "input", "torch method", same, Type::boolean},
    {"sigmoid", "input, *, out=None", "torch method in_place torch.special.expit", same, Type::floating},
    {"exp", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"expm1", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"exp2", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"log", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log2", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log10", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log1p", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"sqrt", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"rsqrt", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"reciprocal", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"sin", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"cos", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"tan", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"sinh", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"cosh", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"tanh", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"asin", "input, *, out=None", "torch method in_place torch.arcsin torch.Tensor.arcsin", same, Type::floating},
    {"acos", "input, *, out=None", "torch method in_place torch.arccos torch.Tensor.arccos", same, Type::floating},
    {"atan", "input, *, out=None", "torch method in_place torch.arctan torch.Tensor.arctan", same, Type::floating},
    {"erf", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"erfc", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"erfinv", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"nan_to_num", "input, nan=0.0, posinf=None, neginf=None, *, out=None", "torch method in_place", same, Type::input},

    // of several
    {"add", "input, other, *, alpha=1, out=None", "torch method in_place", broadcasting},
    {"sub", "input, other, *, alpha=1, out=None", "torch method in_place torch.subtract torch.Tensor.subtract", broadcasting},
    {"rsub", "input, other, *, alpha=1", "torch", broadcasting},
    {"mul", "input, other, *, out=None", "torch method in_place torch.multiply torch.Tensor.multiply", broadcasting},
    {"div", "input, other, *, rounding_mode=None, out=None",
     "torch method in_place torch.divide torch.Tensor.divide torch.true_divide torch.Tensor.true_divide", divide, Type::floating},
    {"floor_divide", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"remainder", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"fmod", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"pow", "input, exponent, *, out=None", "torch method in_place", broadcasting},
    {"maximum", "input, other, *, out=None", "torch method", broadcasting},
    {"minimum", "input, other, *, out=None", "torch method", broadcasting},
    {"atan2", "input, other, *, out=None", "torch method in_place torch.arctan2 torch.Tensor.arctan2", broadcasting, Type::floating},
    {"bitwise_and", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"bitwise_or", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"bitwise_xor", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"bitwise_left_shift", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"bitwise_right_shift", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"logical_and", "input, other, *, out=None", "torch method", broadcasting, Type::boolean},
    {"logical_or", "input, other, *, out=None", "torch method", broadcasting, Type::boolean},
    {"logical_xor", "input, other, *, out=None", "torch method", broadcasting, Type::boolean},
    {"eq", "input, other, *, out=None", "torch method", broadcasting, Type::boolean},
    {"ne", "input, other, *, out=None", "torch method torch.not_equal", broadcasting, Type::boolean},
    {"lt", "input, other, *, out=None", "torch method torch.less", broadcasting, Type::boolean},
    {"le", "input, other, *, out=None", "torch method torch.less_equal", broadcasting, Type::boolean},
    {"gt", "input, other, *, out=None", "torch method torch.greater", broadcasting, Type::boolean},
    {"ge", "input, other, *, out=None", "torch method torch.greater_equal", broadcasting, Type::boolean},
    {"isclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", "torch method", broadcasting, Type::boolean},
    {"clamp", "input, min=None, max=None, *, out=None", "torch method in_place torch.clip torch.Tensor.clip", broadcasting},
    {"lerp", "input, end, weight, *, out=None", "torch method in_place", broadcasting, Type::input},
    {"addcmul", "input, tensor1, tensor2, *, value=1, out=None", "torch method in_place", broadcasting},
    {"addcdiv", "input, tensor1, tensor2, *, value=1, out=None", "torch method in_place", broadcasting, Type::floating},
    {"where", "condition, input=None, other=None, *, out=None", "torch", where, Type::own},
};

} // namespace

std::vector<Row> pointwise_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
