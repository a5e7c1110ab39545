// Products of matrices, vectors and tensors: what is summed over has the same size on both sides.
#include "torch/layer.hpp"
#include "torch/operators.hpp"

#include <algorithm>
#include <map>

namespace stepzero::torch {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {

// ---------------------------------------------------------------- what can go wrong

// The sizes `left` of `a` and `right` of `b` would be summed over together.
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
bool has_rank(const Shape& shape, std::size_t rank) { return shape.rank_known && shape.dims.size() == rank; }
// False, after fail(), if the argument is a tensor of another rank. What is not known is held to be of this one.
bool must_have_rank(Op& op, std::string_view name, std::size_t rank, std::string_view what) {
  if (!op.must_be_tensor(name)) return false;
  const TensorState* state = op.expect(name);
  if (!state) return true;
  if (!state->shape.rank_known) {
    if (state->shape.dims.size() > rank) {
      op.fail(ProblemKind::product,
              std::string(op.title()) + " takes " + std::string(what) + ", and " + op.name(name) + " is " + op.words(state->shape));
      return false;
    }
    Shape shape{true, std::vector<Dim>(rank)};
    std::copy(state->shape.dims.begin(), state->shape.dims.end(), shape.dims.end() - static_cast<std::ptrdiff_t>(state->shape.dims.size()));
    op.learn(name, shape);
    return true;
  }
  if (state->shape.dims.size() == rank) return true;
  op.fail(ProblemKind::product, std::string(op.title()) + " takes " + std::string(what) + ", and " + op.name(name) + " is " + op.words(state->shape));
  return false;
}
// A dimension of a shape of known rank; unknown else.
Dim dim_at(const Shape& shape, std::size_t i) { return shape.rank_known && i < shape.dims.size() ? shape.dims[i] : Dim{}; }

Dtype product_dtype(Op& op, Value left, Value right) {
  const TensorState *a = op.tensor(left), *b = op.tensor(right);
  return a && b && a->dtype == b->dtype ? a->dtype : Dtype::unknown;
}
// Integers with floats: no product takes them, under autocast neither.
bool dtypes_fit(Op& op, Value left, Value right) {
  const TensorState *a = op.tensor(left), *b = op.tensor(right);
  if (!a || !b || a->dtype == Dtype::unknown || b->dtype == Dtype::unknown || is_integral(a->dtype) == is_integral(b->dtype)) return true;
  op.fail(ProblemKind::dtype, std::string(op.title()) + " takes operands of one dtype, and is given " + std::string(values::name(a->dtype)) +
                                  " and " + std::string(values::name(b->dtype)));
  return false;
}

// ---------------------------------------------------------------- matmul

Value multiply(Op& op, Value left, Value right) {
  const TensorState* a = require_tensor(op.run, left);
  const TensorState* b = require_tensor(op.run, right);
  if (!a || !b) return op.unknown();
  const Dtype dtype = product_dtype(op, left, right);
  const Shape x = a->shape, y = b->shape;
  const bool vector_left = has_rank(x, 1), vector_right = has_rank(y, 1), matrix_right = y.dims.size() >= 2;
  if (has_rank(x, 0) || has_rank(y, 0)) {
    refuse_pair(op, ProblemKind::rank, left, right);
    return op.result({}, dtype);
  }
  const Dim inner_left = from_right(x, 0);
  // A vector on the right is summed over its only dimension.
  const Dim inner_right = vector_right ? from_right(y, 0) : matrix_right ? from_right(y, 1) : Dim{};
  if (!op.must_equal(inner_left, inner_right)) {
    refuse_inner(op, left, right, inner_left, inner_right);
  } else if (!op.run.guarded()) {
    // Each side teaches the other.
    if (inner_right.size && !inner_left.size) {
      TensorState learned = *a;
      if (learned.shape.dims.empty()) learned.shape.dims.push_back(inner_right);
      else learned.shape.dims.back() = inner_right;
      learned.shape_value = {};
      set_state(op.run, left, learned);
    } else if (inner_left.size && !inner_right.size && y.rank_known) {
      TensorState learned = *b;
      learned.shape.dims[vector_right ? 0 : learned.shape.dims.size() - 2] = inner_left;
      set_state(op.run, right, learned);
    }
  }
  Shape shape;
  if (x.rank_known && y.rank_known) {
    Shape batch_left{true, {}}, batch_right{true, {}};
    if (!vector_left) batch_left.dims.assign(x.dims.begin(), x.dims.end() - 2);
    if (!vector_right) batch_right.dims.assign(y.dims.begin(), y.dims.end() - 2);
    bool impossible = false;
    const auto batch = torch::broadcast(op.run, batch_left, batch_right, &impossible);
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
  return x.rank_known && y.rank_known && x.dims.size() >= y.dims.size() ? op.in_order(made) : made;
}
Value matmul(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  return multiply(op, op.argument("input"), op.argument("other"));
}
// mm and bmm: exactly so many dimensions, and no broadcasting.
Value multiply_exact(Op& op, std::size_t rank) {
  const Value left = op.argument(op.call.row.parameters[0].text()), right = op.argument(op.call.row.parameters[1].text());
  for (std::size_t i = 0; i < 2; ++i)
    if (!op.must_be_tensor(op.call.row.parameters[i].text())) return op.unknown();
  for (const Value& operand : {left, right})
    if (const TensorState* state = op.tensor(operand); state && state->shape.rank_known && state->shape.dims.size() != rank) {
      refuse_pair(op, ProblemKind::rank, left, right);
      return op.unknown();
    }
  for (std::size_t i = 0; i < 2; ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if (const TensorState* state = op.expect(name);
        state && !state->shape.rank_known && !must_have_rank(op, name, rank, "tensors of that many dimensions"))
      return op.unknown();
  }
  if (rank == 3) {
    const Dim a = dim_at(op.shape(op.call.row.parameters[0].text()), 0), b = dim_at(op.shape(op.call.row.parameters[1].text()), 0);
    if (!op.must_equal(a, b)) {
      refuse_pair(op, ProblemKind::batch_dimensions, left, right);
      return op.unknown();
    }
  }
  return multiply(op, left, right);
}
Value mm(Op& op) { return multiply_exact(op, 2); }
Value bmm(Op& op) { return multiply_exact(op, 3); }

// input @ weightᵀ + bias: the function of nn.Linear.
Value linear(Op& op) {
  for (const std::string_view name : {"input", "weight"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *input = op.expect("input"), *weight = op.expect("weight");
  if (!input || !weight) return op.unknown();
  const Value left = op.argument("input"), right = op.argument("weight");
  // The operands have one dtype, so it is enough to know one of them.
  const Dtype dtype = input->dtype == Dtype::unknown ? weight->dtype : weight->dtype == Dtype::unknown ? input->dtype : product_dtype(op, left, right);
  const Dim arrives[] = {from_right(input->shape, 0)}, wanted[] = {from_right(weight->shape, 0)};
  if (!op.must_equal(arrives[0], wanted[0])) {
    refuse_inner(op, left, right, arrives[0], wanted[0]);
  } else {
    if (!dtypes_fit(op, left, right)) return op.unknown();
    // Each side teaches the other.
    if (wanted[0].size && !arrives[0].size) op.learn_last("input", wanted);
    else if (arrives[0].size && !wanted[0].size) op.learn_last("weight", arrives);
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
  if (input && input->shape.rank_known && product.rank_known) {
    bool fits = input->shape.dims.size() <= product.dims.size();
    for (std::size_t i = 0; fits && i < input->shape.dims.size(); ++i) {
      const Dim have = from_right(input->shape, i), want = from_right(product, i);
      fits = op.equal(have, want) != Answer::no || op.equal(have, 1) != Answer::no;
    }
    if (!fits)
      return op.fail(ProblemKind::broadcast, "The product is " + op.words(product) + ", and " + op.name("input") + " " + op.words(input->shape) +
                                                 " cannot be broadcast to it");
  }
  return op.result(product, dtype);
}
// Signatures that PyTorch no longer documents have their factors among the tensors.
bool old_form(const Op& op) { return !op.call.rest.empty(); }

Value add_product(Op& op, std::string_view first, std::string_view second, std::size_t rank, bool sum_of_batch) {
  if (old_form(op)) return op.unknown();
  const std::string_view what = rank == 2 ? "matrices" : "batches of matrices";
  if (!must_have_rank(op, first, rank, what) || !must_have_rank(op, second, rank, what)) return op.unknown();
  const Shape x = op.shape(first), y = op.shape(second);
  if (!x.rank_known || !y.rank_known) return op.unknown();
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
// The matrix and the vector behind it.
std::optional<Shape> matrix_times_vector(Op& op, std::string_view matrix, std::string_view vector) {
  if (!must_have_rank(op, matrix, 2, "a matrix and a vector") || !must_have_rank(op, vector, 1, "a matrix and a vector")) return std::nullopt;
  const Shape x = op.shape(matrix), y = op.shape(vector);
  if (!op.must_equal(dim_at(x, 1), dim_at(y, 0))) {
    refuse_inner(op, op.argument(matrix), op.argument(vector), dim_at(x, 1), dim_at(y, 0));
    return std::nullopt;
  }
  return Shape{true, {dim_at(x, 0)}};
}
Value mv(Op& op) {
  const auto shape = matrix_times_vector(op, "input", "vec");
  return shape ? op.result(*shape, product_dtype(op, op.argument("input"), op.argument("vec"))) : op.unknown();
}
Value addmv(Op& op) {
  if (old_form(op)) return op.unknown();
  const auto shape = matrix_times_vector(op, "mat", "vec");
  return shape ? added(op, *shape, product_dtype(op, op.argument("mat"), op.argument("vec"))) : op.unknown();
}
std::optional<Shape> outer_shape(Op& op, std::string_view first, std::string_view second) {
  if (!must_have_rank(op, first, 1, "two vectors") || !must_have_rank(op, second, 1, "two vectors")) return std::nullopt;
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
  if (!must_have_rank(op, "input", 1, "two vectors") || !must_have_rank(op, second, 1, "two vectors")) return op.unknown();
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
  if (!a || !b || !a->shape.rank_known || !b->shape.rank_known) return op.unknown();
  const Dtype dtype = op.promoted({"input", "other"});
  if (a->shape.dims.empty() || b->shape.dims.empty()) return op.result(a->shape.dims.empty() ? b->shape : a->shape, dtype);
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
  if (!shape || !shape->rank_known) return op.unknown();
  const auto at = op.axis("dim", shape->dims.size());
  return at ? op.result(without(op, *shape, *at, false)) : op.unknown();
}
// Three coordinates along one dimension.
Value cross(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const Shape x = op.shape("input"), y = op.shape("other");
  if (x.rank_known && y.rank_known && x.dims.size() != y.dims.size() && op.call.row.path.starts_with("torch.linalg"))
    return op.fail(ProblemKind::product, "cross takes tensors of as many dimensions, and is given " + op.words(x) + " and " + op.words(y));
  const auto shape = op.broadcast(x, y);
  if (!shape) return op.unknown();
  if (shape->rank_known && op.argument("dim")) {
    const auto at = op.axis("dim", shape->dims.size());
    if (op.failed()) return op.unknown();
    const bool linear = op.call.row.path.starts_with("torch.linalg");
    if (at && linear)
      for (const Shape* side : {&x, &y})
        if (side->rank_known && *at < side->dims.size() && op.equal(side->dims[*at], 3) == Answer::no)
          return op.fail(ProblemKind::product,
                         "cross takes three coordinates along dimension " + std::to_string(*at) + ", and " + op.words(*side) + " has " +
                             op.words(side->dims[*at]),
                         {side->dims[*at]});
    if (at && !shape->dims.empty() && op.equal(shape->dims[*at], 3) == Answer::no)
      return op.fail(ProblemKind::product,
                     "cross takes three coordinates along dimension " + std::to_string(*at) + ", and " + op.words(*shape) + " has " +
                         op.words(shape->dims[*at]),
                     {shape->dims[*at]});
  } else if (shape->rank_known) {
    if (std::all_of(shape->dims.begin(), shape->dims.end(), [&](const Dim& dim) { return op.equal(dim, 3) == Answer::no; }))
      return op.fail(ProblemKind::product, "cross takes three coordinates along some dimension, and " + op.words(*shape) + " has none of size 3");
  }
  return op.result(*shape);
}

// ---------------------------------------------------------------- several dimensions

// tensordot(a, b, 2): the last two of a with the first two of b. tensordot(a, b, ([0], [1])): these.
Value tensordot(Op& op) {
  for (const std::string_view name : {"input", "b"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("b");
  if (!a || !b || !a->shape.rank_known || !b->shape.rank_known) return op.unknown();
  const Shape x = a->shape, y = b->shape;
  const Dtype dtype = product_dtype(op, op.argument("input"), op.argument("b"));
  std::vector<std::size_t> over_a, over_b;
  if (const auto count = op.integer("dims")) {
    if (*count < 0) return op.fail(ProblemKind::product, "tensordot sums over " + std::to_string(*count) + " dimensions");
    const auto n = static_cast<std::size_t>(*count);
    if (n > x.dims.size() || n > y.dims.size())
      return op.fail(ProblemKind::product,
                     "tensordot sums over " + std::to_string(n) + " dimensions, and is given " + op.words(x) + " and " + op.words(y));
    for (std::size_t i = 0; i < n; ++i) {
      over_a.push_back(x.dims.size() - n + i);
      over_b.push_back(i);
    }
  } else {
    const auto pair = op.sequence("dims");
    if (!pair || pair->size() != 2) return op.result({}, dtype);
    for (std::size_t side = 0; side < 2; ++side) {
      std::vector<Value> items{(*pair)[side]};
      if (const Value list = op.run.resolve((*pair)[side]); list.is(Kind::list) || list.is(Kind::tuple)) {
        const auto each = op.run.elements(list, op.call.place);
        if (!each) return op.result({}, dtype);
        items = *each;
      }
      for (const Value& item : items) {
        const auto at = op.run.to_constant(item);
        const auto axis = at ? op.axis(*at, (side ? y : x).dims.size()) : std::nullopt;
        if (op.failed()) return op.unknown();
        if (!axis) return op.result({}, dtype);
        (side ? over_b : over_a).push_back(*axis);
      }
    }
    if (over_a.size() != over_b.size())
      return op.fail(ProblemKind::product, "tensordot pairs " + std::to_string(over_a.size()) + " dimensions with " + std::to_string(over_b.size()));
  }
  for (std::size_t i = 0; i < over_a.size(); ++i) {
    const Dim left = dim_at(x, over_a[i]), right = dim_at(y, over_b[i]);
    if (op.equal(left, right) == Answer::no && op.equal(left, 1) == Answer::no && op.equal(right, 1) == Answer::no) {
      refuse_inner(op, op.argument("input"), op.argument("b"), left, right);
      return op.unknown();
    }
  }
  Shape shape{true, {}};
  for (std::size_t i = 0; i < x.dims.size(); ++i)
    if (std::find(over_a.begin(), over_a.end(), i) == over_a.end()) shape.dims.push_back(x.dims[i]);
  for (std::size_t i = 0; i < y.dims.size(); ++i)
    if (std::find(over_b.begin(), over_b.end(), i) == over_b.end()) shape.dims.push_back(y.dims[i]);
  return op.result(shape, dtype);
}
Value kron(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("other");
  if (!a || !b || !a->shape.rank_known || !b->shape.rank_known) return op.unknown();
  Shape shape{true, {}};
  for (std::size_t i = std::max(a->shape.dims.size(), b->shape.dims.size()); i-- > 0;) {
    const Int left = i < a->shape.dims.size() ? from_right(a->shape, i).size : op.s.constant(1);
    const Int right = i < b->shape.dims.size() ? from_right(b->shape, i).size : op.s.constant(1);
    shape.dims.push_back(op.made(op.mul(left, right)));
  }
  return op.result(shape);
}
// One product after the other; vectors may stand at the ends.
Value chain(Op& op) {
  std::vector<Value> parts = op.call.rest;
  if (const auto list = op.sequence("tensors")) parts = *list;
  else if (op.argument("tensors")) return op.unknown();
  if (parts.empty()) return op.unknown();
  const bool vectors = op.title() == "multi_dot";
  if (vectors && parts.size() < 2) return op.fail(ProblemKind::product, "multi_dot takes two tensors at least, and is given one");
  Dim rows{}, last{};
  bool first_is_vector = false, last_is_vector = false;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const TensorState* state = require_tensor(op.run, parts[i]);
    if (!state || !state->shape.rank_known) return op.unknown();
    const auto& dims = state->shape.dims;
    const bool end = vectors && (i == 0 || i + 1 == parts.size());
    if (dims.size() != 2 && !(end && dims.size() == 1))
      return op.fail(ProblemKind::product,
                     std::string(op.title()) + " takes matrices, and tensor " + std::to_string(i) + " is " + op.words(state->shape));
    const Dim inner_dim = dims[0];
    if (i == 0) {
      first_is_vector = dims.size() == 1;
      rows = dims[0];
    } else if (!op.must_equal(last, inner_dim)) {
      refuse_inner(op, parts[i - 1], parts[i], last, inner_dim);
      return op.unknown();
    }
    last = dims.back();
    last_is_vector = i > 0 && dims.size() == 1;
  }
  Shape shape{true, {}};
  if (!first_is_vector) shape.dims.push_back(rows);
  if (!last_is_vector) shape.dims.push_back(last);
  const TensorState* first = op.tensor(parts[0]);
  return op.result(shape, first->dtype);
}
// Distances between the rows of both.
Value cdist(Op& op) {
  for (const std::string_view name : {"input", "other"})
    if (!op.must_be_tensor(name)) return op.unknown();
  const TensorState *a = op.expect("input"), *b = op.expect("other");
  if (!a || !b) return op.unknown();
  for (const std::string_view name : {"input", "other"})
    if (const Shape& shape = op.shape(name); shape.rank_known && shape.dims.size() < 2)
      return op.fail(ProblemKind::product, "cdist takes rows of points, two dimensions at least, and " + op.name(name) + " is " + op.words(shape));
  if (const auto p = op.real("p"); p && *p < 0) return op.fail(ProblemKind::argument, "cdist takes a p of at least 0");
  const Shape x = a->shape, y = b->shape;
  const Dim left = from_right(x, 0), right = from_right(y, 0);
  if (!op.must_equal(left, right))
    return op.fail(ProblemKind::product,
                   "cdist compares points of as many coordinates: " + op.name("input") + " is " + op.words(x) + " and " + op.name("other") + " is " +
                       op.words(y) + ", so " + op.words(left) + " would meet " + op.words(right),
                   {left, right});
  if (!x.rank_known || !y.rank_known) return op.unknown();
  const auto batch = op.broadcast({true, {x.dims.begin(), x.dims.end() - 2}}, {true, {y.dims.begin(), y.dims.end() - 2}});
  if (!batch) return op.unknown();
  Shape shape = *batch;
  shape.dims.push_back(from_right(x, 1));
  shape.dims.push_back(from_right(y, 1));
  return op.result(shape);
}
Value pdist(Op& op) {
  if (!must_have_rank(op, "input", 2, "a matrix of points")) return op.unknown();
  const Dim rows = dim_at(op.shape("input"), 0);
  const Int pairs = rows.size ? op.s.floordiv(op.s.mul(rows.size, op.s.sub(rows.size, op.s.constant(1))), op.s.constant(2)) : nullptr;
  return op.result({true, {op.made(pairs)}});
}
Value bilinear(Op& op) {
  const TensorState *a = op.expect("input1"), *b = op.expect("input2");
  if (!a || !b || !must_have_rank(op, "weight", 3, "a weight of three dimensions")) return op.unknown();
  const Shape w = op.shape("weight");
  const std::pair<std::string_view, std::size_t> sides[] = {{"input1", 1}, {"input2", 2}};
  for (const auto& [name, at] : sides) {
    const Dim have = from_right(op.shape(name), 0), want = dim_at(w, at);
    if (!op.must_equal(have, want))
      return op.fail(ProblemKind::product,
                     "bilinear has a weight of " + op.words(w) + ", and " + op.name(name) + " " + op.words(op.shape(name)) + " brings " +
                         op.words(have) + " features where " + op.words(want) + " are expected",
                     {have, want});
  }
  Shape shape = op.shape("input1");
  if (shape.dims.empty()) return op.result(shape.rank_known ? Shape{} : Shape{false, {dim_at(w, 0)}});
  shape.dims.back() = dim_at(w, 0);
  return op.result(shape, a->dtype);
}

// ---------------------------------------------------------------- einsum

struct Term {
  std::string before, after;  // letters in front of the ellipsis and behind it
  bool ellipsis = false;
  std::size_t letters() const { return before.size() + after.size(); }
};
std::optional<Term> read_term(std::string_view text) {
  Term term;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '.') {
      if (term.ellipsis || text.substr(i, 3) != "...") return std::nullopt;
      term.ellipsis = true;
      i += 2;
    } else if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) {
      (term.ellipsis ? term.after : term.before) += c;
    } else {
      return std::nullopt;
    }
  }
  return term;
}
Value einsum(Op& op) {
  const auto equation = op.text("equation");
  std::vector<Value> operands = op.call.rest;
  if (operands.size() == 1)
    if (const Value only = op.run.resolve(operands[0]); only.is(Kind::list) || only.is(Kind::tuple)) {
      const auto items = op.run.elements(only, op.call.place);
      if (!items) return op.unknown();
      operands = *items;
    }
  if (!equation) return op.unknown();
  std::string text(*equation);
  std::erase(text, ' ');
  const auto arrow = text.find("->");
  std::vector<Term> terms;
  std::string_view left = std::string_view(text).substr(0, arrow);
  while (true) {
    const auto comma = left.find(',');
    const auto term = read_term(left.substr(0, comma));
    if (!term) return op.fail(ProblemKind::product, "einsum cannot read '" + std::string(*equation) + "'");
    terms.push_back(*term);
    if (comma == std::string_view::npos) break;
    left = left.substr(comma + 1);
  }
  const auto plural = [](std::size_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  if (terms.size() != operands.size())
    return op.fail(ProblemKind::product, "'" + std::string(*equation) + "' is about " + plural(terms.size(), "operand") + ", and einsum is given " +
                                             std::to_string(operands.size()));

  struct Met {
    Dim dim;
    std::size_t operand;
  };
  std::map<char, Met> sizes;
  std::map<char, int> times;
  Shape ellipsis{true, {}};
  bool any_ellipsis = false;
  Dtype dtype = Dtype::unknown;
  // False after refusing: the letter already stands for another size.
  const auto meet = [&](char letter, const Dim& dim, std::size_t operand) {
    auto [it, inserted] = sizes.try_emplace(letter, Met{dim, operand});
    if (inserted || !dim.size) return true;
    Dim& known = it->second.dim;
    if (!known.size || (is_one(op, known) && it->second.operand != operand)) {
      it->second = {dim, operand};
      return true;
    }
    if (is_one(op, dim) && it->second.operand != operand) return true;
    if (op.equal(known, dim) == Answer::no &&
        (it->second.operand == operand || (op.equal(known, 1) == Answer::no && op.equal(dim, 1) == Answer::no))) {
      refuse_inner(op, operands[it->second.operand], operands[operand], known, dim);
      return false;
    }
    known = op.better(known, dim);
    return true;
  };
  for (std::size_t i = 0; i < terms.size(); ++i) {
    const Term& term = terms[i];
    for (const std::string& part : {term.before, term.after})
      for (const char c : part) ++times[c];
    const TensorState* state = require_tensor(op.run, operands[i]);
    if (!state) {
      any_ellipsis = any_ellipsis || term.ellipsis;
      if (term.ellipsis) ellipsis = {};
      dtype = Dtype::unknown;
      continue;
    }
    dtype = i == 0 ? state->dtype : dtype == state->dtype ? dtype : Dtype::unknown;
    Shape shape = state->shape;
    if (shape.dims.size() > term.letters() ? !term.ellipsis : shape.rank_known && shape.dims.size() < term.letters())
      return op.fail(ProblemKind::product, "'" + std::string(*equation) + "' names " + plural(term.letters(), "dimension") + " of operand " +
                                               std::to_string(i) + ", which is " + op.words(shape));
    if (!shape.rank_known && !term.ellipsis) {
      // It has as many dimensions as the equation has letters for it.
      Shape whole{true, std::vector<Dim>(term.letters())};
      std::copy(shape.dims.begin(), shape.dims.end(), whole.dims.end() - static_cast<std::ptrdiff_t>(shape.dims.size()));
      if (!op.run.guarded()) {
        TensorState learned = *state;
        learned.shape = whole;
        learned.shape_value = {};
        set_state(op.run, operands[i], learned);
      }
      shape = whole;
    }
    for (std::size_t k = 0; k < term.before.size(); ++k)
      if (!meet(term.before[k], dim_at(shape, k), i)) return op.unknown();
    for (std::size_t k = 0; k < term.after.size(); ++k)
      if (!meet(term.after[term.after.size() - 1 - k], from_right(shape, k), i)) return op.unknown();
    if (term.ellipsis) {
      any_ellipsis = true;
      if (!shape.rank_known || !ellipsis.rank_known) {
        ellipsis = {};
      } else {
        Shape rest{true,
                   {shape.dims.begin() + static_cast<std::ptrdiff_t>(term.before.size()),
                    shape.dims.end() - static_cast<std::ptrdiff_t>(term.after.size())}};
        const auto both = op.broadcast(ellipsis, rest);
        if (!both) return op.unknown();
        ellipsis = *both;
      }
    }
  }
  Term out;
  if (arrow == std::string::npos) {
    out.ellipsis = any_ellipsis;
    for (const auto& [letter, count] : times)
      if (count == 1) out.after += letter;
    if (!out.ellipsis) std::swap(out.before, out.after);
  } else {
    const auto term = read_term(std::string_view(text).substr(arrow + 2));
    if (!term) return op.fail(ProblemKind::product, "einsum cannot read '" + std::string(*equation) + "'");
    out = *term;
  }
  Shape shape{true, {}};
  std::map<char, int> seen;
  const auto put = [&](const std::string& letters) {
    for (const char c : letters) {
      if (!times.contains(c) || ++seen[c] > 1) {
        op.fail(ProblemKind::product, std::string("'") + std::string(*equation) + "' puts '" + c +
                                          (times.contains(c) ? "' into the result twice" : "' into the result, which no operand has"));
        return;
      }
      const auto it = sizes.find(c);
      shape.dims.push_back(it == sizes.end() ? Dim{} : it->second.dim);
    }
  };
  put(out.before);
  if (op.failed()) return op.unknown();
  if (out.ellipsis && !ellipsis.rank_known) shape = {};
  else if (out.ellipsis) shape.dims.insert(shape.dims.end(), ellipsis.dims.begin(), ellipsis.dims.end());
  put(out.after);
  return op.failed() ? op.unknown() : op.result(shape, dtype);
}

// ---------------------------------------------------------------- the operators

constexpr Operator operators[] = {
    {"matmul", "input, other, *, out=None", "torch method linalg torch.Tensor.__matmul__", matmul, Type::own},
    {"mm", "input, mat2, *, out=None", "torch method", mm, Type::own},
    {"bmm", "input, mat2, *, out=None", "torch method", bmm, Type::own},
    {"mv", "input, vec, *, out=None", "torch method", mv, Type::own},
    {"dot", "input, tensor, *, out=None", "torch method", dot, Type::own},
    {"vdot", "input, other, *, out=None", "torch method", dot, Type::own},
    {"inner", "input, other, *, out=None", "torch method", inner, Type::own},
    {"outer", "input, vec2, *, out=None", "torch method torch.ger torch.Tensor.ger", outer},
    {"addmm", "input, mat1, mat2, *more, beta=1, alpha=1, out=None", "torch method in_place", addmm, Type::own},
    {"baddbmm", "input, batch1, batch2, *more, beta=1, alpha=1, out=None", "torch method in_place", baddbmm, Type::own},
    {"addbmm", "input, batch1, batch2, *more, beta=1, alpha=1, out=None", "torch method", addbmm, Type::own},
    {"addbmm_", "input, batch1, batch2, *more, beta=1, alpha=1", "method", addbmm, Type::own},  // grows its subject where it must
    {"addmv", "input, mat, vec, *more, beta=1, alpha=1, out=None", "torch method in_place", addmv, Type::own},
    {"addr", "input, vec1, vec2, *more, beta=1, alpha=1, out=None", "torch method in_place", addr, Type::own},
    {"linear", "input, weight, bias=None", "F", linear, Type::own},
    {"einsum", "equation, *operands", "torch torch.functional.einsum", einsum, Type::own},
    {"tensordot", "input, b, dims=2, out=None", "torch torch.functional.tensordot", tensordot, Type::own},
    {"kron", "input, other, *, out=None", "torch method", kron},
    {"chain_matmul", "*matrices, out=None", "torch torch.functional.chain_matmul", chain, Type::own},
    {"multi_dot", "tensors, *, out=None", "linalg", chain, Type::own},
    {"vecdot", "input, y, *, dim=-1, out=None", "linalg", vecdot},
    {"cross", "input, other, dim=None, *, out=None", "torch method", cross},
    {"cross", "input, other, *, dim=-1, out=None", "linalg", cross},
    {"cdist", "input, other, p=2.0, compute_mode='use_mm_for_euclid_dist_if_necessary'", "torch torch.functional.cdist", cdist},
    {"pdist", "input, p=2.0", "torch F", pdist},
    {"bilinear", "input1, input2, weight, bias=None", "F torch", bilinear, Type::input},
};

} // namespace

std::vector<Row> product_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
