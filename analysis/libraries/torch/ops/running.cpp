// Operators that run along a dimension: sums so far, differences, gradients, areas.
#include "libraries/torch/ops/reductions.hpp"

namespace stepzero::libraries {

namespace {

Value running(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_axis(op, input->shape)) return op.unknown();
  return op.result(input->shape, op.dtype("dtype", is_integral(input->dtype) ? Dtype::int64 : input->dtype));
}
Value running_log(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_axis(op, input->shape)) return op.unknown();
  return op.result(input->shape, input->dtype);
}
Value diff(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.ndim_known && shape.dims.empty())
    return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(1), "input");
  const auto n = op.integer("n");
  if (n && *n < 0) return op.refuse_value("n", 0, {}, op.dim(*n));
  const auto axes = named_axes(op, shape, "dim");
  if (op.failed()) return op.unknown();
  if (!axes || axes->known.size() != 1)
    return op.result(
        shape.ndim_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{}, input->dtype);
  const std::size_t at = axes->known.front();
  Int size = shape.dims[at].size;
  for (const std::string_view name : {"prepend", "append"}) {
    if (!op.argument(name)) continue;
    const Shape& more = op.shape(name);
    if (more.ndim_known && shape.ndim_known && more.dims.size() != shape.dims.size())
      return op.fail(ProblemKind::argument,
          interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
              {{op.name("input"), shape}, {op.name(name), more}}});
    const Dim extra = shape.dims.size() - at <= more.dims.size()
        ? more.dims[more.dims.size() - (shape.dims.size() - at)]
        : Dim{};
    size = op.add(size, extra.size);
  }
  if (n == 0) return op.result(input->shape, input->dtype);
  size = n && size ? op.s.max(op.s.sub(size, op.s.constant(*n)), op.s.constant(0)) : nullptr;
  // PyTorch takes no more differences than there are.
  shape.dims[at] = op.made(size);
  return op.result(shape, input->dtype == Dtype::boolean ? Dtype::boolean : input->dtype);
}
Value gradient(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  const auto order = op.integer("edge_order");
  if (order && *order != 1 && *order != 2) return op.refuse_value("edge_order", 1, 2, op.dim(*order));
  const Value spacing = op.argument("spacing");
  std::size_t count = shape.dims.size();
  std::vector<std::size_t> over;
  if (op.argument("dim")) {
    if (!shape.ndim_known) return op.run.heap().open_list(op.unknown());
    const auto axes = op.axes("dim", shape.dims.size());
    if (op.failed()) return op.unknown();
    if (!axes) return op.run.heap().open_list(op.result(shape, to_floating(input->dtype)));
    over = *axes;
    count = over.size();
  } else {
    if (!shape.ndim_known) return op.run.heap().open_list(op.result({}, to_floating(input->dtype)));
    for (std::size_t i = 0; i < count; ++i) over.push_back(i);
  }
  if (spacing.is(Kind::list) || spacing.is(Kind::tuple))
    if (const auto items = op.run.elements(spacing, op.call.place); items && items->size() != count)
      return op.refuse_count(ProblemKind::argument, items->size(), "spacing", count, "dimension");
  for (const std::size_t at : over)
    if (order && op.value(shape.dims[at]) && *op.value(shape.dims[at]) < *order + 1)
      return op.fail(ProblemKind::argument,
          why<Reason::gradient_elements>(*order + 1, at, shape, shape.dims[at]), {shape.dims[at]});
  std::vector<Value> parts;
  parts.reserve(count);
  for (std::size_t i = 0; i < count; ++i) parts.push_back(op.result(shape, to_floating(input->dtype)));
  return op.tuple(std::move(parts));
}
// The area under y along a dimension: whole, or so far.
Value area(Op& op) {
  const TensorState* y = op.expect("y");
  if (!y) return op.unknown();
  Shape shape = y->shape;
  const TensorState* x = op.tensor("x");
  if (op.argument("x") && !x) return op.unknown();
  if (!shape.ndim_known || (x && !x->shape.ndim_known)) return op.unknown();
  if (shape.dims.empty()) return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_least(1), "y");
  const auto at = op.axis("dim", shape.dims.size());
  if (!at) return op.unknown();
  if (x && x->shape.dims.size() > 1) {
    const auto both = op.broadcast(shape, x->shape);
    if (!both) return op.unknown();
    shape = *both;
  }
  const Dtype dtype = to_floating(op.promoted({"y", "x"}));
  if (op.title().starts_with("cumulative")) {
    if (*at < shape.dims.size()) shape.dims[*at] = op.made(op.sub(shape.dims[*at].size, op.s.constant(1)));
    return op.result(shape, dtype);
  }
  return op.result(without(op, shape, *at, false), dtype);
}

constexpr Operator running_operators[] = {
    {"cumsum", "input, dim, *, dtype=None, out=None", "torch method in_place", running, Type::own},
    {"cumprod", "input, dim, *, dtype=None, out=None", "torch method in_place", running, Type::own},
    {"logcumsumexp", "input, dim, *, out=None", "torch method", running_log, Type::input},
    {"diff", "input, n=1, dim=-1, prepend=None, append=None, *, out=None", "torch method", diff, Type::input},
    {"gradient", "input, *, spacing=1, dim=None, edge_order=1", "torch", gradient, Type::own},
    {"trapezoid", "y, x=None, *, dx=None, dim=-1", "torch torch.trapz", area, Type::own},
    {"cumulative_trapezoid", "y, x=None, *, dx=None, dim=-1", "torch", area, Type::own},
};

}  // namespace

std::vector<Row> running_rows() { return operator_rows(running_operators); }

}  // namespace stepzero::libraries
