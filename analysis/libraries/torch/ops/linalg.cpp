// Decompositions, inverses and solvers: torch.linalg, and the same under their older names in torch.
// Matrices lie in the last two dimensions; what stands in front of them is a batch.
#include "libraries/torch/ops/norms.hpp"
#include "libraries/torch/ops/operators.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- matrices

struct Matrices {
  const TensorState* state = nullptr;  // null, after fail() where the argument cannot be matrices
  Shape shape;                         // at least two dims where it is known
  Dim rows, columns;
  Dtype dtype = Dtype::unknown;
  // The batch with these dimensions after it; unknown in front where the batch is.
  Shape with(std::initializer_list<Dim> dims) const {
    Shape out{shape.ndim_known, {}};
    if (shape.dims.size() >= 2) out.dims.assign(shape.dims.begin(), shape.dims.end() - 2);
    out.dims.insert(out.dims.end(), dims);
    return out;
  }
};
Matrices matrices(Op& op, std::string_view name) {
  Matrices found;
  if (!op.must_be_tensor(name)) return found;
  const TensorState* state = op.expect(name);
  if (!state) return found;
  if (state->shape.ndim_known && state->shape.dims.size() < 2) {
    op.refuse_shape(ProblemKind::argument, {ShapeNeed::matrices}, name);
    return found;
  }
  if (is_integral(state->dtype) && op.title() != "matrix_power") {
    op.refuse_dtype(DtypeNeed::floats, name);
    return found;
  }
  found.state = state;
  found.shape = state->shape;
  found.rows = from_right(state->shape, 1);
  found.columns = from_right(state->shape, 0);
  found.dtype = state->dtype;
  return found;
}
Matrices first_matrices(Op& op) { return matrices(op, op.call.row.parameters[0].text()); }
Matrices square_matrices(Op& op, std::string_view name) {
  Matrices found = matrices(op, name);
  if (found.state && op.equal(found.rows, found.columns) == Answer::no) {
    op.fail(ProblemKind::argument,
        interpreter::WrongShape{op.taker(), {ShapeNeed::square}, op.name(name), found.shape},
        {found.rows, found.columns});
    found.state = nullptr;
  }
  if (found.state) found.rows = found.columns = op.better(found.rows, found.columns);
  return found;
}
Matrices first_square(Op& op) { return square_matrices(op, op.call.row.parameters[0].text()); }

Dim least(Op& op, const Dim& a, const Dim& b) {
  if (op.equal(a, b) == Answer::yes) return a;
  return a.size && b.size ? op.dim(op.s.min(a.size, b.size)) : Dim{};
}

template <std::size_t n> Value named(Op& op, std::vector<Value> items, const std::string_view (&fields)[n]) {
  return op.named_tuple(std::move(items), fields);
}

// ---------------------------------------------------------------- one result

