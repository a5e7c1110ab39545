// Operators that compare elements: the greatest and where they are, sorting, unique values, searching.
#include "libraries/torch/ops/reductions.hpp"

namespace stepzero::libraries {

namespace {

// max(x), max(x, dim) and max(x, y).
Value choose(Op& op) {
  if (op.argument("other"))
    return op.must_be_tensor("other") && op.must_be_tensor("input") ? broadcasting(op) : op.unknown();
  const Value dim = op.argument("dim");
  if (op.tensor(dim)) return op.must_be_tensor("input") ? broadcasting(op) : op.unknown();
  const TensorState* input = operand(op);
  if (op.failed()) return op.unknown();
  if (dim.is(Kind::unknown)) return anything(op);
  if (!input || !has_elements(op, input->shape)) return op.unknown();
  if (!dim) return op.result({true, {}}, input->dtype);
  const Shape shape = reduced(op, input->shape);
  return op.failed() ? op.unknown() : values_and_indices(op, shape, input->dtype);
}
// median(x) is a tensor, median(x, dim) a pair.
Value median(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (!op.argument("dim")) return op.result({true, {}}, input->dtype);
  const Shape shape = reduced(op, input->shape);
  return op.failed() ? op.unknown() : values_and_indices(op, shape, input->dtype);
}
Value mode(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const Shape shape = reduced(op, input->shape);
  return op.failed() ? op.unknown() : values_and_indices(op, shape, input->dtype);
}
// The dimension that `dim` names, if it is known which and how large it is.
std::optional<Dim> along(Op& op, const Shape& shape) {
  const auto axes = named_axes(op, shape, "dim");
  if (!axes || axes->known.size() != 1) return std::nullopt;
  return shape.dims.empty() ? op.dim(1) : shape.dims[axes->known.front()];
}
Value kth_value(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const auto dim = along(op, input->shape);
  const Int k = op.size("k");
  if (!op.failed() && k &&
      (op.s.compare(Compare::lt, k, op.s.constant(1)) == Answer::yes ||
          (dim && dim->size && op.s.compare(Compare::gt, k, dim->size) == Answer::yes)))
    return op.fail(ProblemKind::argument,
        dim ? why<Reason::element_of>(op.dim(k), *dim) : why<Reason::element>(op.dim(k)));
  const Shape shape = op.failed() ? Shape{} : reduced(op, input->shape);
  return op.failed() ? op.unknown() : values_and_indices(op, shape, input->dtype);
}
Value top_k(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  Shape shape = input->shape;
  const Int k = op.size("k");
  const auto axes = named_axes(op, shape, "dim");
  if (op.failed()) return op.unknown();
  if (k && op.s.compare(Compare::lt, k, op.s.constant(0)) == Answer::yes)
    return op.refuse_number("elements", op.dim(k), {}, ProblemKind::index);
  if (!axes) {
    if (shape.ndim_known)
      shape.dims.assign(shape.dims.size(), Dim{});
    else
      shape = {};
  } else if (!axes->known.empty() && axes->known.front() < shape.dims.size()) {
    Dim& dim = shape.dims[axes->known.front()];
    if (k && dim.size && op.s.compare(Compare::gt, k, dim.size) == Answer::yes)
      return op.fail(ProblemKind::index,
          why<Reason::largest_count>(op.dim(k), dim, axes->known.front(), op.name("input"), input->shape),
          {dim});
    dim = op.made(k);
  }
  return values_and_indices(op, shape, input->dtype);
}
Value sort(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_axis(op, input->shape)) return op.unknown();
  return values_and_indices(op, input->shape, input->dtype);
}
Value argsort(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_axis(op, input->shape)) return op.unknown();
  return op.result(input->shape, Dtype::int64);
}
Value unique(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const Known inverse = op.flag("return_inverse"), counts = op.flag("return_counts");
  if (inverse == Known::unknown || counts == Known::unknown) return anything(op);
  symbolic::AtomInfo info;
  info.lower = 0;
  info.sharing = input->sharing == Sharing::uniform ? Sharing::uniform
                                                    : symbolic::mix(input->sharing, Sharing::local);
  const Dim found{op.s.fresh(info), nullptr, nullptr};
  Shape shape{true, {found}}, where = input->shape;
  if (op.argument("dim")) {
    shape = input->shape;
    where = {true, {Dim{}}};
    if (const auto axes = named_axes(op, shape, "dim");
        axes && axes->known.size() == 1 && axes->known.front() < shape.dims.size()) {
      where.dims[0] = shape.dims[axes->known.front()];
      shape.dims[axes->known.front()] = found;
    } else if (op.failed()) {
      return op.unknown();
    } else if (shape.ndim_known) {
      shape.dims.assign(shape.dims.size(), Dim{});
    } else {
      shape = {};
    }
  }
  std::vector<Value> parts{op.result(shape, input->dtype)};
  if (inverse == Known::yes) parts.push_back(op.result(where, Dtype::int64));
  if (counts == Known::yes) parts.push_back(op.result({true, {found}}, Dtype::int64));
  return parts.size() == 1 ? parts[0] : op.tuple(std::move(parts));
}

