// Operators that put several tensors, or the elements of one, into a grid: meshgrid, products, combinations,
// blocks along a diagonal, powers.
#include "libraries/torch/ops/operators.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

namespace {

// Tensors of one dimension (or none) as parts of a grid.
std::optional<std::vector<Value>> parts_of(Op& op) {
  std::vector<Value> parts = op.call.rest;
  if (parts.size() == 1) {
    const Value only = op.run.resolve(parts[0]);
    if (only.is(Kind::list) || only.is(Kind::tuple)) {
      const auto items = op.run.elements(only, op.call.place);
      if (!items) return std::nullopt;
      parts = *items;
    } else if (!op.tensor(only)) {
      return std::nullopt;
    }
  }
  return parts;
}
Value meshgrid(Op& op) {
  const auto parts = parts_of(op);
  if (!parts) return op.run.heap().open_list(op.unknown());
  std::vector<Dim> dims;
  std::vector<Dtype> dtypes;
  for (const Value& part : *parts) {
    const TensorState* state = require_tensor(op.run, part);
    if (!state) return op.run.heap().open_list(op.unknown());
    if (state->shape.ndim_known && state->shape.dims.size() > 1)
      return op.fail(ProblemKind::argument,
          interpreter::WrongShape{op.taker(), {ShapeNeed::vectors}, "one of them", state->shape});
    dims.push_back(!state->shape.ndim_known ? Dim{}
            : state->shape.dims.empty()     ? op.dim(1)
                                            : state->shape.dims[0]);
    dtypes.push_back(state->dtype);
  }
  const Value indexing = op.argument("indexing");
  if (indexing.is(Kind::string) && indexing.text() != "ij" && indexing.text() != "xy")
    return op.refuse_option("indexing", {"ij", "xy"}, indexing.text());
  if (indexing && !indexing.is(Kind::string)) dims.assign(dims.size(), Dim{});
  if (indexing.is(Kind::string) && indexing.text() == "xy" && dims.size() > 1) std::swap(dims[0], dims[1]);
  std::vector<Value> grids;
  grids.reserve(dtypes.size());
  for (const Dtype dtype : dtypes) grids.push_back(op.result(Shape{true, dims}, dtype));
  return op.tuple(std::move(grids));
}
Value cartesian_product(Op& op) {
  const auto parts = parts_of(op);
  if (!parts || parts->empty()) return op.unknown();
  Int rows = op.s.constant(1);
  Dtype dtype = Dtype::unknown;
  for (const Value& part : *parts) {
    const TensorState* state = require_tensor(op.run, part);
    if (!state) return op.unknown();
    if (state->shape.ndim_known && state->shape.dims.size() != 1)
      return op.fail(ProblemKind::argument,
          interpreter::WrongShape{op.taker(), {ShapeNeed::vectors}, "one of them", state->shape});
    rows = op.mul(rows, state->shape.ndim_known ? state->shape.dims[0].size : nullptr);
    dtype = state->dtype;
  }
  if (parts->size() == 1) return op.result(Shape{true, {op.made(rows)}}, dtype);
  return op.result(Shape{true, {op.made(rows), op.dim(static_cast<std::int64_t>(parts->size()))}}, dtype);
}
Value combinations(Op& op) {
  const TensorState* input = op.expect("input");
  const auto r = op.integer("r");
  if (!input || !r || *r < 0) return op.unknown();
  Dim count;
  const auto n = input->shape.ndim_known && input->shape.dims.size() == 1 ? op.value(input->shape.dims[0])
                                                                          : std::nullopt;
  const Known replacement = op.flag("with_replacement");
  if (n && *n < 1000 && *r < 8 && replacement != Known::unknown) {
    double total = 1;
    const std::int64_t from = replacement == Known::yes ? *n + *r - 1 : *n;
    for (std::int64_t i = 0; i < *r; ++i)
      total = total * static_cast<double>(from - i) / static_cast<double>(i + 1);
    if (total < 1e15)
      count = op.made(op.s.constant(static_cast<std::int64_t>(std::llround(std::max(total, 0.0)))));
  }
  if (*r == 0) return op.result(Shape{true, {op.dim(std::int64_t{0})}}, input->dtype);
  return op.result(Shape{true, {count, op.dim(*r)}}, input->dtype);
}
Value block_diagonal(Op& op) {
  const auto parts = parts_of(op);
  if (!parts) return op.result(Shape{true, {Dim{}, Dim{}}});
  Int rows = op.s.constant(0), columns = rows;
  std::vector<Dtype> dtypes;
  for (const Value& part : *parts) {
    const TensorState* state = require_tensor(op.run, part);
    if (!state || !state->shape.ndim_known) return op.result(Shape{true, {Dim{}, Dim{}}}, Dtype::unknown);
    const auto& dims = state->shape.dims;
    if (dims.size() > 2)
      return op.fail(ProblemKind::argument,
          interpreter::WrongShape{op.taker(), {ShapeNeed::matrices}, "one of them", state->shape});
    rows = op.add(rows, dims.size() == 2 ? dims[0].size : op.s.constant(1));
    columns = op.add(columns, dims.empty() ? op.s.constant(1) : dims.back().size);
  }
  return op.result(Shape{true, {op.made(rows), op.made(columns)}});
}
Value vander(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (!shape.ndim_known) return op.unknown();
  if (shape.dims.empty()) shape.dims.push_back(op.dim(1));
  const Int columns = op.argument("N") ? op.size("N") : shape.dims.back().size;
  shape.dims.push_back(op.made(columns));
  return op.result(shape, is_integral(input->dtype) ? Dtype::int64 : input->dtype);
}

constexpr Operator grid_operators[] = {
    {"meshgrid", "*tensors, indexing=None", "torch torch.functional.meshgrid", meshgrid, Type::own},
    {"cartesian_prod", "*tensors", "torch", cartesian_product, Type::own},
    {"combinations", "input, r=2, with_replacement=False", "torch", combinations, Type::input},
    {"block_diag", "*tensors", "torch", block_diagonal},
    {"vander", "input, N=None, increasing=False", "torch", vander, Type::input},
    {"vander", "input, *, N=None", "linalg", vander, Type::input},
};

}  // namespace

std::vector<Row> grid_rows() { return operator_rows(grid_operators); }

}  // namespace stepzero::libraries
