// Activations: modules and functions that keep the shape of what they are given, or nearly so.
#include "libraries/torch/nn/layer.hpp"
#include "values/internal_rows.hpp"

namespace stepzero::libraries {

namespace {

Value same(Op& op) {
  const TensorState* input = op.expect("input");
  return input ? op.result(input->shape) : op.unknown();
}

// Along one dimension: softmax and its like.
std::optional<std::size_t> along(Op& op, const TensorState& input) {
  const Value dim = setting(op, "dim");
  const auto at = dim.is(Kind::integer) ? op.run.to_constant(dim) : std::nullopt;
  return at && input.shape.ndim_known ? op.axis(*at, input.shape.dims.size()) : std::nullopt;
}
Value softmax(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  along(op, *input);
  if (op.failed()) return op.unknown();
  const Dtype wanted = op.dtype("dtype", input->dtype);
  if (!op.argument("dtype") && !takes_floats(op, "input")) return op.unknown();
  return op.result(input->shape, wanted);
}
Value softmax2d(Op& op) {
  constexpr std::size_t ranks[] = {3, 4};
  const TensorState* input = ranked_input(op, "input", ranks);
  return input ? op.result(input->shape) : op.unknown();
}
// Half of a dimension gates the other half.
Value glu(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.empty())
    return op.refuse_shape(ProblemKind::layer_input, ShapeNeed::at_least(1), "input");
  const auto at = along(op, *input);
  if (op.failed()) return op.unknown();
  Shape shape = input->shape;
  if (!shape.ndim_known) {
    const Value dim = setting(op, "dim");
    const auto given = dim.is(Kind::integer) ? op.run.to_constant(dim) : std::nullopt;
    if (given != -1 || shape.dims.empty()) return op.unknown();
  } else if (!at) {
    return op.unknown();
  }
  Dim& halved = shape.ndim_known ? shape.dims[*at] : shape.dims.back();
  if (halved.size) {
    const Int two = op.s.constant(2);
    if (op.s.divides(two, halved.size) == Answer::no)
      return op.fail(ProblemKind::layer_input,
          why<Reason::odd_halves>(op.taker(), halved, op.name("input"), input->shape), {halved});
    const auto exact = op.s.exact_quotient(halved.size, two);
    halved = op.made(exact ? *exact : op.s.floordiv(halved.size, two));
  }
  return op.result(shape);
}
// One slope, or one for each channel.
Value prelu(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const bool module = op.call.self.is(Kind::instance);
  const TensorState* weight = module ? nullptr : op.tensor("weight");
  if (weight && weight->shape.ndim_known && weight->shape.dims.size() > 1)
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::vector}, "weight");
  const Dim slopes = module ? setting_dim(op, "num_parameters")
      : weight && weight->shape.ndim_known && weight->shape.dims.size() == 1 ? weight->shape.dims[0]
                                                                             : Dim{};
  const Shape& shape = input->shape;
  const Dim channels = !shape.ndim_known ? Dim{} : shape.dims.size() >= 2 ? shape.dims[1] : op.dim(1);
  if (slopes.size && channels.size && op.equal(slopes, 1) == Answer::no &&
      op.equal(slopes, channels) == Answer::no)
    return op.fail(ProblemKind::layer_input,
        interpreter::WrongSize{op.taker(), "channels", slopes, op.name("input"), channels, shape},
        {slopes, channels});
  return op.result(shape);
}

