// torch.masked: reductions and normalizations that leave out the elements whose mask is False.
#include "libraries/table/names.hpp"
#include "libraries/torch/ops/reductions.hpp"

namespace stepzero::libraries {

namespace {

// A mask is broadcast to its tensor: it has no more dimensions, and each size is the tensor's or 1. False
// after fail().
bool mask_fits(Op& op, std::string_view of, std::string_view mask) {
  const TensorState *input = op.tensor(of), *given = op.tensor(mask);
  if (!input || !given || !input->shape.ndim_known || !given->shape.ndim_known) return true;
  const Shape &x = input->shape, &m = given->shape;
  bool fits = m.dims.size() <= x.dims.size();
  for (std::size_t i = 0; fits && i < m.dims.size(); ++i)
    fits = op.equal(from_right(m, i), from_right(x, i)) != Answer::no ||
        op.equal(from_right(m, i), 1) != Answer::no;
  if (!fits)
    op.fail(ProblemKind::broadcast,
        interpreter::DoesNotFit{
            interpreter::DoesNotFit::Action::broadcast, op.name(mask), m, op.name(of), x});
  return fits;
}
const TensorState* masked_input(Op& op) {
  const TensorState* input = operand(op);
  return input && mask_fits(op, "input", "mask") ? input : nullptr;
}

Value masked_sum(Op& op) {
  const TensorState* input = masked_input(op);
  return input ? reduce(op, op.dtype("dtype", is_integral(input->dtype) ? Dtype::int64 : input->dtype))
               : op.unknown();
}
// Also of the places of extremes: torch.masked gives them in the dtype of the tensor.
Value masked_reduction(Op& op) {
  const TensorState* input = masked_input(op);
  return input ? reduce(op, op.dtype("dtype", input->dtype)) : op.unknown();
}
Value masked_extreme(Op& op) {
  const TensorState* input = masked_input(op);
  return input && has_elements(op, input->shape) ? reduce(op, op.dtype("dtype", input->dtype)) : op.unknown();
}
Value masked_mean(Op& op) {
  const TensorState* input = masked_input(op);
  return input && needs_floats(op, *input) ? reduce(op, op.dtype("dtype", input->dtype)) : op.unknown();
}
Value masked_deviation(Op& op) {
  const TensorState* input = masked_input(op);
  return input ? reduce(op, op.dtype("dtype", to_floating(input->dtype))) : op.unknown();
}
Value masked_along(Op& op) {
  const TensorState* input = masked_input(op);
  return input && has_axis(op, input->shape) ? op.result(input->shape, op.dtype("dtype", input->dtype))
                                             : op.unknown();
}
Value masked_softmax(Op& op) {
  const TensorState* input = masked_input(op);
  return input && needs_floats(op, *input) ? masked_along(op) : op.unknown();
}
Value masked_running(Op& op) {
  const TensorState* input = masked_input(op);
  if (!input || !has_axis(op, input->shape)) return op.unknown();
  // Unlike cumsum, it keeps the narrow integers.
  return op.result(input->shape, op.dtype("dtype", input->dtype));
}
Value masked_logaddexp(Op& op) {
  if (!operand(op) || !mask_fits(op, "input", "input_mask") || !mask_fits(op, "other", "other_mask"))
    return op.unknown();
  const auto both = op.broadcast(op.shape("input"), op.shape("other"));
  return both ? op.result(*both, op.dtype("dtype", op.promoted({"input", "other"}))) : op.unknown();
}

// Their names are not those of the functions without a mask: what is known of those by name, of contents for
// one, does not hold.
#define REDUCED "input, dim=None, *, keepdim=False, dtype=None, mask=None"
#define SPREAD "input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None"
#define ALONG "input, dim, *, dtype=None, mask=None"

constexpr Operator masked_operators[] = {
    {"masked_sum", REDUCED, "torch.masked.sum", masked_sum, Type::own},
    {"masked_prod", REDUCED, "torch.masked.prod", masked_sum, Type::own},
    {"masked_amax", REDUCED, "torch.masked.amax", masked_extreme, Type::own},
    {"masked_amin", REDUCED, "torch.masked.amin", masked_extreme, Type::own},
    {"masked_argmax", REDUCED, "torch.masked.argmax", masked_extreme, Type::own},
    {"masked_argmin", REDUCED, "torch.masked.argmin", masked_extreme, Type::own},
    {"masked_mean", REDUCED, "torch.masked.mean", masked_mean, Type::own},
    {"masked_logsumexp", REDUCED, "torch.masked.logsumexp", masked_reduction, Type::own},
    {"masked_median", "input, dim=-1, *, keepdim=False, dtype=None, mask=None", "torch.masked.median",
        masked_reduction, Type::own},
    {"masked_norm", "input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None", "torch.masked.norm",
        masked_mean, Type::own},
    {"masked_var", SPREAD, "torch.masked.var", masked_deviation, Type::own},
    {"masked_std", SPREAD, "torch.masked.std", masked_deviation, Type::own},
    {"masked_cumsum", ALONG, "torch.masked.cumsum", masked_running, Type::own},
    {"masked_cumprod", ALONG, "torch.masked.cumprod", masked_running, Type::own},
    {"masked_softmax", ALONG, "torch.masked.softmax", masked_softmax, Type::own},
    {"masked_log_softmax", ALONG, "torch.masked.log_softmax", masked_softmax, Type::own},
    {"masked_softmin", ALONG, "torch.masked.softmin", masked_softmax, Type::own},
    {"masked_normalize", "input, ord, dim, *, eps=1e-12, dtype=None, mask=None", "torch.masked.normalize",
        masked_along, Type::own},
    {"masked_logaddexp", "input, other, *, dtype=None, input_mask=None, other_mask=None",
        "torch.masked.logaddexp", masked_logaddexp, Type::own},
};

}  // namespace

std::vector<Row> masked_rows() { return operator_rows(masked_operators); }

}  // namespace stepzero::libraries