Value like_square(Op& op) {
  const Matrices a = first_square(op);
  return a.state ? op.result(a.shape, a.dtype) : op.unknown();
}
Value matrix_power(Op& op) { return like_square(op); }
Value determinant(Op& op) {
  const Matrices a = first_square(op);
  return a.state ? op.result(a.with({}), a.dtype) : op.unknown();
}
Value sign_and_logarithm(Op& op) {
  const Matrices a = first_square(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"sign", "logabsdet"};
  return named(op, {op.result(a.with({}), a.dtype), op.result(a.with({}), real_part(a.dtype))}, fields);
}
Value condition(Op& op) {
  const Matrices a = first_matrices(op);
  return a.state ? op.result(a.with({}), real_part(a.dtype)) : op.unknown();
}
// Tolerances for each matrix are broadcast with the batch. Nullopt after fail().
std::optional<Shape> tolerated(Op& op, Shape batch) {
  for (const std::string_view name : {"atol", "rtol", "tol", "rcond"}) {
    if (!op.argument(name) || op.is_number(name)) continue;
    const TensorState* state = op.tensor(name);
    const auto both = state ? op.broadcast(batch, state->shape) : std::nullopt;
    if (op.failed()) return std::nullopt;
    batch = both.value_or(Shape{});
  }
  return batch;
}
Value matrix_rank(Op& op) {
  const Matrices a = first_matrices(op);
  const auto shape = a.state ? tolerated(op, a.with({})) : std::nullopt;
  return shape ? op.result(*shape, Dtype::int64) : op.unknown();
}
Value pseudo_inverse(Op& op) {
  const Matrices a = first_matrices(op);
  // Without elements, tolerances are not looked at.
  if (a.state && a.shape.ndim_known &&
      std::any_of(
          a.shape.dims.begin(), a.shape.dims.end(), [&](const Dim& dim) { return op.value(dim) == 0; }))
    return op.result(a.with({a.columns, a.rows}), a.dtype);
  auto shape = a.state ? tolerated(op, a.with({})) : std::nullopt;
  if (!shape) return op.unknown();
  const bool has_elements = std::all_of(a.shape.dims.begin(), a.shape.dims.end(),
      [&](const Dim& dim) { return op.equal(dim, 0) == Answer::no; });
  if (!has_elements && shape->dims.size() + 2 != a.shape.dims.size()) return op.result({}, a.dtype);
  shape->dims.push_back(a.columns);
  shape->dims.push_back(a.rows);
  return op.result(*shape, a.dtype);
}
Value singular_values(Op& op) {
  const Matrices a = first_matrices(op);
  return a.state ? op.result(a.with({least(op, a.rows, a.columns)}), real_part(a.dtype)) : op.unknown();
}
Value eigenvalues(Op& op) {
  const Matrices a = first_square(op);
  if (!a.state) return op.unknown();
  const bool real = op.title() == "eigvalsh";
  return op.result(a.with({a.rows}),
      real                      ? real_part(a.dtype)
          : is_complex(a.dtype) ? a.dtype
                                : complex_part(a.dtype));
}
// A, tau -> like A
Value like_first(Op& op) {
  const Matrices a = first_matrices(op);
  return a.state ? op.result(a.shape, a.dtype) : op.unknown();
}
Value apply_reflectors(Op& op) {
  const Matrices a = first_matrices(op), other = a.state ? matrices(op, "other") : Matrices{};
  return other.state ? op.result(other.shape, other.dtype) : op.unknown();
}

// ---------------------------------------------------------------- norms

Value matrix_norm(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  const Dtype dtype = op.dtype("dtype", real_part(a.dtype));
  if (const auto ord = op.text("ord"); ord && *ord != "fro" && *ord != "nuc")
    return op.refuse_option("ord", {"fro", "nuc"}, *ord);
  if (const auto ord = op.integer("ord"); ord && std::abs(*ord) != 1 && std::abs(*ord) != 2)
    return op.fail(ProblemKind::argument, why<Reason::norm_orders>(*ord));
  if (op.given("dim")) {
    if (const auto given = op.integers("dim"); given && given->size() != 2)
      return op.refuse_count(ProblemKind::argument, given->size(), "dimension", 1, "matrix");
    const Shape shape = reduced(op, a.shape);
    return op.failed() ? op.unknown() : op.result(shape, dtype);
  }
  switch (op.flag("keepdim")) {
  case Known::no: return op.result(a.with({}), dtype);
  case Known::yes: return op.result(a.with({op.dim(1), op.dim(1)}), dtype);
  default: return op.result({}, dtype);
  }
}

// ---------------------------------------------------------------- decompositions

