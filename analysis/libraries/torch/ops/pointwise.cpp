// Operators that work element by element: their operands broadcast.
#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

// ---------------------------------------------------------------- shapes

Value same(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  if (!op.must_be_tensor(first)) return op.unknown();
  const TensorState* input = op.expect(first);
  return input ? op.result(input->shape) : op.unknown();
}

// A parameter that is a number where nothing else is given is one.
static bool is_number_by_default(Value value) {
  const Value otherwise = value.as<values::Unknown>()->default_value;
  return otherwise.is(Kind::real) || otherwise.is(Kind::integer) || otherwise.is(Kind::boolean);
}

// To be shown, what is weighted by a trained vector has as many features as that.
static void learn_features(Op& op) {
  const std::string_view names[] = {op.call.row.parameters[0].text(), op.call.row.parameters[1].text()};
  for (const bool turned : {false, true}) {
    const TensorState *vector = op.tensor(names[turned]), *other = op.tensor(names[!turned]);
    if (!vector || !other || !vector->shape.ndim_known || vector->shape.dims.size() != 1 ||
        op.run.heap().requires_grad(*vector) != Known::yes)
      continue;
    if (!other->shape.ndim_known && !from_right(other->shape, 0).size &&
        is_width(op.run, vector->shape.dims[0].size))
      op.learn_last(names[!turned], vector->shape.dims);
  }
}

Value broadcasting(Op& op) {
  // What is left over are the scalars of signatures that PyTorch no longer documents.
  if (!op.call.rest.empty()) return op.unknown();
  if (op.run.policy().operands_fit && op.call.row.parameters.size() >= 2) learn_features(op);
  std::optional<Shape> shape;
  bool known = true;
  for (std::size_t i = 0; i < op.call.row.parameters.size(); ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if (name == "out" || op.is_number(name)) continue;
    const Value value = op.argument(name);
    if (!value || value.is(Kind::string) || value.is(Kind::dtype)) continue;
    const TensorState* state = op.tensor(value);
    // Of what is not known a tensor's result has at least the features of what is.
    const Shape any;
    const bool open = !state && op.run.policy().operands_fit && value.is(Kind::unknown);
    if (open && is_number_by_default(value)) continue;
    if (!state && !open)
      known = false;
    else if (!shape)
      shape = state ? state->shape : any;
    else if (!(shape = op.broadcast(*shape, state ? state->shape : any)))
      return op.unknown();
  }
  return shape && known ? op.result(*shape) : op.unknown();
}

