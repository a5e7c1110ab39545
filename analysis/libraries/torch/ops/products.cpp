// Products of matrices and vectors: what is summed over has the same size on both sides.
#include "libraries/torch/ops/products.hpp"
#include "libraries/torch/nn/layer.hpp"

#include <algorithm>

namespace stepzero::libraries {

void refuse_inner(Op& op, Value a, Value b, const Dim& left, const Dim& right) {
  auto& problem = op.refuse(ProblemKind::inner_dimensions);
  problem.operands = {a, b};
  problem.states = {op.tensor(a), op.tensor(b)};
  problem.left = left;
  problem.right = right;
}
void refuse_pair(Op& op, ProblemKind kind, Value a, Value b) {
  auto& problem = op.refuse(kind);
  problem.operands = {a, b};
  problem.states = {op.tensor(a), op.tensor(b)};
}
bool must_have_rank(Op& op, std::string_view name, std::size_t rank) {
  const ShapeNeed need = rank == 1 ? ShapeNeed{ShapeNeed::vector}
      : rank == 2                  ? ShapeNeed{ShapeNeed::matrix}
                                   : ShapeNeed::exactly(static_cast<int>(rank));
  if (!op.must_be_tensor(name)) return false;
  const TensorState* state = op.expect(name);
  if (!state) return true;
  if (!state->shape.ndim_known) {
    if (state->shape.dims.size() > rank) {
      op.refuse_shape(ProblemKind::product, need, name);
      return false;
    }
    Shape shape{true, std::vector<Dim>(rank)};
    std::copy(state->shape.dims.begin(), state->shape.dims.end(),
        shape.dims.end() - static_cast<std::ptrdiff_t>(state->shape.dims.size()));
    op.learn(name, shape);
    return true;
  }
  if (state->shape.dims.size() == rank) return true;
  op.refuse_shape(ProblemKind::product, need, name);
  return false;
}

Dtype product_dtype(Op& op, Value left, Value right) {
  const TensorState *a = op.tensor(left), *b = op.tensor(right);
  return a && b && a->dtype == b->dtype ? a->dtype : Dtype::unknown;
}
bool dtypes_fit(Op& op, Value left, Value right) {
  const TensorState *a = op.tensor(left), *b = op.tensor(right);
  if (!a || !b || a->dtype == Dtype::unknown || b->dtype == Dtype::unknown || a->dtype == b->dtype)
    return true;
  // What autocast converts may be of two types; who calls what nobody calls may be inside of one.
  const auto cast = [](Dtype dtype) {
    return dtype == Dtype::float32 || dtype == Dtype::float16 || dtype == Dtype::bfloat16;
  };
  if (cast(a->dtype) && cast(b->dtype) && (op.run.casting() || !op.run.knows_default_device())) return true;
  op.fail(ProblemKind::dtype,
      interpreter::MixedDtypes{op.taker(), "the first", "the second", a->dtype, b->dtype});
  return false;
}

namespace {

// ---------------------------------------------------------------- matmul

// Two different batches of matrices of one shape, [B, N, D] and [B, N, D], fit only where N is D by chance:
// the second was to be transposed.
void doubt_equal_shapes(Op& op, Value left, Value right, const Shape& x, const Shape& y) {
  if (!x.ndim_known || !y.ndim_known || x.dims.size() < 3 || x.dims.size() != y.dims.size() ||
      left.object() == right.object())
    return;
  const Dim rows = from_right(x, 1), columns = from_right(x, 0);
  if (!rows.size || !columns.size || op.s.varies(rows.size) || op.s.varies(columns.size) ||
      op.equal(rows, columns) != Answer::unknown || op.equal(rows, from_right(y, 1)) != Answer::yes ||
      op.equal(columns, from_right(y, 0)) != Answer::yes)
    return;
  op.fail_when(op.s.logical_not(op.s.compared(symbolic::Compare::eq, rows.size, columns.size)),
      ProblemKind::product,
      why<Reason::inner_sizes>(op.name(op.call.row.parameters[0].text()), x,
          op.name(op.call.row.parameters[1].text()), y, columns, rows));
}

Value multiply(Op& op, Value left, Value right) {
  const TensorState* a = require_tensor(op.run, left);
  const TensorState* b = require_tensor(op.run, right);
  if (!a || !b) return op.unknown();
  const Dtype dtype = product_dtype(op, left, right);
  const Shape x = a->shape, y = b->shape;
  const bool vector_left = has_rank(x, 1), vector_right = has_rank(y, 1), matrix_right = y.dims.size() >= 2;
  if (has_rank(x, 0) || has_rank(y, 0)) {
    refuse_pair(op, ProblemKind::ndim, left, right);
    return op.result({}, dtype);
  }
  const Dim inner_left = from_right(x, 0);
  // A vector on the right is summed over its only dimension.
  const Dim inner_right = vector_right ? from_right(y, 0) : matrix_right ? from_right(y, 1) : Dim{};
  doubt_equal_shapes(op, left, right, x, y);
  if (!op.must_equal(inner_left, inner_right)) {
    refuse_inner(op, left, right, inner_left, inner_right);
  } else if (!op.run.guarded()) {
    // Each side teaches the other.
    if (inner_right.size && !inner_left.size) {
      TensorState learned = *a;
      if (learned.shape.dims.empty())
        learned.shape.dims.push_back(inner_right);
      else
        learned.shape.dims.back() = inner_right;
      learned.shape_value = {};
      set_state(op.run, left, learned);
    } else if (inner_left.size && !inner_right.size && y.ndim_known) {
      TensorState learned = *b;
      learned.shape.dims[vector_right ? 0 : learned.shape.dims.size() - 2] = inner_left;
      set_state(op.run, right, learned);
    }
  }
  Shape shape;
  if (x.ndim_known && y.ndim_known) {
    Shape batch_left{true, {}}, batch_right{true, {}};
    if (!vector_left) batch_left.dims.assign(x.dims.begin(), x.dims.end() - 2);
    if (!vector_right) batch_right.dims.assign(y.dims.begin(), y.dims.end() - 2);
    bool impossible = false;
    const auto batch = libraries::broadcast(op.run, batch_left, batch_right, &impossible);
    if (impossible && !op.failed()) refuse_pair(op, ProblemKind::batch_dimensions, left, right);
    if (batch) {
      shape = *batch;
      if (!vector_left) shape.dims.push_back(from_right(x, 1));
      if (!vector_right) shape.dims.push_back(from_right(y, 0));
    }
  } else if (has_rank(y, 2) && !x.dims.empty()) {
    // Whatever stands in front of the summed dimension stays.
    shape.dims = x.dims;
    shape.dims.back() = y.dims[1];
  } else if (matrix_right) {
    shape.dims = {from_right(y, 0)};
    if (x.dims.size() >= 2) shape.dims.insert(shape.dims.begin(), from_right(x, 1));
  }
  if (!op.failed() && !dtypes_fit(op, left, right)) return op.unknown();
  const Value made = op.result(shape, dtype);
  // Where the left is folded into the right, the result is transposed.
  return x.ndim_known && y.ndim_known && x.dims.size() >= y.dims.size() ? op.in_order(made) : made;
}
Value matmul(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  return multiply(op, op.argument("input"), op.argument("other"));
}
// mm and bmm: exactly so many dimensions, and no broadcasting.
Value multiply_exact(Op& op, std::size_t rank) {
  const Value left = op.argument(op.call.row.parameters[0].text()),
              right = op.argument(op.call.row.parameters[1].text());
  for (std::size_t i = 0; i < 2; ++i)
    if (!op.must_be_tensor(op.call.row.parameters[i].text())) return op.unknown();
  for (const Value& operand : {left, right})
    if (const TensorState* state = op.tensor(operand);
        state && state->shape.ndim_known && state->shape.dims.size() != rank) {
      refuse_pair(op, ProblemKind::ndim, left, right);
      return op.unknown();
    }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if (const TensorState* state = op.expect(name);
        state && !state->shape.ndim_known && !must_have_rank(op, name, rank))
      return op.unknown();
  }
  if (rank == 3) {
    const Dim a = dim_at(op.shape(op.call.row.parameters[0].text()), 0),
              b = dim_at(op.shape(op.call.row.parameters[1].text()), 0);
    if (!op.must_equal(a, b)) {
      refuse_pair(op, ProblemKind::batch_dimensions, left, right);
      return op.unknown();
    }
  }
  return multiply(op, left, right);
}
Value mm(Op& op) { return multiply_exact(op, 2); }
Value bmm(Op& op) { return multiply_exact(op, 3); }

// The rows of one matrix, parted by `offs`, times one matrix each; or any other way to part two operands into
// groups.
Value grouped(Op& op) {
  const std::string_view left_name = op.call.row.parameters[0].text(),
                         right_name = op.call.row.parameters[1].text();
  for (const std::string_view name : {left_name, right_name})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect(left_name), *b = op.expect(right_name);
  if (!a || !b) return op.unknown();
  for (const std::string_view name : {left_name, right_name})
    if (const Shape& shape = op.shape(name);
        shape.ndim_known && shape.dims.size() != 2 && shape.dims.size() != 3)
      return op.fail(ProblemKind::product,
          interpreter::WrongShape{op.taker(), ShapeNeed::between(2, 3), op.name(name), shape});
  const bool parted = op.tensor("offs");
  // With offsets one of the two is a matrix.
  if (parted && has_rank(op.shape(right_name), 3) && !must_have_rank(op, left_name, 2)) return op.unknown();
  if (parted && has_rank(op.shape(left_name), 3) && !must_have_rank(op, right_name, 2)) return op.unknown();
  if (parted && !must_have_rank(op, "offs", 1)) return op.unknown();
  const Shape x = op.shape(left_name), y = op.shape(right_name);
  const Value left = op.argument(left_name), right = op.argument(right_name);
  const Dim arrives = from_right(x, 0), wanted = from_right(y, 1);
  if (!op.must_equal(arrives, wanted)) {
    refuse_inner(op, left, right, arrives, wanted);
    return op.unknown();
  }
  const Dtype dtype = op.dtype("out_dtype", product_dtype(op, left, right));
  if (const Dim taught[] = {wanted}; wanted.size && !arrives.size) op.learn_last(left_name, taught);
  if (!x.ndim_known || !y.ndim_known) return op.result({}, dtype);
  Shape shape{true, {from_right(x, 1), from_right(y, 0)}};
  if (x.dims.size() == y.dims.size())
    shape.dims.insert(shape.dims.begin(),
        x.dims.size() == 3 ? op.better(x.dims[0], y.dims[0]) : dim_at(op.shape("offs"), 0));
  return op.result(shape, dtype);
}

// grouped_gemm: the rows of `a`, parted by how many each group has, times one matrix of `b` each.
Value grouped_rows(Op& op) {
  const Known turned = op.flag("trans_b");
  if (!op.call.rest.empty() || !op.call.options.empty() || turned == Known::unknown) return op.unknown();
  if (!must_have_rank(op, "a", 2) || !must_have_rank(op, "b", 3)) return op.unknown();
  const Shape x = op.shape("a"), y = op.shape("b");
  const std::size_t inner = turned == Known::yes ? 2 : 1;
  if (!op.must_equal(dim_at(x, 1), dim_at(y, inner))) {
    refuse_inner(op, op.argument("a"), op.argument("b"), dim_at(x, 1), dim_at(y, inner));
    return op.unknown();
  }
  if (const Dim taught[] = {dim_at(y, inner)}; taught[0].size && !dim_at(x, 1).size)
    op.learn_last("a", taught);
  return op.result(
      {true, {dim_at(x, 0), dim_at(y, 3 - inner)}}, product_dtype(op, op.argument("a"), op.argument("b")));
}
// Each row as often as groups were chosen for it, in the order of the groups; and where each comes from.
Value rows_by_group(Op& op) {
  const TensorState *rows = op.expect("input_act"), *indices = op.expect("indices");
  if (!rows || !indices || op.argument("num_out_tokens")) return op.unknown();
  const Int count = indices->shape.ndim_known ? op.product(indices->shape.dims) : nullptr;
  const Dim made = count ? op.made(count) : Dim{};
  return op.tuple({op.result({true, {made, from_right(op.shape("input_act"), 0)}}, rows->dtype),
      op.result({true, {made}}, Dtype::int32)});
}
Value rows_in_order(Op& op) {
  const TensorState* rows = op.expect("input_act");
  if (!rows) return op.unknown();
  const TensorState* shares = op.tensor("probs");
  const bool known = shares && shares->shape.ndim_known && shares->shape.dims.size() == 2;
  return op.result(
      {true, {known ? shares->shape.dims[0] : Dim{}, from_right(op.shape("input_act"), 0)}}, rows->dtype);
}

// input @ weightᵀ + bias: the function of nn.Linear.
Value linear(Op& op) {
  for (const std::string_view name : {"input", "weight"})
    if (!op.must_be_tensor(name)) return op.unknown();
  constexpr std::string_view usual[] = {"out_features", "in_features"};
  const TensorState *input = op.expect("input"), *weight = take_usual(op, "weight", usual);
  if (!input || !weight) return op.unknown();
  const Value left = op.argument("input"), right = op.argument("weight");
  // The operands have one dtype, so it is enough to know one of them.
  const Dtype dtype = input->dtype == Dtype::unknown ? weight->dtype
      : weight->dtype == Dtype::unknown              ? input->dtype
                                                     : product_dtype(op, left, right);
  const Dim arrives[] = {from_right(input->shape, 0)}, wanted[] = {from_right(weight->shape, 0)};
  if (!op.must_equal(arrives[0], wanted[0])) {
    refuse_inner(op, left, right, arrives[0], wanted[0]);
  } else {
    if (!dtypes_fit(op, left, right)) return op.unknown();
    // Each side teaches the other.
    if (wanted[0].size && !arrives[0].size)
      op.learn_last("input", wanted);
    else if (arrives[0].size && !wanted[0].size)
      op.learn_last("weight", arrives);
  }
  Shape shape = op.shape("input");
  if (has_rank(op.shape("weight"), 1)) {
    if (!shape.dims.empty()) shape.dims.pop_back();
    return op.result(shape, dtype);
  }
  const Dim last[] = {from_right(op.shape("weight"), 1)};
  return op.in_order(op.result(with_last(shape, last), dtype));
}

// ---------------------------------------------------------------- with something added

// input + mat1 @ mat2: `input` is broadcast to the product.
Value added(Op& op, const Shape& product, Dtype dtype) {
  if (op.failed()) return op.unknown();
  const TensorState* input = op.expect("input");
  if (input && input->shape.ndim_known && product.ndim_known) {
    bool fits = input->shape.dims.size() <= product.dims.size();
    for (std::size_t i = 0; fits && i < input->shape.dims.size(); ++i) {
      const Dim have = from_right(input->shape, i), want = from_right(product, i);
      fits = op.equal(have, want) != Answer::no || op.equal(have, 1) != Answer::no;
    }
    if (!fits)
      return op.fail(
          ProblemKind::broadcast, why<Reason::product_broadcast>(product, op.name("input"), input->shape));
  }
  return op.result(product, dtype);
}
// Signatures that PyTorch no longer documents have their factors among the tensors.
bool old_form(const Op& op) { return !op.call.rest.empty(); }

Value add_product(
    Op& op, std::string_view first, std::string_view second, std::size_t rank, bool sum_of_batch) {
  if (old_form(op)) return op.unknown();
  if (!must_have_rank(op, first, rank) || !must_have_rank(op, second, rank)) return op.unknown();
  const Shape x = op.shape(first), y = op.shape(second);
  if (!x.ndim_known || !y.ndim_known) return op.unknown();
  if (!op.must_equal(x.dims[rank - 1], y.dims[rank - 2])) {
    refuse_inner(op, op.argument(first), op.argument(second), x.dims[rank - 1], y.dims[rank - 2]);
    return op.unknown();
  }
  if (rank == 3 && !op.must_equal(x.dims[0], y.dims[0])) {
    refuse_pair(op, ProblemKind::batch_dimensions, op.argument(first), op.argument(second));
    return op.unknown();
  }
  Shape product{true, {}};
  if (rank == 3 && !sum_of_batch) product.dims.push_back(op.better(x.dims[0], y.dims[0]));
  product.dims.push_back(x.dims[rank - 2]);
  product.dims.push_back(y.dims[rank - 1]);
  return added(op, product, product_dtype(op, op.argument(first), op.argument(second)));
}
Value addmm(Op& op) { return add_product(op, "mat1", "mat2", 2, false); }
Value baddbmm(Op& op) { return add_product(op, "batch1", "batch2", 3, false); }
Value addbmm(Op& op) { return add_product(op, "batch1", "batch2", 3, true); }
// The matrix and the vector after it.
std::optional<Shape> matrix_times_vector(Op& op, std::string_view matrix, std::string_view vector) {
  if (!must_have_rank(op, matrix, 2) || !must_have_rank(op, vector, 1)) return std::nullopt;
  const Shape x = op.shape(matrix), y = op.shape(vector);
  if (!op.must_equal(dim_at(x, 1), dim_at(y, 0))) {
    refuse_inner(op, op.argument(matrix), op.argument(vector), dim_at(x, 1), dim_at(y, 0));
    return std::nullopt;
  }
  return Shape{true, {dim_at(x, 0)}};
}
Value mv(Op& op) {
  const auto shape = matrix_times_vector(op, "input", "vec");
  return shape ? op.result(*shape, product_dtype(op, op.argument("input"), op.argument("vec")))
               : op.unknown();
}
Value addmv(Op& op) {
  if (old_form(op)) return op.unknown();
  const auto shape = matrix_times_vector(op, "mat", "vec");
  return shape ? added(op, *shape, product_dtype(op, op.argument("mat"), op.argument("vec"))) : op.unknown();
}
std::optional<Shape> outer_shape(Op& op, std::string_view first, std::string_view second) {
  if (!must_have_rank(op, first, 1) || !must_have_rank(op, second, 1)) return std::nullopt;
  return Shape{true, {dim_at(op.shape(first), 0), dim_at(op.shape(second), 0)}};
}
Value outer(Op& op) {
  const auto shape = outer_shape(op, "input", "vec2");
  return shape ? op.result(*shape) : op.unknown();
}
Value addr(Op& op) {
  if (old_form(op)) return op.unknown();
  const auto shape = outer_shape(op, "vec1", "vec2");
  return shape ? added(op, *shape, op.promoted({"input", "vec1", "vec2"})) : op.unknown();
}

// ---------------------------------------------------------------- vectors

Value dot(Op& op) {
  const std::string_view second = op.call.row.parameters[1].text();
  if (!must_have_rank(op, "input", 1) || !must_have_rank(op, second, 1)) return op.unknown();
  const Dim a = dim_at(op.shape("input"), 0), b = dim_at(op.shape(second), 0);
  if (!op.must_equal(a, b)) {
    refuse_inner(op, op.argument("input"), op.argument(second), a, b);
    return op.unknown();
  }
  return op.result({true, {}}, product_dtype(op, op.argument("input"), op.argument(second)));
}
// Over the last dimensions of both.
Value inner(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("other");
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known) return op.unknown();
  const Dtype dtype = op.promoted({"input", "other"});
  if (a->shape.dims.empty() || b->shape.dims.empty())
    return op.result(a->shape.dims.empty() ? b->shape : a->shape, dtype);
  if (!op.must_equal(a->shape.dims.back(), b->shape.dims.back())) {
    refuse_inner(op, op.argument("input"), op.argument("other"), a->shape.dims.back(), b->shape.dims.back());
    return op.unknown();
  }
  Shape shape{true, {a->shape.dims.begin(), a->shape.dims.end() - 1}};
  shape.dims.insert(shape.dims.end(), b->shape.dims.begin(), b->shape.dims.end() - 1);
  return op.result(shape, dtype);
}
// The sizes along `dim`, broadcast and summed over.
Value vecdot(Op& op) {
  const auto shape = op.broadcast(op.shape("input"), op.shape("y"));
  if (!shape || !shape->ndim_known) return op.unknown();
  const auto at = op.axis("dim", shape->dims.size());
  return at ? op.result(without(op, *shape, *at, false)) : op.unknown();
}
// Three coordinates along one dimension.
Value cross(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const Shape x = op.shape("input"), y = op.shape("other");
  if (x.ndim_known && y.ndim_known && x.dims.size() != y.dims.size() &&
      op.call.row.path.starts_with("torch.linalg"))
    return op.fail(ProblemKind::product,
        interpreter::ShapesApart{interpreter::ShapesApart::dimensions, op.taker(),
            {{op.name("input"), x}, {op.name("other"), y}}});
  const auto shape = op.broadcast(x, y);
  if (!shape) return op.unknown();
  if (shape->ndim_known && op.argument("dim")) {
    const auto at = op.axis("dim", shape->dims.size());
    if (op.failed()) return op.unknown();
    const bool linear = op.call.row.path.starts_with("torch.linalg");
    if (at && linear)
      for (const Shape* side : {&x, &y})
        if (side->ndim_known && *at < side->dims.size() && op.equal(side->dims[*at], 3) == Answer::no)
          return op.fail(ProblemKind::product, why<Reason::cross_coordinates>(*at, *side, side->dims[*at]),
              {side->dims[*at]});
    if (at && !shape->dims.empty() && op.equal(shape->dims[*at], 3) == Answer::no)
      return op.fail(ProblemKind::product, why<Reason::cross_coordinates>(*at, *shape, shape->dims[*at]),
          {shape->dims[*at]});
  } else if (shape->ndim_known) {
    if (std::all_of(shape->dims.begin(), shape->dims.end(),
            [&](const Dim& dim) { return op.equal(dim, 3) == Answer::no; }))
      return op.fail(ProblemKind::product, why<Reason::cross_no_coordinates>(*shape));
  }
  return op.result(*shape);
}