Value with_information(Op& op) {  // cholesky_ex, inv_ex
  const Matrices a = first_square(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"L", "info"}, inverse_fields[] = {"inverse", "info"};
  std::vector<Value> items{op.result(a.shape, a.dtype), op.result(a.with({}), Dtype::int32)};
  return op.title() == "inv_ex" ? named(op, std::move(items), inverse_fields)
                                : named(op, std::move(items), fields);
}
Value eigen(Op& op) {
  const Matrices a = first_square(op);
  if (!a.state) return op.unknown();
  const bool real = op.title() != "eig";
  const Dtype dtype = real || is_complex(a.dtype) ? a.dtype : complex_part(a.dtype);
  constexpr static std::string_view fields[] = {"eigenvalues", "eigenvectors"};
  return named(
      op, {op.result(a.with({a.rows}), real ? real_part(dtype) : dtype), op.result(a.shape, dtype)}, fields);
}
Value symmetric_eigen(Op& op) {  // deprecated: vectors only where asked for
  const Matrices a = first_square(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"eigenvalues", "eigenvectors"};
  const Known vectors = op.flag("eigenvectors");
  const Value second = vectors == Known::yes ? op.result(a.shape, a.dtype)
      : vectors == Known::no                 ? op.result({true, {op.dim(std::int64_t{0})}}, a.dtype)
                                             : op.result({}, a.dtype);
  return named(op, {op.result(a.with({a.rows}), real_part(a.dtype)), second}, fields);
}
Value lu(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  const Dim k = least(op, a.rows, a.columns);
  constexpr static std::string_view fields[] = {"P", "L", "U"};
  return named(op,
      {op.result(a.with({a.rows, a.rows}), a.dtype), op.result(a.with({a.rows, k}), a.dtype),
          op.result(a.with({k, a.columns}), a.dtype)},
      fields);
}
Value lu_unpack(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  const Known data = op.flag("unpack_data"), pivots = op.flag("unpack_pivots");
  const Dim k = least(op, a.rows, a.columns);
  constexpr static std::string_view fields[] = {"P", "L", "U"};
  const auto part = [&](Known wanted, const Shape& shape) {
    return op.result(wanted == Known::yes ? shape
            : wanted == Known::no         ? Shape{true, {op.dim(std::int64_t{0})}}
                                          : Shape{},
        a.dtype);
  };
  return named(op,
      {part(pivots, a.with({a.rows, a.rows})), part(data, a.with({a.rows, k})),
          part(data, a.with({k, a.columns}))},
      fields);
}
// Packed factors and pivots, with information where it is asked for.
Value factors(Op& op, bool square, Known information) {
  const Matrices a = square ? first_square(op) : first_matrices(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"LU", "pivots", "info"}, two[] = {"LU", "pivots"};
  std::vector<Value> items{
      op.result(a.shape, a.dtype), op.result(a.with({least(op, a.rows, a.columns)}), Dtype::int32)};
  if (information == Known::unknown) return op.run.heap().unknown("", a.state->sharing, op.call.place);
  if (information == Known::no) return named(op, std::move(items), two);
  items.push_back(op.result(a.with({}), Dtype::int32));
  return named(op, std::move(items), fields);
}
Value lu_factor(Op& op) { return factors(op, false, Known::no); }
Value lu_factor_ex(Op& op) { return factors(op, false, Known::yes); }
Value old_lu(Op& op) { return factors(op, false, op.flag("get_infos")); }
Value ldl_factor(Op& op) { return factors(op, true, Known::no); }
Value ldl_factor_ex(Op& op) { return factors(op, true, Known::yes); }
Value qr(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"Q", "R"};
  const bool old = op.call.row.path.starts_with("torch.qr") || op.call.row.path.starts_with("torch.Tensor");
  std::string mode = "?";
  if (old)
    mode = op.flag("some") == Known::yes ? "reduced" : op.flag("some") == Known::no ? "complete" : "?";
  else if (const auto text = op.text("mode"))
    mode = std::string(*text);
  const Dim k = least(op, a.rows, a.columns);
  if (mode == "reduced")
    return named(
        op, {op.result(a.with({a.rows, k}), a.dtype), op.result(a.with({k, a.columns}), a.dtype)}, fields);
  if (mode == "complete")
    return named(op, {op.result(a.with({a.rows, a.rows}), a.dtype), op.result(a.shape, a.dtype)}, fields);
  if (mode == "r")
    return named(op,
        {op.result({true, {op.dim(std::int64_t{0})}}, a.dtype), op.result(a.with({k, a.columns}), a.dtype)},
        fields);
  if (mode != "?") return op.refuse_option("mode", {"reduced", "complete", "r"}, mode);
  return named(op,
      {op.result(a.with({a.rows, Dim{}}), a.dtype), op.result(a.with({Dim{}, a.columns}), a.dtype)}, fields);
}
// torch.svd gives V, torch.linalg.svd its transpose.
Value svd(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  const bool old = !op.call.row.path.starts_with("torch.linalg");
  Known full = op.flag("full_matrices");
  if (old)
    full = op.flag("some") == Known::yes ? Known::no
        : op.flag("some") == Known::no   ? Known::yes
                                         : Known::unknown;
  if (old && op.flag("compute_uv") == Known::no) full = Known::yes;
  const Dim k = least(op, a.rows, a.columns);
  const Dim left = full == Known::yes ? a.rows
      : full == Known::no             ? k
                                      : Dim{},
            right = full == Known::yes ? a.columns
      : full == Known::no              ? k
                                       : Dim{};
  constexpr static std::string_view fields[] = {"U", "S", "Vh"}, old_fields[] = {"U", "S", "V"};
  std::vector<Value> items{
      op.result(a.with({a.rows, left}), a.dtype), op.result(a.with({k}), real_part(a.dtype))};
  items.push_back(op.result(old ? a.with({a.columns, right}) : a.with({right, a.columns}), a.dtype));
  return old ? named(op, std::move(items), old_fields) : named(op, std::move(items), fields);
}
// The q largest singular values, about.
Value low_rank(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  Dim q = op.dim(op.size("q"));
  if (!op.argument("q")) q = least(op, op.dim(6), least(op, a.rows, a.columns));
  if (q.size && a.columns.size &&
      op.s.compare(Compare::gt, q.size, least(op, a.rows, a.columns).size) == Answer::yes)
    return op.fail(
        ProblemKind::argument, why<Reason::singular_values>(code(op.title()), q, a.rows, a.columns));
  return op.tuple({op.result(a.with({a.rows, q}), a.dtype), op.result(a.with({q}), a.dtype),
      op.result(a.with({a.columns, q}), a.dtype)});
}
Value reflectors(Op& op) {  // geqrf
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  constexpr static std::string_view fields[] = {"a", "tau"};
  return named(
      op, {op.result(a.shape, a.dtype), op.result(a.with({least(op, a.rows, a.columns)}), a.dtype)}, fields);
}

