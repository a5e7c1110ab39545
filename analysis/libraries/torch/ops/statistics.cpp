// Counts, histograms and covariances.
#include "libraries/torch/ops/reductions.hpp"

#include <array>

namespace stepzero::libraries {

namespace {

Value bincount(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() != 1)
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::vector}, "input");
  const TensorState* weights = op.tensor("weights");
  const Dtype dtype = !op.argument("weights") ? Dtype::int64
      : !weights                              ? Dtype::unknown
      : weights->dtype == Dtype::float32      ? Dtype::float32
      : weights->dtype == Dtype::unknown      ? Dtype::unknown
                                              : Dtype::float64;
  return op.result({true, {Dim{}}}, dtype);
}
Value histc(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  return op.result({true, {op.made(op.size("bins"))}}, input->dtype);
}
constexpr std::array<std::string_view, 2> histogram_fields = {"hist", "bin_edges"};
Value histogram(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  Int bins = op.size("bins"), edges = op.add(bins, op.s.constant(1));
  if (const TensorState* given = op.tensor("bins")) {
    edges = given->shape.ndim_known && given->shape.dims.size() == 1 ? given->shape.dims[0].size : nullptr;
    bins = op.sub(edges, op.s.constant(1));
  }
  return op.named_tuple(
      {op.result({true, {op.made(bins)}}, input->dtype), op.result({true, {op.made(edges)}}, input->dtype)},
      histogram_fields);
}
Value histogram_of_many(Op& op) {
  const TensorState* input = operand(op);
  const auto given = op.sequence("bins");
  if (!input) return op.unknown();
  Shape shape{true, {}};
  std::vector<Value> edges;
  if (given)
    for (const Value& item : *given) {
      const TensorState* state = op.tensor(item);
      const Int size = state
          ? (state->shape.ndim_known && state->shape.dims.size() == 1 ? state->shape.dims[0].size : nullptr)
          : op.add(op.run.to_int(item), op.s.constant(1));
      edges.push_back(op.result({true, {op.made(size)}}, input->dtype));
      shape.dims.push_back(op.made(op.sub(size, op.s.constant(1))));
    }
  if (!given) return anything(op);
  return op.named_tuple({op.result(shape, input->dtype), op.tuple(std::move(edges))}, histogram_fields);
}
// Rows are variables. One variable has a variance.
Value covariance(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  Dtype dtype = to_floating(input->dtype);
  if (const TensorState* weights = op.tensor("aweights"))
    dtype = weights->dtype == Dtype::unknown ? Dtype::unknown : promote(dtype, weights->dtype);
  if (shape.ndim_known && shape.dims.size() > 2)
    return op.fail(ProblemKind::argument, why<Reason::variables>(code(op.title()), op.name("input"), shape));
  for (const std::string_view name : {"fweights", "aweights"}) {
    const Shape& weights = op.shape(name);
    if (!weights.ndim_known) continue;
    if (weights.dims.size() > 1)
      return op.fail(ProblemKind::argument,
          interpreter::WrongShape{op.taker(), ShapeNeed::exactly(1), code(name), weights});
    if (!weights.dims.empty() && shape.ndim_known && !shape.dims.empty() &&
        op.equal(weights.dims[0], shape.dims.back()) == Answer::no)
      return op.fail(ProblemKind::argument,
          interpreter::NotOneEach{
              op.taker(), "a weight", shape.dims.back(), "observations", {}, code(name), weights.dims[0]},
          {weights.dims[0], shape.dims.back()});
  }
  if (!shape.ndim_known) return op.result({}, dtype);
  if (shape.dims.size() < 2 || is_one(op, shape.dims[0])) return op.result({true, {}}, dtype);
  if (op.equal(shape.dims[0], 1) == Answer::unknown) return op.result({}, dtype);
  return op.result({true, {shape.dims[0], shape.dims[0]}}, dtype);
}
Value renorm(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() < 2)
    return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(2), "input");
  return has_axis(op, input->shape) ? op.result(input->shape, input->dtype) : op.unknown();
}
Value segments(Op& op) {
  const TensorState* data = op.expect("data");
  const TensorState *lengths = op.tensor("lengths"), *offsets = op.tensor("offsets");
  const auto axis = op.integer("axis");
  if (!data || !axis || *axis < 0 || (!lengths && !offsets)) return op.unknown();
  const Shape& by = (lengths ? lengths : offsets)->shape;
  const auto at = static_cast<std::size_t>(*axis);
  if (!data->shape.ndim_known || !by.ndim_known || at >= data->shape.dims.size() || at >= by.dims.size())
    return op.unknown();
  Shape shape = data->shape;
  shape.dims[at] = lengths ? by.dims[at] : op.made(op.sub(by.dims[at].size, op.s.constant(1)));
  return op.result(shape, data->dtype);
}

constexpr Operator statistics_operators[] = {
    {"bincount", "input, weights=None, minlength=0", "torch method", bincount, Type::own},
    {"histc", "input, bins=100, min=0, max=0, *, out=None", "torch method", histc, Type::input},
    {"histogram", "input, bins, *, range=None, weight=None, density=False, out=None", "torch method",
        histogram, Type::input},
    {"histogramdd", "input, bins, *, range=None, weight=None, density=False", "torch", histogram_of_many,
        Type::input},
    {"cov", "input, *, correction=1, fweights=None, aweights=None", "torch method", covariance, Type::own},
    {"corrcoef", "input", "torch method", covariance, Type::own},
    {"renorm", "input, p, dim, maxnorm, *, out=None", "torch method in_place", renorm, Type::input},
    {"segment_reduce",
        "data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None",
        "torch", segments, Type::own},
};

}  // namespace

std::vector<Row> statistics_rows() { return operator_rows(statistics_operators); }

}  // namespace stepzero::libraries
