// Operators that move a tensor's elements about: turned, rolled, along diagonals, in windows and between
// channels and pixels; and where the elements lie.
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"
#include "values/kept_by_packages.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// ---------------------------------------------------------------- the same shape, in another order or with
// other values

// In order, unless another order is asked for.
Value contiguous(Op& op) {
  // What lies in order already is given back itself.
  const TensorState* from = op.tensor("input");
  if (from && !from->strides.empty() && !op.argument("memory_format") &&
      from->strides == op.strides_in_order(from->shape))
    return op.argument("input");
  const Value made = same(op);
  return op.argument("memory_format") ? made : op.in_order(made);
}
// One or several dims have to exist.
Value flip(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known) (void)op.axes("dims", input->shape.dims.size());
  return op.failed() ? op.unknown() : op.result(input->shape);
}
Value flip_sides(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const std::size_t least = op.title() == "fliplr" ? 2 : 1;
  if (input->shape.ndim_known && input->shape.dims.size() < least)
    return op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(static_cast<int>(least)), "input");
  return op.result(input->shape);
}
Value roll(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  const auto shifts = op.integers("shifts");
  if (const Value dims = op.argument("dims"); dims && shifts) {
    if (const auto at = op.integers("dims"); at && !at->empty()) {
      if (at->size() != shifts->size())
        return op.refuse_count(ProblemKind::argument, shifts->size(), "shift", at->size(), "dimension");
      if (input->shape.ndim_known && !input->shape.dims.empty())
        for (const std::int64_t one_of : *at)
          if (!op.axis(one_of, input->shape.dims.size())) return op.unknown();
    }
  }
  return op.result(input->shape);
}
Value rot90(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const auto times = op.integer("k");
  std::vector<std::int64_t> plane{0, 1};
  if (op.argument("dims")) {
    const auto asked = op.integers("dims");
    if (!asked || asked->size() != 2) return op.unknown();
    plane = *asked;
  }
  if (!shape.ndim_known) return op.unknown();
  if (shape.dims.size() < 2) return op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(2), "input");
  const auto a = op.axis(plane[0], shape.dims.size()), b = op.axis(plane[1], shape.dims.size());
  if (!a || !b) return op.unknown();
  if (*a == *b) return op.fail(ProblemKind::argument, why<Reason::rotated_plane>());
  if (!times) {
    shape.dims[*a] = shape.dims[*b] = Dim{};
  } else if (*times % 2 != 0) {
    std::swap(shape.dims[*a], shape.dims[*b]);
  }
  return op.result(shape);
}
Value triangle(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() < 2)
    return op.refuse_shape(ProblemKind::index, ShapeNeed::at_least(2), "input");
  return op.result(input->shape);
}

// ---------------------------------------------------------------- diagonals