// ---------------------------------------------------------------- solvers

// A matrix for each matrix, or a vector for each: B of one dimension, or as many dimensions less one and the
// same batch.
bool is_vectors(Op& op, const Matrices& a, const Shape& b) {
  if (b.ndim_known && b.dims.size() == 1) return true;
  if (!b.ndim_known || !a.shape.ndim_known || b.dims.size() + 1 != a.shape.dims.size()) return false;
  for (std::size_t i = 0; i < b.dims.size(); ++i)
    if (op.equal(b.dims[i], a.shape.dims[i]) != Answer::yes) return false;
  return true;
}
bool could_be_vectors(Op& op, const Matrices& a, const Shape& b) {
  for (std::size_t i = 0; i < b.dims.size(); ++i)
    if (op.equal(b.dims[i], a.shape.dims[i]) == Answer::no) return false;
  return true;
}
std::optional<Shape> solved(Op& op, const Matrices& a, std::string_view name) {
  if (!op.must_be_tensor(name)) return std::nullopt;
  const TensorState* b = op.expect(name);
  if (!b) return Shape{};
  const Known left = op.argument("left") ? op.flag("left") : Known::yes;
  if (left == Known::unknown || !b->shape.ndim_known || !a.shape.ndim_known) return Shape{};
  const bool may_be_vectors = op.title().starts_with("solve") && op.title() != "solve_triangular",
             vectors = may_be_vectors && is_vectors(op, a, b->shape);
  // Whether they are depends on sizes that are not known to be those of the batch.
  if (may_be_vectors && !vectors && b->shape.dims.size() + 1 == a.shape.dims.size() &&
      could_be_vectors(op, a, b->shape))
    return Shape{};
  if (b->shape.dims.size() < 2 && !vectors) {
    op.refuse_shape(ProblemKind::argument, {ShapeNeed::matrices}, name);
    return std::nullopt;
  }
  const Dim have = left == Known::yes ? from_right(b->shape, vectors ? 0 : 1) : from_right(b->shape, 0);
  if (!op.must_equal(a.rows, have)) {
    op.fail(ProblemKind::product,
        interpreter::WrongSize{op.taker(), "equations", a.rows, op.name(name), have, b->shape},
        {a.rows, have});
    return std::nullopt;
  }
  Shape batch{true, {a.shape.dims.begin(), a.shape.dims.end() - 2}};
  if (vectors && b->shape.dims.size() == 1) {
    batch.dims.push_back(a.rows);
    return batch;
  }
  const std::size_t own = vectors ? 1 : 2;
  const auto both = op.broadcast(
      batch, {true, {b->shape.dims.begin(), b->shape.dims.end() - static_cast<std::ptrdiff_t>(own)}});
  if (!both) return op.failed() ? std::nullopt : std::optional(Shape{});
  Shape shape = *both;
  shape.dims.insert(
      shape.dims.end(), b->shape.dims.end() - static_cast<std::ptrdiff_t>(own), b->shape.dims.end());
  return shape;
}
// solve(A, B)
Value solve(Op& op) {
  const Matrices a = first_square(op);
  const auto shape = a.state ? solved(op, a, "B") : std::nullopt;
  return shape ? op.result(*shape, a.dtype) : op.unknown();
}
Value solve_ex(Op& op) {
  const Matrices a = first_square(op);
  const auto shape = a.state ? solved(op, a, "B") : std::nullopt;
  if (!shape) return op.unknown();
  constexpr static std::string_view fields[] = {"result", "info"};
  return named(op, {op.result(*shape, a.dtype), op.result(a.with({}), Dtype::int32)}, fields);
}
// The factors are the second argument: cholesky_solve(B, L), lu_solve(B, LU, pivots).
Value solve_factored(Op& op) {
  const std::string_view right = op.call.row.parameters[0].text(),
                         factors_name = op.call.row.parameters[1].text();
  const Matrices a = square_matrices(op, factors_name);
  const auto shape = a.state ? solved(op, a, right) : std::nullopt;
  return shape ? op.result(*shape, a.dtype) : op.unknown();
}
Value triangular_solve(Op& op) {
  const Matrices a = square_matrices(op, "A");
  const auto shape = a.state ? solved(op, a, "b") : std::nullopt;
  if (!shape) return op.unknown();
  constexpr static std::string_view fields[] = {"solution", "cloned_coefficient"};
  Shape coefficients{shape->ndim_known, {}};
  if (shape->dims.size() >= 2) coefficients.dims.assign(shape->dims.begin(), shape->dims.end() - 2);
  coefficients.dims.push_back(a.rows);
  coefficients.dims.push_back(a.columns);
  return named(op, {op.result(*shape, a.dtype), op.result(coefficients, a.dtype)}, fields);
}
// Which of the others are filled depends on the driver.
Value least_squares(Op& op) {
  const Matrices a = first_matrices(op);
  if (!a.state) return op.unknown();
  const TensorState* b = op.expect("B");
  constexpr static std::string_view fields[] = {"solution", "residuals", "rank", "singular_values"};
  Shape solution;
  if (b && b->shape.ndim_known && a.shape.ndim_known) {
    const bool vectors = is_vectors(op, a, b->shape);
    const Dim have = from_right(b->shape, vectors ? 0 : 1);
    if (b->shape.dims.empty() || !op.must_equal(a.rows, have))
      return op.fail(
          ProblemKind::product, why<Reason::least_squares>(a.rows, op.name("B"), b->shape), {a.rows, have});
    const std::size_t own = vectors ? 1 : 2;
    const auto batch = op.broadcast(
        a.with({}), {true, {b->shape.dims.begin(), b->shape.dims.end() - static_cast<std::ptrdiff_t>(own)}});
    if (op.failed()) return op.unknown();
    if (batch) {
      solution = *batch;
      solution.dims.push_back(a.columns);
      if (!vectors) solution.dims.push_back(from_right(b->shape, 0));
    }
  }
  return named(op,
      {op.result(solution, a.dtype), op.result({}, real_part(a.dtype)), op.result({}, Dtype::int64),
          op.result({}, real_part(a.dtype))},
      fields);
}
// The first `ind` dimensions and the others change places.
Value tensorinv(Op& op) {
  const TensorState* a = op.expect("A");
  const auto ind = op.integer("ind");
  if (!a) return op.unknown();
  if (ind && *ind <= 0) return op.refuse_value("ind", 1);
  if (!ind || !a->shape.ndim_known || static_cast<std::size_t>(*ind) > a->shape.dims.size())
    return op.unknown();
  Shape shape{true, {a->shape.dims.begin() + *ind, a->shape.dims.end()}};
  shape.dims.insert(shape.dims.end(), a->shape.dims.begin(), a->shape.dims.begin() + *ind);
  const Int first = op.product(std::span(a->shape.dims).first(static_cast<std::size_t>(*ind))),
            rest = op.product(std::span(a->shape.dims).subspan(static_cast<std::size_t>(*ind)));
  if (op.equal(op.dim(first), op.dim(rest)) == Answer::no)
    return op.fail(ProblemKind::argument, why<Reason::tensor_inverse>(a->shape, op.dim(first), op.dim(rest)));
  return op.result(shape, a->dtype);
}
Value tensorsolve(Op& op) {
  const TensorState *a = op.expect("A"), *b = op.expect("B");
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known || b->shape.dims.size() > a->shape.dims.size())
    return op.unknown();
  std::vector<Dim> dims = a->shape.dims;
  if (op.argument("dims")) {
    const auto moved = op.axes("dims", dims.size());
    if (!moved) return op.unknown();
    std::vector<Dim> order;
    for (std::size_t i = 0; i < dims.size(); ++i)
      if (std::find(moved->begin(), moved->end(), i) == moved->end()) order.push_back(dims[i]);
    for (const std::size_t i : *moved) order.push_back(dims[i]);
    dims = order;
  }
  return op.result(
      {true, {dims.begin() + static_cast<std::ptrdiff_t>(b->shape.dims.size()), dims.end()}}, a->dtype);
}