// Numbers that the functions refuse.
Value rrelu(Op& op) {
  const auto lower = op.real("lower"), upper = op.real("upper");
  if (lower && upper && *lower > *upper) return op.refuse_value("lower", {}, op.real("upper"));
  return same(op);
}
Value celu(Op& op) {
  if (op.real("alpha") == 0.0) return op.fail(ProblemKind::argument, why<Reason::zero_alpha>());
  return same(op);
}
Value softshrink(Op& op) {
  if (const auto lambda = op.real("lambd"); lambda && *lambda < 0) return op.refuse_value("lambd", 0);
  return same(op);
}
Value gelu(Op& op) {
  if (const auto how = op.text("approximate"); how && *how != "none" && *how != "tanh")
    return op.refuse_option("approximate", {"none", "tanh"}, *how);
  return same(op);
}
Value clipped(Op& op) {
  const auto least = op.real("min_val"), most = op.real("max_val");
  if (least && most && *least > *most) return op.fail(ProblemKind::argument, why<Reason::bounds_swapped>());
  return same(op);
}
Value gumbel_softmax(Op& op) {
  const TensorState* input = op.expect("logits");
  if (input && input->shape.ndim_known) (void)op.axis("dim", input->shape.dims.size());
  return input && !op.failed() ? op.result(input->shape) : op.unknown();
}