// The length of the diagonal that lies `offset` above the main one.
Int diagonal_length(Op& op, Int rows, Int columns, std::int64_t offset) {
  if (!rows || !columns) return nullptr;
  if (offset > 0)
    columns = op.s.sub(columns, op.s.constant(offset));
  else
    rows = op.s.sub(rows, op.s.constant(-offset));
  return larger(op, smaller(op, rows, columns), op.s.constant(0));
}
Value diagonal_of(Op& op, const TensorState* input, std::int64_t first, std::int64_t second) {
  Shape shape = input->shape;
  const auto offset = op.argument("offset") ? op.integer("offset")
      : op.argument("diagonal")             ? op.integer("diagonal")
                                            : std::optional<std::int64_t>(0);
  if (!shape.ndim_known) return op.unknown();
  const auto a = op.axis(first, shape.dims.size());
  const auto b = a ? op.axis(second, shape.dims.size()) : std::nullopt;
  if (!a || !b) return op.unknown();
  if (*a == *b) return op.fail(ProblemKind::argument, why<Reason::diagonal_same>(first, second));
  const Int length = offset ? diagonal_length(op, shape.dims[*a].size, shape.dims[*b].size, *offset)
                            : nullptr;
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(std::max(*a, *b)));
  shape.dims.erase(shape.dims.begin() + static_cast<std::ptrdiff_t>(std::min(*a, *b)));
  shape.dims.push_back(length ? op.made(length) : Dim{});
  return op.result(shape);
}
Value diagonal(Op& op) {
  const TensorState* input = op.expect("input");
  const auto first = op.integer("dim1"), second = op.integer("dim2");
  if (!input || !first || !second) return op.unknown();
  return diagonal_of(op, input, *first, *second);
}
Value diag_embed(Op& op) {
  const TensorState* input = op.expect("input");
  const auto first = op.integer("dim1"), second = op.integer("dim2"), offset = op.integer("offset");
  if (!input || !input->shape.ndim_known || !first || !second) return op.unknown();
  Shape shape = input->shape;
  if (shape.dims.empty()) return op.unknown();
  const auto a = op.axis(*first, shape.dims.size() + 1);
  const auto b = a ? op.axis(*second, shape.dims.size() + 1) : std::nullopt;
  if (!a || !b) return op.unknown();
  if (*a == *b) return op.fail(ProblemKind::argument, why<Reason::diagonal_dimensions>());
  const Int length = shape.dims.back().size;
  const Dim side = length && offset ? op.made(op.s.add(length, op.s.constant(std::abs(*offset)))) : Dim{};
  shape.dims.pop_back();
  for (const std::size_t at : {std::min(*a, *b), std::max(*a, *b)})
    shape.dims.insert(shape.dims.begin() + static_cast<std::ptrdiff_t>(at), side);
  return op.result(shape);
}
// A vector becomes a matrix, a matrix its diagonal.
Value diag(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input || !input->shape.ndim_known) return op.unknown();
  const auto& dims = input->shape.dims;
  const auto offset = op.integer("diagonal");
  if (dims.size() == 1) {
    const Dim side =
        offset && dims[0].size ? op.made(op.s.add(dims[0].size, op.s.constant(std::abs(*offset)))) : Dim{};
    return op.result({true, {side, side}});
  }
  if (dims.size() == 2) return diagonal_of(op, input, 0, 1);
  return op.refuse_shape(ProblemKind::index, {ShapeNeed::vector_or_matrix}, "input");
}
Value diagflat(Op& op) {
  const TensorState* input = op.expect("input");
  const auto offset = op.integer("offset");
  if (!input) return op.unknown();
  const Int total = input->shape.ndim_known ? op.product(input->shape.dims) : nullptr;
  const Dim side = total && offset ? op.made(op.s.add(total, op.s.constant(std::abs(*offset)))) : Dim{};
  return op.result({true, {side, side}});
}

// ---------------------------------------------------------------- windows and pixels

Value unfold(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const Int size = op.size("size"), step = op.size("step");
  // A number by itself is one window of at most one.
  if (shape.ndim_known && shape.dims.empty()) {
    if (op.integer("dimension") && !op.axis("dimension", 0)) return op.unknown();
    if (size && op.s.compare(Compare::gt, size, op.s.constant(1)) == Answer::yes)
      return op.fail(ProblemKind::argument, why<Reason::windows_of_number>(op.dim(size), op.name("input")));
    return op.result({true, {size ? op.made(size) : Dim{}}});
  }
  const auto at = find_dim(op, shape, "dimension");
  if (!at) return op.unknown();
  Dim& length = shape.dims[*at];
  if (size && length.size && op.s.compare(Compare::gt, size, length.size) == Answer::yes)
    return op.fail(ProblemKind::argument, why<Reason::windows_of_size>(op.dim(size), length), {length});
  if (step && op.s.compare(Compare::le, step, op.s.constant(0)) == Answer::yes)
    return op.refuse_value("step", 1, {}, op.dim(step));
  length = size && step && length.size
      ? op.made(op.s.add(op.s.floordiv(op.s.sub(length.size, size), step), op.s.constant(1)))
      : Dim{};
  shape.dims.push_back(size ? op.made(size) : Dim{});
  return op.result(shape);
}

