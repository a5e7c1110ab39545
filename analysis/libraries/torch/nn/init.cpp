// torch.nn.init: what fills a tensor in place, and the tensors that it refuses.
#include "libraries/torch/ops/operators.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

bool at_least(Op& op, std::size_t rank) {
  const TensorState* tensor = op.must_be_tensor("tensor") ? op.expect("tensor") : nullptr;
  if (!tensor || !tensor->shape.ndim_known || tensor->shape.dims.size() >= rank) return !op.failed();
  (void)op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(static_cast<int>(rank)), "tensor");
  return false;
}
bool exactly(Op& op, std::size_t least, std::size_t most) {
  const TensorState* tensor = op.must_be_tensor("tensor") ? op.expect("tensor") : nullptr;
  if (!tensor || !tensor->shape.ndim_known ||
      (tensor->shape.dims.size() >= least && tensor->shape.dims.size() <= most))
    return !op.failed();
  (void)op.refuse_shape(
      ProblemKind::argument, ShapeNeed::between(static_cast<int>(least), static_cast<int>(most)), "tensor");
  return false;
}
Value init_constant(Op& op) { return op.must_be_tensor("tensor") ? the_tensor(op) : op.unknown(); }
Value init_random(Op& op) { return op.must_be_tensor("tensor") ? filled_at_random(op) : op.unknown(); }
Value init_fans(Op& op) { return at_least(op, 2) ? filled_at_random(op) : op.unknown(); }
Value init_kaiming(Op& op) {
  constexpr std::string_view known[] = {"linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
      "conv_transpose2d", "conv_transpose3d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"};
  if (const auto mode = op.text("mode"); mode && *mode != "fan_in" && *mode != "fan_out")
    return op.refuse_option("mode", {"fan_in", "fan_out"}, *mode);
  if (const auto function = op.text("nonlinearity");
      function && std::find(std::begin(known), std::end(known), *function) == std::end(known))
    return op.fail(ProblemKind::argument, why<Reason::no_gain>(code(op.title()), *function));
  return init_fans(op);
}
Value init_orthogonal(Op& op) { return at_least(op, 2) ? filled_at_random(op) : op.unknown(); }
Value init_matrix(Op& op) { return exactly(op, 2, 2) ? init_constant(op) : op.unknown(); }
Value init_dirac(Op& op) { return exactly(op, 3, 5) ? init_constant(op) : op.unknown(); }
Value gain(Op& op) {
  Value made = op.run.heap().unknown("", Sharing::uniform, op.call.place);
  made.as<values::Unknown>()->is_real = true;
  return made;
}

constexpr Operator init_operators[] = {
    {"uniform_", "tensor, a=0.0, b=1.0, generator=None", "nn.init", init_random, Type::own},
    {"normal_", "tensor, mean=0.0, std=1.0, generator=None", "nn.init", init_random, Type::own},
    {"trunc_normal_", "tensor, mean=0.0, std=1.0, a=-2.0, b=2.0, generator=None", "nn.init", init_random,
        Type::own},
    {"constant_", "tensor, val", "nn.init", init_constant, Type::own},
    {"ones_", "tensor", "nn.init", init_constant, Type::own},
    {"zeros_", "tensor", "nn.init", init_constant, Type::own},
    {"eye_", "tensor", "nn.init", init_matrix, Type::own},
    {"sparse_", "tensor, sparsity, std=0.01, generator=None", "nn.init", init_matrix, Type::own},
    {"dirac_", "tensor, groups=1", "nn.init", init_dirac, Type::own},
    {"orthogonal_", "tensor, gain=1, generator=None", "nn.init", init_orthogonal, Type::own},
    {"xavier_uniform_", "tensor, gain=1.0, generator=None", "nn.init torch.nn.init.xavier_uniform", init_fans,
        Type::own},
    {"xavier_normal_", "tensor, gain=1.0, generator=None", "nn.init torch.nn.init.xavier_normal", init_fans,
        Type::own},
    {"kaiming_uniform_", "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None",
        "nn.init torch.nn.init.kaiming_uniform", init_kaiming, Type::own},
    {"kaiming_normal_", "tensor, a=0, mode='fan_in', nonlinearity='leaky_relu', generator=None",
        "nn.init torch.nn.init.kaiming_normal", init_kaiming, Type::own},
    {"calculate_gain", "nonlinearity, param=None", "nn.init", gain, Type::own},
};

}  // namespace

std::vector<Row> init_rows() { return operator_rows(init_operators); }

}  // namespace stepzero::libraries