namespace {

// Of those that take a number in the place of any operand, but not of all.
Value some_tensor(Op& op) {
  const auto& operands = op.call.row.parameters;
  if (op.call.expr && op.is_number(operands[0].text()) && op.is_number(operands[1].text()))
    return op.fail(ProblemKind::argument,
        interpreter::WrongKind{
            interpreter::WrongKind::Need::tensor, interpreter::WrongKind::Has::numbers, op.taker(), {}, {}});
  return broadcasting(op);
}
// Their first operand is a tensor, the second may be a number. (The operators of Python turn round.)
Value first_tensor(Op& op) {
  if (op.call.expr && !op.must_be_tensor(op.call.row.parameters[0].text())) return op.unknown();
  return broadcasting(op);
}
// No number in the place of an operand.
Value only_tensors(Op& op) {
  for (std::size_t i = 0; i < op.call.row.positional && i < 2; ++i)
    if (!op.must_be_tensor(op.call.row.parameters[i].text())) return op.unknown();
  return broadcasting(op);
}
Value with_dtype(Op& op, Value made, Dtype dtype) {
  if (const TensorState* state = op.tensor(made); state && !op.failed()) {
    TensorState changed = *state;
    changed.dtype = dtype;
    set_state(op.run, made, changed);
  }
  return made;
}

// div(…, rounding_mode='floor') of integers stays an integer.
Value divide(Op& op) {
  if (!op.argument("rounding_mode")) return broadcasting(op);
  if (const auto mode = op.text("rounding_mode"); mode && *mode != "floor" && *mode != "trunc")
    return op.refuse_option("rounding_mode", {"floor", "trunc", "None"}, *mode);
  return with_dtype(op, broadcasting(op), op.promoted({"input", "other"}));
}
Value float_power(Op& op) {
  if (op.call.expr && op.is_number("input") && op.is_number("exponent"))
    return op.fail(ProblemKind::argument,
        interpreter::WrongKind{
            interpreter::WrongKind::Need::tensor, interpreter::WrongKind::Has::numbers, op.taker(), {}, {}});
  const Dtype both = op.promoted({"input", "exponent"});
  return with_dtype(op, broadcasting(op),
      both == Dtype::unknown ? both
          : is_complex(both) ? Dtype::complex128
                             : Dtype::float64);
}
Value power(Op& op) {
  if (op.call.expr && op.is_number("input") && op.is_number("exponent"))
    return op.fail(ProblemKind::argument,
        interpreter::WrongKind{
            interpreter::WrongKind::Need::tensor, interpreter::WrongKind::Has::numbers, op.taker(), {}, {}});
  return broadcasting(op);
}
// -x and the like, which bools do not have.
Value not_of_bools(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  if (const TensorState* input = op.tensor(first); input && input->dtype == Dtype::boolean)
    return op.fail(ProblemKind::dtype, why<Reason::negated_bool>(op.name(first), op.name(first)));
  return same(op);
}
bool is_bool(const Op& op, std::string_view name) {
  const Value value = op.argument(name);
  if (const TensorState* state = op.tensor(value))
    return state->dtype == Dtype::boolean && !state->maybe_array;
  return value.is(Kind::boolean) && op.is_number(name);
}
// A difference of truths is none.
Value subtract(Op& op) {
  for (std::size_t i = 0; i < 2; ++i)
    if (const std::string_view name = op.call.row.parameters[i].text();
        is_bool(op, name) && (op.tensor("input") || op.tensor("other"))) {
      op.fail(ProblemKind::dtype, why<Reason::subtracted_bool>(op.name(name)));
      op.suggest_append(name, ".float()", false);
      return op.unknown();
    }
  return op.call.row.path == std::string_view("torch.rsub") ? first_tensor(op) : broadcasting(op);
}
// Bits are of integers and bools.
bool has_bits(Op& op, std::string_view name) {
  const TensorState* state = op.tensor(name);
  if (!state || !values::is_floating(state->dtype) || state->maybe_array) return true;
  op.refuse_dtype(DtypeNeed::integers_or_bool, name);
  op.suggest_append(name, ".bool()", false);
  return false;
}
Value bits(Op& op) { return has_bits(op, "input") && has_bits(op, "other") ? some_tensor(op) : op.unknown(); }
Value inverted_bits(Op& op) { return has_bits(op, "input") ? same(op) : op.unknown(); }
Value is_close(Op& op) {
  for (const std::string_view name : {"rtol", "atol"})
    if (const auto tolerance = op.real(name); tolerance && *tolerance < 0) return op.refuse_value(name, 0);
  return only_tensors(op);
}
// Bool tensors are squared as integers.
Value square(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  return op.result(input->shape, input->dtype == Dtype::boolean ? Dtype::int64 : input->dtype);
}
Value angle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  return op.result(input->shape, is_integral(input->dtype) ? Dtype::float32 : real_part(input->dtype));
}
Value mantissa_and_exponent(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  constexpr static std::string_view fields[] = {"mantissa", "exponent"};
  return op.named_tuple(
      {op.result(input->shape, input->dtype), op.result(input->shape, Dtype::int32)}, fields);
}
Value complex_of_parts(Op& op) {
  for (std::size_t i = 0; i < 2; ++i)
    if (!op.must_be_tensor(op.call.row.parameters[i].text())) return op.unknown();
  const TensorState* first = op.tensor(op.call.row.parameters[0].text());
  return with_dtype(op, broadcasting(op), first ? complex_part(first->dtype) : Dtype::unknown);
}