constexpr Operator product_operators[] = {
    {"matmul", "input, other, *, out=None", "torch method linalg torch.Tensor.__matmul__", matmul, Type::own},
    {"mm", "input, mat2, *, out=None", "torch method", mm, Type::own},
    {"spmm", "input, mat2, *, out=None", "torch", mm, Type::own},
    {"bmm", "input, mat2, *, out=None", "torch method", bmm, Type::own},
    {"_grouped_mm", "self, mat2, offs=None, bias=None, out_dtype=None", "torch", grouped, Type::own},
    {"grouped_mm", "mat_a, mat_b, *, offs=None, bias=None, out_dtype=None", "F", grouped, Type::own},
    {"mv", "input, vec, *, out=None", "torch method", mv, Type::own},
    {"dot", "input, tensor, *, out=None", "torch method", dot, Type::own},
    {"vdot", "input, other, *, out=None", "torch method", dot, Type::own},
    {"inner", "input, other, *, out=None", "torch method", inner, Type::own},
    {"outer", "input, vec2, *, out=None", "torch method torch.ger torch.Tensor.ger", outer},
    {"addmm", "input, mat1, mat2, *more, beta=1, alpha=1, out=None", "torch method in_place", addmm,
        Type::own},
    {"baddbmm", "input, batch1, batch2, *more, beta=1, alpha=1, out=None", "torch method in_place", baddbmm,
        Type::own},
    {"addbmm", "input, batch1, batch2, *more, beta=1, alpha=1, out=None", "torch method", addbmm, Type::own},
    {"addbmm_", "input, batch1, batch2, *more, beta=1, alpha=1", "method", addbmm,
        Type::own},  // grows its subject where it must
    {"addmv", "input, mat, vec, *more, beta=1, alpha=1, out=None", "torch method in_place", addmv, Type::own},
    {"addr", "input, vec1, vec2, *more, beta=1, alpha=1, out=None", "torch method in_place", addr, Type::own},
    {"linear", "input, weight, bias=None", "F", linear, Type::own},
    {"vecdot", "input, y, *, dim=-1, out=None", "linalg", vecdot},
    {"cross", "input, other, dim=None, *, out=None", "torch method", cross},
    {"cross", "input, other, *, dim=-1, out=None", "linalg", cross},
};

// The counts of rows lie on the CPU, whatever the rows lie on.
constexpr Operator of_grouped_gemm[] = {
    {"gmm", "a, b, batch_sizes, trans_b=False, *more, **options", "grouped_gemm.ops.gmm", grouped_rows,
        Type::own},
    {"permute", "input_act, indices, num_out_tokens=None, max_token_num=0", "grouped_gemm.ops.permute",
        rows_by_group, Type::own},
    {"unpermute", "input_act, row_id_map, probs=None", "grouped_gemm.ops.unpermute", rows_in_order,
        Type::own},
};

}  // namespace

std::vector<Row> grouped_gemm_rows() { return operator_rows(of_grouped_gemm); }
std::vector<Row> product_rows() { return operator_rows(product_operators); }

}  // namespace stepzero::libraries