// as_strided(size, stride)
Value as_strided(Op& op) {
  const auto wanted = wanted_sizes(op, "size");
  if (!wanted || !wanted->complete) return op.unknown();
  // What is not known may be several.
  const Value given = op.argument("stride");
  if (const auto strides = op.sizes("stride");
      strides && strides->size() != wanted->sizes.size() && (given.is(Kind::tuple) || given.is(Kind::list)))
    return op.refuse_count(ProblemKind::argument, strides->size(), "stride", wanted->sizes.size(), "size");
  return op.result(shape_of(op, wanted->sizes));
}

// ---------------------------------------------------------------- in-place changes of the own shape

Value resize(Op& op) {
  const TensorState* input = op.expect("input");
  const auto wanted = input ? wanted_sizes(op, op.call.row.parameters[1].text()) : std::nullopt;
  if (!wanted || !wanted->complete) return op.unknown();
  return op.result(shape_of(op, wanted->sizes));
}
Value set(Op& op) {
  const TensorState* source = op.tensor("source");
  if (!source || op.argument("size")) return op.unknown();
  return op.result(source->shape, source->dtype);
}

// A number by which others find the memory: who is given it may write what lies there.
Value address(Op& op) {
  const Value tensor = op.argument("input"),
              made = op.run.heap().unknown("", op.run.heap().sharing(tensor), op.call.place);
  op.run.heap().set(
      op.run.heap().slot_of(made.as<values::Unknown>()->attributes, Name(values::AddressState::memory_of)),
      tensor);
  return made;
}

constexpr Operator arrangement_operators[] = {
    {"data_ptr", "input", "method", address, Type::own},
    {"contiguous", "input, memory_format=None", "method", contiguous, Type::input},
    {"flip", "input, dims, *more", "torch method", flip, Type::input},
    {"fliplr", "input", "torch method", flip_sides, Type::input},
    {"flipud", "input", "torch method", flip_sides, Type::input},
    {"roll", "input, shifts, dims=None", "torch method", roll, Type::input},
    {"rot90", "input, k=1, dims=None", "torch method", rot90, Type::input},
    {"tril", "input, diagonal=0, *, out=None", "torch method in_place", triangle, Type::input},
    {"triu", "input, diagonal=0, *, out=None", "torch method in_place", triangle, Type::input},
    {"diagonal", "input, offset=0, dim1=0, dim2=1", "torch method torch.diagonal_copy", diagonal,
        Type::input},
    {"linalg.diagonal", "input, *, offset=0, dim1=-2, dim2=-1", "torch.linalg.diagonal", diagonal,
        Type::input},
    {"diag", "input, diagonal=0, *, out=None", "torch method", diag, Type::input},
    {"diag_embed", "input, offset=0, dim1=-2, dim2=-1", "torch method", diag_embed, Type::input},
    {"diagflat", "input, offset=0", "torch method", diagflat, Type::input},

    {"unfold", "input, dimension, size, step", "method torch.unfold_copy", unfold, Type::input},
    {"as_strided", "input, size, stride, storage_offset=None", "torch method in_shape torch.as_strided_copy",
        as_strided, Type::input},
    {"resize", "input, size, *more, memory_format=None", "in_shape torch.resize_", resize, Type::input},
    {"resize_as", "input, the_template, memory_format=None", "in_shape torch.resize_as_",
        [](Op& op) {
          const TensorState* other = op.tensor("the_template");
          return other ? op.result(other->shape, op.result_type(Type::input)) : op.unknown();
        },
        Type::input},
    {"set", "input, source=None, storage_offset=0, size=None, stride=None", "in_shape", set, Type::own},
};

}  // namespace

std::vector<Row> arrangement_rows() { return operator_rows(arrangement_operators); }

}  // namespace stepzero::libraries