// where(condition) lists the indices; where(condition, a, b) chooses.
Value where(Op& op) {
  if (!op.must_be_tensor("condition")) return op.unknown();
  const TensorState* condition = op.expect("condition");
  if (!condition) return op.unknown();
  if (condition->dtype != Dtype::unknown && condition->dtype != Dtype::boolean &&
      condition->dtype != Dtype::uint8 && op.given("input"))
    return op.refuse_dtype(DtypeNeed::condition, "condition");
  if (!op.given("input")) {
    const Dim count = count_of_nonzero(op, op.argument("condition"), op.expression("condition"));
    if (!condition->shape.ndim_known)
      return op.run.heap().open_list(op.result({true, {count}}, Dtype::int64));
    const Shape indices{true, {count}};
    std::vector<Value> parts;
    for (std::size_t i = 0; i < std::max<std::size_t>(condition->shape.dims.size(), 1); ++i)
      parts.push_back(op.result(indices, Dtype::int64));
    return op.tuple(std::move(parts));
  }
  std::optional<Shape> shape = condition->shape;
  for (const std::string_view name : {"input", "other"}) {
    if (op.is_number(name)) continue;
    const TensorState* state = op.tensor(name);
    if (!state) return op.unknown();
    if (!(shape = op.broadcast(*shape, state->shape))) return op.unknown();
  }
  return op.result(*shape, op.promoted({"input", "other"}));
}

// In place, the mask must fit the tensor; else both broadcast.
Value masked_fill(Op& op) {
  const TensorState* input = op.expect("input");
  if (!op.must_be_tensor("mask")) return op.unknown();
  const TensorState* mask = op.tensor("mask");
  if (!input || !mask) return op.unknown();
  if (mask->dtype != Dtype::unknown && mask->dtype != Dtype::boolean && !mask->maybe_array) {
    op.refuse_dtype(DtypeNeed::mask, "mask");
    op.suggest_append("mask", ".bool()", false);
    return op.unknown();
  }
  if (const TensorState* value = op.tensor("value");
      value && value->shape.ndim_known && !value->shape.dims.empty())
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::element}, "value");
  // float16 ends at 65,504; infinity it has.
  constexpr double largest_half = 65504;
  if (const Value value = op.argument("value"); value.is(Kind::real) && input->dtype == Dtype::float16 &&
      std::isfinite(value.real()) && std::abs(value.real()) > largest_half)
    return op.fail(ProblemKind::argument, why<Reason::half_overflow>(op.name("value"), op.name("input")));
  const auto shape = op.broadcast(input->shape, mask->shape);
  return shape ? op.result(*shape, input->dtype) : op.unknown();
}

Value polygamma(Op& op) {
  const TensorState* input = op.expect("input");
  if (op.integer("n") < 0 && op.integer("n")) return op.refuse_value("n", 0);
  return input ? op.result(input->shape) : op.unknown();
}
Value clamp(Op& op) {
  if (!op.must_be_tensor("input")) return op.unknown();
  if (op.given("input") && !op.call.spread && !op.argument("min") && !op.argument("max"))
    return op.fail(ProblemKind::argument, why<Reason::no_bounds>(code(op.title())));
  return broadcasting(op);
}

// ---------------------------------------------------------------- the operators