// Where each value would be put in a sorted sequence.
Value searched(Op& op) {
  const bool buckets = op.title() == "bucketize";
  const std::string_view values_name = "input";
  const Known small = op.flag("out_int32");
  const Dtype dtype = small == Known::yes ? Dtype::int32 : small == Known::no ? Dtype::int64 : Dtype::unknown;
  const TensorState* sorted = op.tensor(buckets ? "boundaries" : "sorted_sequence");
  if (buckets && sorted && sorted->shape.ndim_known && sorted->shape.dims.size() != 1)
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::vector}, "boundaries");
  if (op.is_number(values_name)) return op.result({true, {}}, dtype);
  const TensorState* wanted = op.tensor(values_name);
  if (!wanted) return op.result({}, dtype);
  if (!buckets && sorted && sorted->shape.ndim_known && wanted->shape.ndim_known &&
      sorted->shape.dims.size() != 1) {
    bool fit = sorted->shape.dims.size() == wanted->shape.dims.size();
    for (std::size_t i = 0; fit && i + 1 < wanted->shape.dims.size(); ++i)
      fit = op.equal(sorted->shape.dims[i], wanted->shape.dims[i]) != Answer::no;
    if (!fit && !sorted->shape.dims.empty())
      return op.fail(ProblemKind::argument,
          interpreter::ShapesApart{interpreter::ShapesApart::all_but_last, op.taker(),
              {{op.name(op.call.row.parameters[0].text()), sorted->shape},
                  {op.name(values_name), wanted->shape}}});
  }
  return op.result(wanted->shape, dtype);
}
Value is_in(Op& op) {
  if (op.is_number("elements")) return op.result({true, {}}, Dtype::boolean);
  const TensorState* elements = op.tensor("elements");
  return op.result(elements ? elements->shape : Shape{}, Dtype::boolean);
}

constexpr Operator sorting_operators[] = {
    {"max", "input, dim=None, keepdim=False, *, other=None, out=None", "torch method", choose},
    {"min", "input, dim=None, keepdim=False, *, other=None, out=None", "torch method", choose},
    {"median", "input, dim=None, keepdim=False, *, out=None", "torch method", median, Type::input},
    {"nanmedian", "input, dim=None, keepdim=False, *, out=None", "torch method", median, Type::input},
    {"mode", "input, dim=-1, keepdim=False, *, out=None", "torch method", mode, Type::input},
    {"kthvalue", "input, k, dim=-1, keepdim=False, *, out=None", "torch method", kth_value, Type::input},
    {"topk", "input, k, dim=-1, largest=True, sorted=True, *, out=None", "torch method", top_k, Type::input},
    {"sort", "input, dim=-1, descending=False, stable=False, *, out=None", "torch method", sort, Type::input},
    {"argsort", "input, dim=-1, descending=False, stable=False", "torch method", argsort, Type::int64},
    {"msort", "input, *, out=None", "torch method", same, Type::input},
    {"unique", "input, sorted=True, return_inverse=False, return_counts=False, dim=None",
        "torch method torch.functional.unique", unique, Type::input},
    {"unique_consecutive", "input, return_inverse=False, return_counts=False, dim=None", "torch method",
        unique, Type::input},
    {"cummax", "input, dim, *, out=None", "torch method", sort, Type::input},
    {"cummin", "input, dim, *, out=None", "torch method", sort, Type::input},
    {"bucketize", "input, boundaries, *, out_int32=False, right=False, out=None", "torch", searched,
        Type::own},
    {"searchsorted",
        "sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None", "torch",
        searched, Type::own},
    {"isin", "elements, test_elements, *, assume_unique=False, invert=False, out=None", "torch", is_in,
        Type::boolean},
};

}  // namespace

std::vector<Row> sorting_rows() { return operator_rows(sorting_operators); }

}  // namespace stepzero::libraries