// ---------------------------------------------------------------- the operators

constexpr Operator linalg_operators[] = {
    {"cholesky", "A, *, upper=False, out=None", "linalg", like_square, Type::own},
    {"cholesky", "input, upper=False, *, out=None", "torch method", like_square, Type::own},
    {"cholesky_inverse", "input, upper=False, *, out=None", "torch method", like_square, Type::own},
    {"cholesky_solve", "input, input2, upper=False, *, out=None", "torch method", solve_factored, Type::own},
    {"cholesky_ex", "A, *, upper=False, check_errors=False, out=None", "linalg", with_information, Type::own},
    {"inv", "A, *, out=None", "linalg", like_square, Type::own},
    {"inv", "input, *, out=None", "torch.inverse torch.Tensor.inverse", like_square, Type::own},
    {"inv_ex", "A, *, check_errors=False, out=None", "linalg", with_information, Type::own},
    {"pinv", "A, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None", "linalg", pseudo_inverse,
        Type::own},
    {"pinverse", "input, rcond=1e-15", "torch method", pseudo_inverse, Type::own},
    {"matrix_power", "A, n, *, out=None", "linalg", matrix_power, Type::own},
    {"matrix_power", "input, n, *, out=None", "torch method", matrix_power, Type::own},
    {"matrix_exp", "A", "linalg", like_square, Type::own},
    {"matrix_exp", "input", "torch method", like_square, Type::own},
    {"det", "A, *, out=None", "linalg", determinant, Type::own},
    {"det", "input", "torch method", determinant, Type::own},
    {"logdet", "input", "torch method", determinant, Type::own},
    {"slogdet", "A, *, out=None", "linalg", sign_and_logarithm, Type::own},
    {"slogdet", "input", "torch method", sign_and_logarithm, Type::own},
    {"cond", "A, p=None, *, out=None", "linalg", condition, Type::own},
    {"matrix_rank", "A, tol=None, hermitian=False, *, atol=None, rtol=None, out=None", "linalg", matrix_rank,
        Type::own},
    {"matrix_norm", "A, ord='fro', dim=None, keepdim=False, *, dtype=None, out=None", "linalg", matrix_norm,
        Type::own},

    {"eig", "A, *, out=None", "linalg", eigen, Type::own},
    {"eigh", "A, UPLO='L', *, out=None", "linalg", eigen, Type::own},
    {"eigvals", "A, *, out=None", "linalg", eigenvalues, Type::own},
    {"eigvalsh", "A, UPLO='L', *, out=None", "linalg", eigenvalues, Type::own},
    {"symeig", "input, eigenvectors=False, upper=True, *, out=None", "torch method", symmetric_eigen,
        Type::own},
    {"svd", "A, full_matrices=True, *, driver=None, out=None", "linalg", svd, Type::own},
    {"svd", "input, some=True, compute_uv=True, *, out=None", "torch method", svd, Type::own},
    {"svdvals", "A, *, driver=None, out=None", "linalg", singular_values, Type::own},
    {"svd_lowrank", "A, q=6, niter=2, M=None", "torch", low_rank, Type::own},
    {"pca_lowrank", "A, q=None, center=True, niter=2", "torch", low_rank, Type::own},
    {"qr", "A, mode='reduced', *, out=None", "linalg", qr, Type::own},
    {"qr", "input, some=True, *, out=None", "torch method", qr, Type::own},
    {"geqrf", "input, *, out=None", "torch method", reflectors, Type::own},
    {"householder_product", "input, tau, *, out=None", "linalg torch.orgqr torch.Tensor.orgqr", like_first,
        Type::own},
    {"ormqr", "input, tau, other, left=True, transpose=False, *, out=None", "torch method", apply_reflectors,
        Type::own},
    {"lu", "A, *, pivot=True, out=None", "linalg", lu, Type::own},
    {"lu", "A, pivot=True, get_infos=False, out=None", "torch method", old_lu, Type::own},
    {"lu_factor", "A, *, pivot=True, out=None", "linalg", lu_factor, Type::own},
    {"lu_factor_ex", "A, *, pivot=True, check_errors=False, out=None", "linalg", lu_factor_ex, Type::own},
    {"lu_unpack", "LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None", "torch", lu_unpack,
        Type::own},
    {"ldl_factor", "A, *, hermitian=False, out=None", "linalg", ldl_factor, Type::own},
    {"ldl_factor_ex", "A, *, hermitian=False, check_errors=False, out=None", "linalg", ldl_factor_ex,
        Type::own},

    {"solve", "A, B, *, left=True, out=None", "linalg", solve, Type::own},
    {"solve_ex", "A, B, *, left=True, check_errors=False, out=None", "linalg", solve_ex, Type::own},
    {"solve_triangular", "A, B, *, upper, left=True, unitriangular=False, out=None", "linalg", solve,
        Type::own},
    {"triangular_solve", "b, A, upper=True, transpose=False, unitriangular=False, *, out=None",
        "torch method", triangular_solve, Type::own},
    {"lu_solve", "LU, pivots, B, *, left=True, adjoint=False, out=None", "linalg", solve, Type::own},
    {"lu_solve", "b, LU_data, LU_pivots, *, out=None", "torch method", solve_factored, Type::own},
    {"ldl_solve", "LD, pivots, B, *, hermitian=False, out=None", "linalg", solve, Type::own},
    {"lstsq", "A, B, rcond=None, *, driver=None", "linalg", least_squares, Type::own},
    {"tensorinv", "A, ind=2, *, out=None", "linalg", tensorinv, Type::own},
    {"tensorsolve", "A, B, dims=None, *, out=None", "linalg", tensorsolve, Type::own},
};

}  // namespace

std::vector<Row> linalg_rows() {
  std::vector<Row> rows = operator_rows(linalg_operators);
  for (Row& each : vector_norm_rows()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