constexpr Layer activation_layers[] = {
    {"torch.nn.ReLU", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.ReLU6", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.RReLU", "lower=0.125, upper=0.3333333333333333, inplace=False", nullptr, "input", same,
        Type::input, false},
    {"torch.nn.LeakyReLU", "negative_slope=0.01, inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.PReLU", "num_parameters=1, init=0.25, device=None, dtype=None", nullptr, "input", prelu},
    {"torch.nn.ELU", "alpha=1.0, inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.CELU", "alpha=1.0, inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.SELU", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.GELU", "approximate='none'", nullptr, "input", same, Type::input, false},
    {"torch.nn.SiLU", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.Mish", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.Tanh", "", nullptr, "input", same, Type::floating, false},
    {"torch.nn.Sigmoid", "", nullptr, "input", same, Type::floating, false},
    {"torch.nn.LogSigmoid", "", nullptr, "input", same, Type::input, false},
    {"torch.nn.Hardtanh", "min_val=-1.0, max_val=1.0, inplace=False, min_value=None, max_value=None", nullptr,
        "input", same, Type::input, false},
    {"torch.nn.Hardsigmoid", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.Hardswish", "inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.Hardshrink", "lambd=0.5", nullptr, "input", same, Type::input, false},
    {"torch.nn.Softshrink", "lambd=0.5", nullptr, "input", same, Type::input, false},
    {"torch.nn.Tanhshrink", "", nullptr, "input", same, Type::floating, false},
    {"torch.nn.Softplus", "beta=1.0, threshold=20.0", nullptr, "input", same, Type::input, false},
    {"torch.nn.Softsign", "", nullptr, "input", same, Type::floating, false},
    {"torch.nn.Threshold", "threshold, value, inplace=False", nullptr, "input", same, Type::input, false},
    {"torch.nn.GLU", "dim=-1", nullptr, "input", glu, Type::input, false},
    {"torch.nn.Softmax", "dim=None", nullptr, "input", softmax, Type::input, false},
    {"torch.nn.LogSoftmax", "dim=None", nullptr, "input", softmax, Type::input, false},
    {"torch.nn.Softmin", "dim=None", nullptr, "input", softmax, Type::input, false},
    {"torch.nn.Softmax2d", "", nullptr, "input", softmax2d, Type::input, false},
};

constexpr Operator activation_operators[] = {
    {"relu", "input, inplace=False", "F F_", same, Type::input},
    {"relu6", "input, inplace=False", "F", same, Type::input},
    {"rrelu", "input, lower=0.125, upper=0.3333333333333333, training=False, inplace=False", "F F_", rrelu,
        Type::input},
    {"leaky_relu", "input, negative_slope=0.01, inplace=False", "F F_", same, Type::input},
    {"prelu", "input, weight", "F torch method", prelu, Type::input},
    {"elu", "input, alpha=1.0, inplace=False", "F F_", same, Type::input},
    {"celu", "input, alpha=1.0, inplace=False", "F F_ torch", celu, Type::input},
    {"selu", "input, inplace=False", "F F_ torch", same, Type::input},
    {"gelu", "input, approximate='none'", "F", gelu, Type::input},
    {"silu", "input, inplace=False", "F", same, Type::input},
    {"mish", "input, inplace=False", "F", same, Type::input},
    {"logsigmoid", "input", "F", same, Type::input},
    {"hardtanh", "input, min_val=-1.0, max_val=1.0, inplace=False", "F F_", clipped, Type::input},
    {"hardsigmoid", "input, inplace=False", "F", same, Type::input},
    {"hardswish", "input, inplace=False", "F", same, Type::input},
    {"hardshrink", "input, lambd=0.5", "F torch method", same, Type::input},
    {"softshrink", "input, lambd=0.5", "F", softshrink, Type::input},
    {"tanhshrink", "input", "F", same, Type::floating},
    {"softplus", "input, beta=1, threshold=20", "F", same, Type::input},
    {"softsign", "input", "F", same, Type::floating},
    {"threshold", "input, threshold, value, inplace=False", "F F_ torch", same, Type::input},
    {"glu", "input, dim=-1", "F", glu, Type::input},
    {"softmax", "input, dim=None, _stacklevel=3, dtype=None", "F", softmax, Type::own},
    {"log_softmax", "input, dim=None, _stacklevel=3, dtype=None", "F", softmax, Type::own},
    {"softmin", "input, dim=None, _stacklevel=3, dtype=None", "F", softmax, Type::own},
    {"softmax", "input, dim, dtype=None", "torch method special", softmax, Type::own},
    {"log_softmax", "input, dim, dtype=None", "torch method special", softmax, Type::own},
    {"gumbel_softmax", "logits, tau=1, hard=False, eps=1e-10, dim=-1", "F", gumbel_softmax, Type::input},
};

}  // namespace

// What programs call an activation that is chosen elsewhere. A gated one halves the size, and is called so:
// it is none of these.
constexpr auto keep_size = values::all_under<values::InternalRow::keeps_size, "act", "act1", "act2", "act3",
    "act_fn", "act_func", "activ", "activation", "activation1", "activation2", "activation_fn",
    "activation_func", "activation_function", "nonlinearity", "non_linearity", "nonlin", "relu", "gelu",
    "silu", "swish", "tanh", "sigmoid", "leaky_relu", "lrelu", "elu", "mish", "prelu">;
// Texts by which gated ones are asked for.
constexpr auto gates =
    values::all_under<values::InternalRow::keeps_size, "!glu", "!GLU", "!swiglu", "!SwiGLU", "!geglu",
        "!GEGLU", "!reglu", "!ReGLU", "!bilinear_glu", "!swish_glu", "!gated_silu", "!gated-gelu">;

// And what they call modules that do so among layers in a row: a function of such a name may be another.
constexpr auto keep_size_in_a_row = values::all_under<values::InternalRow::keeps_size_in_a_row, "act_layer",
    "activation_layer", "get_activation", "get_act", "get_act_fn", "get_act_layer", "make_act", "build_act",
    "build_act_layer", "build_activation_layer", "create_act", "create_act_layer", "get_nonlinearity",
    "get_norm", "get_norm_layer", "bn", "norm", "norm1d", "norm2d", "norm_fn", "norm_func", "norm_layer",
    "batch_norm", "layer_norm", "normalization", "normalize_layer", "BatchNorm", "BatchNorm1d", "BatchNorm2d",
    "BatchNorm3d", "SynchronizedBatchNorm2d", "FrozenBatchNorm2d", "InstanceNorm2d", "GroupNorm", "LayerNorm",
    "LayerNorm2d", "RMSNorm", "DropPath", "Swish", "QuickGELU", "Mish">;

std::vector<Row> activation_rows() {
  std::vector<Row> rows = rows_of(activation_layers, activation_operators);
  for (const std::string_view name : keep_size_in_a_row)
    rows.push_back(row(name, RowKind::constant, "", nullptr));
  for (const std::string_view name : gates) rows.push_back(row(name, RowKind::constant, "", nullptr));
  for (const std::string_view name : keep_size) rows.push_back(row(name, RowKind::constant, "", nullptr));
  return rows;
}

}  // namespace stepzero::libraries