// Rounded to what integers between two bounds can say, and in floating point as before.
bool quantizes(Op& op) {
  const auto low = op.integer("quant_min"), high = op.integer("quant_max"), zero = op.integer("zero_point");
  const std::string title = code(op.title());
  if (low && high && *low > *high)
    op.refuse_value("quant_min", {}, static_cast<double>(*high), op.dim(*low));
  else if (low && high && zero && (*zero < *low || *zero > *high))
    op.refuse_value("zero_point", static_cast<double>(*low), static_cast<double>(*high), op.dim(*zero));
  return !op.failed();
}
Value quantized_by_tensor(Op& op) { return quantizes(op) ? same(op) : op.unknown(); }
Value quantized_by_channel(Op& op) {
  if (!quantizes(op) || !op.must_be_tensor("scale") || !op.must_be_tensor("zero_point")) return op.unknown();
  const TensorState *input = op.expect("input"), *scale = op.expect("scale"), *zero = op.expect("zero_point");
  if (!input || !scale || !zero) return op.unknown();
  const std::string title = code(op.title());
  if (scale->shape.ndim_known && scale->shape.dims.size() != 1)
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::vector}, "scale");
  if (zero->dtype == Dtype::int64) {
    op.fail(ProblemKind::dtype,
        interpreter::WrongDtype{op.taker(), DtypeNeed::int32_or_floats, code("zero_point"), zero->dtype});
    op.suggest_append("zero_point", ".int()", true);
    return op.unknown();
  }
  const Value result = same(op);
  const auto at = op.integer("axis");
  if (at && *at < 0) return op.refuse_value("axis", 0, {}, op.dim(*at));
  if (!input->shape.ndim_known || !scale->shape.ndim_known) return result;
  const auto axis = op.axis("axis", input->shape.dims.size());
  if (op.failed()) return op.unknown();
  if (axis && *axis < input->shape.dims.size() &&
      !op.must_equal(input->shape.dims[*axis], scale->shape.dims[0]))
    return op.fail(ProblemKind::argument,
        interpreter::NotOneEach{op.taker(), "a number", input->shape.dims[*axis], "channels",
            {op.name("input"), input->shape}, code("scale"), scale->shape.dims[0]},
        {scale->shape.dims[0], input->shape.dims[*axis]});
  return result;
}

