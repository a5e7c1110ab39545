// Sparse tensors: torch.sparse and what makes them. A tensor of another layout has the shape that it stands
// for. As PyTorch 2.13 answers.
#include "libraries/table/op.hpp"
#include "libraries/table/table.hpp"
#include "libraries/torch/ops/operators.hpp"

namespace stepzero::libraries {

namespace {

// A matrix of [n, k] by one of [k, m].
std::optional<Shape> multiplied(Op& op, std::string_view first, std::string_view second) {
  const TensorState *a = op.expect(first), *b = op.expect(second);
  if (!a || !b || !a->shape.ndim_known || !b->shape.ndim_known) return std::nullopt;
  for (const auto& [name, state] : {std::pair{first, a}, std::pair{second, b}})
    if (state->shape.dims.size() != 2) {
      op.refuse_shape(ProblemKind::product, {ShapeNeed::matrices}, name);
      return std::nullopt;
    }
  if (op.never_equal(a->shape.dims[1], b->shape.dims[0])) {
    op.fail(ProblemKind::product,
        why<Reason::sparse_product>(code(op.title()), a->shape.dims[1], op.name(first), a->shape,
            b->shape.dims[0], op.name(second), b->shape),
        {a->shape.dims[1], b->shape.dims[0]});
    return std::nullopt;
  }
  return Shape{true, {a->shape.dims[0], b->shape.dims[1]}};
}
Value product_of_sparse(Op& op) {
  const auto shape = multiplied(op, "mat1", "mat2");
  return shape ? op.result(*shape) : op.unknown();
}
Value added_product(Op& op) {
  const auto shape = multiplied(op, "mat1", "mat2");
  if (!shape) return op.unknown();
  const TensorState* added = op.expect("mat");
  if (added && !op.broadcast(added->shape, *shape)) return op.unknown();
  return op.result(*shape);
}

// Indices [sparse dimensions, elements] and values [elements, …dense dimensions].
Value from_coordinates(Op& op) {
  const TensorState *indices = op.tensor("indices"), *given = op.tensor("values");
  // One value that is not seen is a sequence: torch.Size(matrix.shape).
  const auto sizes = op.argument("size").is(Kind::unknown) ? std::nullopt : op.sizes("size");
  const Dtype dtype = op.dtype("dtype", given ? given->dtype : Dtype::unknown);
  Shape shape;
  if (sizes) {
    shape.ndim_known = true;
    for (const Int size : *sizes) shape.dims.push_back(size ? op.made(size, "size") : Dim{});
  }
  const bool known = indices && given && indices->shape.ndim_known && given->shape.ndim_known &&
      indices->shape.dims.size() == 2 && !given->shape.dims.empty();
  if (!known) {
    const Value made = op.result(shape, dtype);
    if (const TensorState* state = op.tensor(made); state && !shape.ndim_known) {
      TensorState with_dims = *state;
      with_dims.first.assign(1, Dim{});
      set_state(op.run, made, with_dims);
    }
    return made;
  }
  if (op.never_equal(indices->shape.dims[1], given->shape.dims[0]))
    return op.fail(ProblemKind::argument,
        why<Reason::sparse_values>(indices->shape.dims[1], op.name("indices"), given->shape.dims[0]),
        {indices->shape.dims[1], given->shape.dims[0]});
  const auto sparse = op.value(indices->shape.dims[0]);
  if (!sparse) return op.result(shape, dtype);
  const std::size_t dense = given->shape.dims.size() - 1, rank = static_cast<std::size_t>(*sparse) + dense;
  if (!sizes) {
    shape.ndim_known = true;
    shape.dims.assign(static_cast<std::size_t>(*sparse), Dim{});
    shape.dims.insert(shape.dims.end(), given->shape.dims.begin() + 1, given->shape.dims.end());
    return op.result(shape, dtype);
  }
  if (sizes->size() != rank)
    return op.fail(ProblemKind::argument,
        why<Reason::sparse_sizes>(sizes->size(), op.name("indices"), *sparse, dense, rank));
  for (std::size_t i = 0; i < dense; ++i)
    if (const Dim& size = shape.dims[static_cast<std::size_t>(*sparse) + i];
        op.never_equal(size, given->shape.dims[i + 1]))
      return op.fail(ProblemKind::argument, why<Reason::sparse_size>(size, given->shape.dims[i + 1]),
          {size, given->shape.dims[i + 1]});
  return op.result(shape, dtype);
}

constexpr Operator sparse_operators[] = {
    {"sparse_coo_tensor",
        "indices=None, values=None, size=None, *, dtype=None, device=None, pin_memory=False, requires_grad=False, check_invariants=None, is_coalesced=None",
        "torch", from_coordinates, Type::own},
    // By its old names. Of sizes alone they make an empty one.
    {"FloatTensor", "indices=None, values=None, size=None, *more, device=None",
        "torch.sparse.FloatTensor torch.sparse.DoubleTensor torch.sparse.HalfTensor torch.sparse.LongTensor torch.sparse.IntTensor",
        from_coordinates, Type::own},
    {"to_sparse", "input, *more, **options", "method", same, Type::input},
    {"to_sparse_csr", "input, dense_dim=None", "method", same, Type::input},
    {"to_sparse_csc", "input, dense_dim=None", "method", same, Type::input},
    {"to_dense", "input, dtype=None, *, masked_grad=True", "method", same, Type::input},
    {"coalesce", "input", "method", same, Type::input},
    {"mm", "mat1, mat2, reduce=None", "torch.sparse.mm", product_of_sparse, Type::promote},
    {"addmm", "mat, mat1, mat2, *, beta=1, alpha=1", "torch.sparse.addmm", added_product, Type::promote},
};

}  // namespace

std::vector<Row> sparse_rows() { return operator_rows(sparse_operators); }

}  // namespace stepzero::libraries