constexpr Operator pointwise_operators[] = {
    // of one tensor
    {"abs", "input, *, out=None",
        "torch method in_place torch.absolute torch.Tensor.absolute torch.absolute_ torch.Tensor.absolute_",
        same, Type::real},
    {"neg", "input, *, out=None",
        "torch method in_place torch.negative torch.Tensor.negative torch.negative_ torch.Tensor.negative_",
        not_of_bools, Type::input},
    {"positive", "input", "torch method", same, Type::input},
    {"resolve_conj", "input", "torch method", same, Type::input},
    {"resolve_neg", "input", "torch method", same, Type::input},
    {"conj", "input", "torch method", same, Type::input},
    {"sign", "input, *, out=None", "torch method in_place", same, Type::input},
    {"sgn", "input, *, out=None", "torch method in_place", same, Type::input},
    {"ceil", "input, *, out=None", "torch method in_place", same, Type::input},
    {"floor", "input, *, out=None", "torch method in_place", same, Type::input},
    {"frac", "input, *, out=None", "torch method in_place", same, Type::input},
    {"conj_physical", "input, *, out=None", "torch method in_place", same, Type::input},
    {"bitwise_not", "input, *, out=None", "torch method in_place", inverted_bits, Type::input},
    {"trunc", "input, *, out=None",
        "torch method in_place torch.fix torch.Tensor.fix torch.fix_ torch.Tensor.fix_", same, Type::input},
    {"round", "input, *, decimals=0, out=None", "torch method in_place special", same, Type::input},
    {"square", "input, *, out=None", "torch method in_place", square, Type::own},
    {"angle", "input, *, out=None", "torch method", angle, Type::own},
    {"real", "input", "torch property", same, Type::real},
    {"imag", "input", "torch property", same, Type::real},
    {"frexp", "input, *, out=None", "torch method", mantissa_and_exponent, Type::own},
    {"clone", "input, *, memory_format=None", "torch method torch.alias_copy", same, Type::input},
    {"logical_not", "input, *, out=None", "torch method in_place", same, Type::boolean},
    {"isnan", "input", "torch method", same, Type::boolean},
    {"isinf", "input", "torch method", same, Type::boolean},
    {"isfinite", "input", "torch method", same, Type::boolean},
    {"isreal", "input", "torch method", same, Type::boolean},
    {"isneginf", "input, *, out=None", "torch method", same, Type::boolean},
    {"isposinf", "input, *, out=None", "torch method", same, Type::boolean},
    {"signbit", "input, *, out=None", "torch method", same, Type::boolean},
    {"sigmoid", "input, *, out=None", "torch method in_place F torch.special.expit", same, Type::floating},
    {"acos", "input, *, out=None",
        "torch method in_place torch.arccos torch.Tensor.arccos torch.arccos_ torch.Tensor.arccos_", same,
        Type::floating},
    {"acosh", "input, *, out=None",
        "torch method in_place torch.arccosh torch.Tensor.arccosh torch.arccosh_ torch.Tensor.arccosh_", same,
        Type::floating},
    {"asin", "input, *, out=None",
        "torch method in_place torch.arcsin torch.Tensor.arcsin torch.arcsin_ torch.Tensor.arcsin_", same,
        Type::floating},
    {"asinh", "input, *, out=None",
        "torch method in_place torch.arcsinh torch.Tensor.arcsinh torch.arcsinh_ torch.Tensor.arcsinh_", same,
        Type::floating},
    {"atan", "input, *, out=None",
        "torch method in_place torch.arctan torch.Tensor.arctan torch.arctan_ torch.Tensor.arctan_", same,
        Type::floating},
    {"atanh", "input, *, out=None",
        "torch method in_place torch.arctanh torch.Tensor.arctanh torch.arctanh_ torch.Tensor.arctanh_", same,
        Type::floating},
    {"cos", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"cosh", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"sin", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"sinh", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"tan", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"tanh", "input, *, out=None", "torch method in_place F", same, Type::floating},
    {"exp", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log2", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"log10", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"sqrt", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"rsqrt", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"reciprocal", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"deg2rad", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"rad2deg", "input, *, out=None", "torch method in_place", same, Type::floating},
    {"expm1", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"exp2", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"log1p", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"erf", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"erfc", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"erfinv", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"sinc", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"i0", "input, *, out=None", "torch method in_place special", same, Type::floating},
    {"digamma", "input, *, out=None", "torch method in_place special torch.special.psi", same,
        Type::floating},
    {"lgamma", "input, *, out=None", "torch method in_place torch.special.gammaln", same, Type::floating},
    {"logit", "input, eps=None, *, out=None", "torch method in_place special", same, Type::floating},
    {"mvlgamma", "input, p, *, out=None", "torch method in_place torch.special.multigammaln", same,
        Type::floating},
    {"polygamma", "n, input, *, out=None", "torch special", polygamma, Type::floating},
    {"polygamma", "input, n, *, out=None", "method in_place", polygamma, Type::floating},
    {"airy_ai", "input, *, out=None", "special", same, Type::floating},
    {"bessel_j0", "input, *, out=None", "special", same, Type::floating},
    {"bessel_j1", "input, *, out=None", "special", same, Type::floating},
    {"bessel_y0", "input, *, out=None", "special", same, Type::floating},
    {"bessel_y1", "input, *, out=None", "special", same, Type::floating},
    {"entr", "input, *, out=None", "special", same, Type::floating},
    {"erfcx", "input, *, out=None", "special", same, Type::floating},
    {"i0e", "input, *, out=None", "special", same, Type::floating},
    {"i1", "input, *, out=None", "special", same, Type::floating},
    {"i1e", "input, *, out=None", "special", same, Type::floating},
    {"log_ndtr", "input, *, out=None", "special", same, Type::floating},
    {"modified_bessel_i0", "input, *, out=None", "special", same, Type::floating},
    {"modified_bessel_i1", "input, *, out=None", "special", same, Type::floating},
    {"modified_bessel_k0", "input, *, out=None", "special", same, Type::floating},
    {"modified_bessel_k1", "input, *, out=None", "special", same, Type::floating},
    {"ndtr", "input, *, out=None", "special", same, Type::floating},
    {"ndtri", "input, *, out=None", "special", same, Type::floating},
    {"scaled_modified_bessel_k0", "input, *, out=None", "special", same, Type::floating},
    {"scaled_modified_bessel_k1", "input, *, out=None", "special", same, Type::floating},
    {"spherical_bessel_j0", "input, *, out=None", "special", same, Type::floating},
    {"nan_to_num", "input, nan=0.0, posinf=None, neginf=None, *, out=None", "torch method in_place", same,
        Type::input},

    // of several
    {"add", "input, other, *more, alpha=1, out=None", "torch method in_place", broadcasting},
    {"sub", "input, other, *more, alpha=1, out=None",
        "torch method in_place torch.subtract torch.Tensor.subtract torch.subtract_ torch.Tensor.subtract_",
        subtract},
    {"rsub", "input, other, *more, alpha=1", "torch", subtract},
    {"mul", "input, other, *, out=None",
        "torch method in_place torch.multiply torch.Tensor.multiply torch.multiply_ torch.Tensor.multiply_",
        broadcasting},
    {"div", "input, other, *, rounding_mode=None, out=None",
        "torch method in_place torch.divide torch.Tensor.divide torch.divide_ torch.Tensor.divide_ torch.true_divide torch.Tensor.true_divide torch.true_divide_ torch.Tensor.true_divide_",
        divide, Type::floating},
    {"floor_divide", "input, other, *, out=None", "torch method in_place", broadcasting},
    {"remainder", "input, other, *, out=None", "torch method in_place", some_tensor},
    {"bitwise_and", "input, other, *, out=None", "torch method in_place", bits},
    {"bitwise_or", "input, other, *, out=None", "torch method in_place", bits},
    {"bitwise_xor", "input, other, *, out=None", "torch method in_place", bits},
    {"bitwise_left_shift", "input, other, *, out=None", "torch method in_place", bits},
    {"bitwise_right_shift", "input, other, *, out=None", "torch method in_place", bits},
    {"fmod", "input, other, *, out=None", "torch method in_place", first_tensor},
    {"pow", "input, exponent, *, out=None", "torch method in_place", power},
    {"float_power", "input, exponent, *, out=None", "torch method in_place", float_power, Type::own},
    {"maximum", "input, other, *, out=None", "torch method", only_tensors},
    {"minimum", "input, other, *, out=None", "torch method", only_tensors},
    {"fmax", "input, other, *, out=None", "torch method", only_tensors},
    {"fmin", "input, other, *, out=None", "torch method", only_tensors},
    {"gcd", "input, other, *, out=None", "torch method in_place", only_tensors},
    {"lcm", "input, other, *, out=None", "torch method in_place", only_tensors},
    {"nextafter", "input, other, *, out=None", "torch method in_place", only_tensors},
    {"hypot", "input, other, *, out=None", "torch method in_place", only_tensors},
    {"heaviside", "input, values, *, out=None", "torch method in_place", only_tensors, Type::input},
    {"atan2", "input, other, *, out=None",
        "torch method in_place torch.arctan2 torch.Tensor.arctan2 torch.arctan2_ torch.Tensor.arctan2_",
        only_tensors, Type::floating},
    {"copysign", "input, other, *, out=None", "torch method in_place", first_tensor, Type::floating},
    {"ldexp", "input, other, *, out=None", "torch method in_place", only_tensors, Type::floating},
    {"logaddexp", "input, other, *, out=None", "torch method", only_tensors},
    {"logaddexp2", "input, other, *, out=None", "torch method", only_tensors},
    {"igamma", "input, other, *, out=None", "torch method in_place torch.special.gammainc", only_tensors,
        Type::floating},
    {"igammac", "input, other, *, out=None", "torch method in_place torch.special.gammaincc", only_tensors,
        Type::floating},
    {"xlogy", "input, other, *, out=None", "torch method in_place special", some_tensor, Type::floating},
    {"xlog1py", "input, other, *, out=None", "special", some_tensor, Type::floating},
    {"zeta", "input, other, *, out=None", "special", some_tensor, Type::floating},
    {"chebyshev_polynomial_t", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"chebyshev_polynomial_u", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"chebyshev_polynomial_v", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"chebyshev_polynomial_w", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"hermite_polynomial_h", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"hermite_polynomial_he", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"laguerre_polynomial_l", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"legendre_polynomial_p", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"shifted_chebyshev_polynomial_t", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"shifted_chebyshev_polynomial_u", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"shifted_chebyshev_polynomial_v", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"shifted_chebyshev_polynomial_w", "input, n, *, out=None", "special", some_tensor, Type::floating},
    {"logical_and", "input, other, *, out=None", "torch method in_place", only_tensors, Type::boolean},
    {"logical_or", "input, other, *, out=None", "torch method in_place", only_tensors, Type::boolean},
    {"logical_xor", "input, other, *, out=None", "torch method in_place", only_tensors, Type::boolean},
    {"eq", "input, other, *, out=None", "torch method in_place", first_tensor, Type::boolean},
    {"ne", "input, other, *, out=None",
        "torch method in_place torch.not_equal torch.Tensor.not_equal torch.not_equal_ torch.Tensor.not_equal_",
        first_tensor, Type::boolean},
    {"lt", "input, other, *, out=None",
        "torch method in_place torch.less torch.Tensor.less torch.less_ torch.Tensor.less_", first_tensor,
        Type::boolean},
    {"le", "input, other, *, out=None",
        "torch method in_place torch.less_equal torch.Tensor.less_equal torch.less_equal_ torch.Tensor.less_equal_",
        first_tensor, Type::boolean},
    {"gt", "input, other, *, out=None",
        "torch method in_place torch.greater torch.Tensor.greater torch.greater_ torch.Tensor.greater_",
        first_tensor, Type::boolean},
    {"ge", "input, other, *, out=None",
        "torch method in_place torch.greater_equal torch.Tensor.greater_equal torch.greater_equal_ torch.Tensor.greater_equal_",
        first_tensor, Type::boolean},
    {"isclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", "torch method", is_close,
        Type::boolean},
    {"clamp", "input, min=None, max=None, *, out=None",
        "torch method in_place torch.clip torch.Tensor.clip torch.clip_ torch.Tensor.clip_", clamp},
    {"clamp_min", "input, min, *, out=None", "torch method in_place", first_tensor},
    {"clamp_max", "input, max, *, out=None", "torch method in_place", first_tensor},
    {"lerp", "input, end, weight, *, out=None", "torch method in_place", only_tensors, Type::input},
    {"addcmul", "input, tensor1, tensor2, *more, value=1, out=None", "torch method in_place", broadcasting},
    {"addcdiv", "input, tensor1, tensor2, *more, value=1, out=None", "torch method in_place", broadcasting,
        Type::floating},
    {"complex", "real, imag, *, out=None", "torch", complex_of_parts, Type::own},
    {"polar", "abs, angle, *, out=None", "torch", complex_of_parts, Type::own},
    {"where", "condition, input=None, other=None, *, out=None", "torch", where, Type::own},
    {"where", "input, condition, other", "method", where, Type::own},
    {"masked_fill", "input, mask, value", "torch method in_place", masked_fill, Type::own},

    {"relu", "input", "torch method in_place", same, Type::input},
    {"fake_quantize_per_tensor_affine", "input, scale, zero_point, quant_min, quant_max", "torch",
        quantized_by_tensor, Type::input},
    {"fake_quantize_per_channel_affine", "input, scale, zero_point, axis, quant_min, quant_max", "torch",
        quantized_by_channel, Type::input},
};

}  // namespace

std::vector<Row> pointwise_rows() { return operator_rows(pointwise_operators); }

}  // namespace stepzero::libraries
