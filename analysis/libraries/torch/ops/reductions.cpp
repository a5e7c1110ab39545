// Operators that reduce dimensions to one result. See reductions.hpp.
#include "libraries/torch/ops/reductions.hpp"

#include <algorithm>

namespace stepzero::libraries {

std::optional<Axes> named_axes(Op& op, const Shape& shape, std::string_view dim) {
  Axes found;
  if (shape.ndim_known) {
    auto axes = op.axes(dim, shape.dims.size());
    if (!axes) return std::nullopt;
    found.known = std::move(*axes);
    return found;
  }
  const auto given = op.integers(dim);
  if (!given) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape.dims.size());
  for (const std::int64_t at : *given) {
    if (at >= 0) return std::nullopt;
    if (at + rank >= 0)
      found.known.push_back(static_cast<std::size_t>(at + rank));
    else
      ++found.before;
  }
  return found;
}

namespace {

Shape reduced_over(Op& op, const Shape& shape, const Axes& axes, Known keep) {
  if (keep == Known::unknown) return {};
  Shape out{shape.ndim_known, {}};
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    const bool gone = std::find(axes.known.begin(), axes.known.end(), i) != axes.known.end();
    if (!gone)
      out.dims.push_back(shape.dims[i]);
    else if (keep == Known::yes)
      out.dims.push_back(op.dim(1));
  }
  return out;
}
Shape reduced_to_one(Op& op, const Shape& shape, Known keep) {
  if (keep == Known::no) return {true, {}};
  if (keep == Known::unknown || !shape.ndim_known) return {};
  return {true, std::vector<Dim>(shape.dims.size(), op.dim(1))};
}

}  // namespace

Shape reduced(Op& op, const Shape& shape, std::string_view dim) {
  constexpr std::size_t most_dims = 64;  // PyTorch keeps the dimensions as the bits of one number
  if (shape.ndim_known && shape.dims.size() > most_dims) {
    op.refuse_shape(ProblemKind::argument, ShapeNeed::at_most(64), "input");
    return {};
  }
  const Known keep = op.flag("keepdim");
  const Value value = op.argument(dim);
  if (!value) return reduced_to_one(op, shape, keep);
  const auto axes = named_axes(op, shape, dim);
  if (axes) {
    if (axes->known.empty() && axes->before == 0) return reduced_to_one(op, shape, keep);  // dim=()
    Shape out = reduced_over(op, shape, *axes, keep);
    // A number by itself has none of these dimensions; what is shown is none.
    const auto given = op.integers(dim);
    if (axes->before > 0 && keep == Known::yes && given && op.run.policy().usual_ndim)
      for (const std::int64_t at : *given) {
        const auto from_end = static_cast<std::size_t>(-at);
        if (from_end <= shape.dims.size()) continue;
        if (from_end > out.dims.size()) out.dims.insert(out.dims.begin(), from_end - out.dims.size(), Dim{});
        out.dims[out.dims.size() - from_end] = op.dim(1);
      }
    return out;
  }
  // However many there are, the first is left.
  if (const auto given = shape.ndim_known ? std::nullopt : op.integers(dim);
      given && !op.failed() && std::ranges::all_of(*given, [](std::int64_t at) { return at > 0; }))
    return {false, {Dim{}}};
  if (op.failed() || !shape.ndim_known) return {};
  // One dimension, or an unknown number of them.
  if (keep == Known::yes) return {true, std::vector<Dim>(shape.dims.size())};
  if (value.is(Kind::integer) && keep == Known::no && !shape.dims.empty())
    return {true, std::vector<Dim>(shape.dims.size() - 1)};
  return {};
}

Value values_and_indices(Op& op, const Shape& shape, Dtype dtype) {
  constexpr static std::string_view fields[] = {"values", "indices"};
  return op.named_tuple({op.result(shape, dtype), op.result(shape, Dtype::int64)}, fields);
}

// ---------------------------------------------------------------- operands

const TensorState* operand(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  return op.must_be_tensor(first) ? op.expect(first) : nullptr;
}
Value anything(Op& op) {
  Sharing sharing = Sharing::uniform;
  for (const Value& value : op.tensors()) sharing = symbolic::mix(sharing, op.run.heap().sharing(value));
  return op.run.heap().unknown("", sharing, op.call.place);
}
Value reduce(Op& op, Dtype dtype) {
  const Shape shape = reduced(op, op.shape(op.call.row.parameters[0].text()));
  return op.failed() ? op.unknown() : op.result(shape, dtype);
}
bool needs_floats(Op& op, const TensorState& input) {
  const Dtype asked = op.dtype("dtype", input.dtype);
  if (!is_integral(asked)) return true;
  const std::string_view first = op.call.row.parameters[0].text();
  op.fail(ProblemKind::dtype, interpreter::WrongDtype{op.taker(), DtypeNeed::floats, op.name(first), asked});
  return false;
}
bool has_elements(Op& op, const Shape& shape) {
  const auto refuse = [&](interpreter::Refusal refusal) {
    op.fail(ProblemKind::argument, std::move(refusal));
    return false;
  };
  if (op.argument("dim")) {
    const auto given = op.integers("dim");
    if (!given || given->empty() || !shape.ndim_known) return true;
    for (const std::int64_t at : *given) {
      const auto rank = static_cast<std::int64_t>(shape.dims.size());
      if (const std::int64_t i = at < 0 ? at + rank : at;
          i >= 0 && i < rank && op.value(shape.dims[static_cast<std::size_t>(i)]) == 0)
        return refuse(why<Reason::empty_dimension>(op.taker(), at, shape));
    }
    return true;
  }
  for (const Dim& dim : shape.dims)
    if (op.value(dim) == 0) return refuse(why<Reason::empty_tensor>(op.taker(), shape));
  return true;
}

bool has_axis(Op& op, const Shape& shape) {
  if (shape.ndim_known && op.argument("dim")) (void)op.axis("dim", shape.dims.size());
  return !op.failed();
}

// ---------------------------------------------------------------- one result

namespace {

// Integers are added up as int64.
Value sum(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  return reduce(op, op.dtype("dtype", is_integral(input->dtype) ? Dtype::int64 : input->dtype));
}
Value mean(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input)) return op.unknown();
  return reduce(op, op.dtype("dtype", input->dtype));
}
Value any(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  return reduce(op,
      input->dtype == Dtype::uint8         ? Dtype::uint8
          : input->dtype == Dtype::unknown ? Dtype::unknown
                                           : Dtype::boolean);
}
Value count(Op& op) { return operand(op) ? reduce(op, Dtype::int64) : op.unknown(); }
Value position(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_elements(op, input->shape)) return op.unknown();
  return reduce(op, Dtype::int64);
}
Value extreme(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_elements(op, input->shape)) return op.unknown();
  return reduce(op, input->dtype);
}
// A uint64, a dtype of which only the name is known.
Value hash(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_elements(op, input->shape)) return op.unknown();
  if (const auto mode = op.integer("mode"); mode && *mode != 0)
    return op.fail(ProblemKind::argument, why<Reason::hash_mode>(*mode));
  if (is_complex(input->dtype)) return op.refuse_dtype(DtypeNeed::real, "input");
  return reduce(op, Dtype::unknown);
}
Value norm(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input)) return op.unknown();
  if (const auto p = op.text("p"); p && *p != "fro" && *p != "nuc")
    return op.refuse_option("p", {"fro", "nuc", "a number"}, *p);
  return reduce(op, op.dtype("dtype", real_part(input->dtype)));
}
Value logsumexp(Op& op) {
  const TensorState* input = operand(op);
  return input ? reduce(op, to_floating(input->dtype)) : op.unknown();
}
// std(x, False) is the biased one of all elements, std(x, 1) that along a dimension.
Shape spread(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input)) return {};
  if (op.argument("dim").is(Kind::boolean)) return {true, {}};
  return reduced(op, input->shape);
}
Value deviation(Op& op) {
  const Shape shape = spread(op);
  return op.failed() ? op.unknown() : op.result(shape, real_part(op.result_type(Type::input)));
}
Value deviation_and_mean(Op& op) {
  const Shape shape = spread(op);
  if (op.failed()) return op.unknown();
  const Dtype dtype = op.result_type(Type::input);
  return op.tuple({op.result(shape, real_part(dtype)), op.result(shape, dtype)});
}
Value least_and_greatest(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !has_elements(op, input->shape)) return op.unknown();
  const Shape shape = reduced(op, input->shape);
  if (op.failed()) return op.unknown();
  // Where there is no dimension, keepdim keeps none; before PyTorch 2 it made one.
  const Shape displayed =
      shape.ndim_known && input->shape.ndim_known && input->shape.dims.empty() ? input->shape : shape;
  constexpr static std::string_view fields[] = {"min", "max"};
  return op.named_tuple({op.result(displayed, input->dtype), op.result(displayed, input->dtype)}, fields);
}
// One quantile, or one for each of several in front.
Value quantile(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input)) return op.unknown();
  if (const auto q = op.real("q"); q && (*q < 0 || *q > 1)) return op.refuse_value("q", 0, 1);
  Shape shape = reduced(op, input->shape);
  if (op.failed()) return op.unknown();
  if (op.is_number("q")) return op.result(shape, input->dtype);
  const TensorState* q = op.tensor("q");
  if (!q || !q->shape.ndim_known) return op.unknown();
  if (q->shape.dims.size() > 1) return op.refuse_shape(ProblemKind::argument, ShapeNeed::at_most(1), "q");
  if (q->dtype != Dtype::unknown && input->dtype != Dtype::unknown && q->dtype != input->dtype)
    return op.refuse_dtypes("q", "input");
  if (!q->shape.dims.empty()) {
    if (!shape.ndim_known) return op.unknown();
    shape.dims.insert(shape.dims.begin(), q->shape.dims.front());
  }
  return op.result(shape, input->dtype);
}
Value trace(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.ndim_known && input->shape.dims.size() != 2)
    return op.refuse_shape(ProblemKind::argument, {ShapeNeed::matrix}, "input");
  return op.result({true, {}}, is_integral(input->dtype) ? Dtype::int64 : input->dtype);
}
Value distance(Op& op) {
  (void)op.broadcast(op.shape("input"), op.shape("other"));
  return op.failed() ? op.unknown() : op.result({true, {}}, real_part(op.promoted({"input", "other"})));
}
// A Python bool.
Value truth(Op& op) { return anything(op); }
Value all_close(Op& op) {
  const TensorState *a = op.tensor("input"), *b = op.tensor("other");
  if (a && b) (void)op.broadcast(a->shape, b->shape);
  return anything(op);
}

// Adds up what was broadcast: the sizes asked for must broadcast to those of the tensor.
Value sum_to_size(Op& op) {
  const TensorState* input = operand(op);
  const auto asked = op.sizes("size");
  if (!input || !asked) return op.unknown();
  Shape shape{true, {}};
  for (const Int size : *asked) shape.dims.push_back(op.made(size));
  if (input->shape.ndim_known) {
    bool fits = shape.dims.size() <= input->shape.dims.size();
    for (std::size_t i = 0; fits && i < shape.dims.size(); ++i) {
      const Dim want = from_right(shape, i), have = from_right(input->shape, i);
      fits = op.equal(want, have) != Answer::no || op.equal(want, 1) != Answer::no;
    }
    if (!fits) return op.fail(ProblemKind::argument, why<Reason::summed_shape>(input->shape, shape));
  }
  // Where there is nothing to sum, it is the tensor itself; of no dimension, it is summed all the same.
  Answer same_shape = input->shape.ndim_known && shape.dims.empty() ? Answer::no
      : input->shape.ndim_known ? input->shape.dims.size() == shape.dims.size() ? Answer::yes : Answer::no
                                : Answer::unknown;
  for (std::size_t i = 0; same_shape == Answer::yes && i < shape.dims.size(); ++i)
    same_shape = op.equal(shape.dims[i], input->shape.dims[i]);
  const bool integral = is_integral(input->dtype) && input->dtype != Dtype::int64;
  return op.result(shape,
      !integral || same_shape == Answer::yes ? input->dtype
          : same_shape == Answer::no         ? Dtype::int64
                                             : Dtype::unknown);
}

constexpr Operator reduction_operators[] = {
    {"sum", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"nansum", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"prod", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"mean", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", mean, Type::own},
    {"nanmean", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", mean, Type::own},
    {"any", "input, dim=None, keepdim=False, *, out=None", "torch method", any, Type::own},
    {"all", "input, dim=None, keepdim=False, *, out=None", "torch method", any, Type::own},
    {"count_nonzero", "input, dim=None", "torch method", count, Type::int64},
    {"hash_tensor", "input, dim=None, *, keepdim=False, mode=0, out=None", "torch method", hash, Type::own},
    {"argmax", "input, dim=None, keepdim=False, *, out=None", "torch method", position, Type::int64},
    {"argmin", "input, dim=None, keepdim=False, *, out=None", "torch method", position, Type::int64},
    {"amax", "input, dim=None, keepdim=False, *, out=None", "torch method", extreme, Type::input},
    {"amin", "input, dim=None, keepdim=False, *, out=None", "torch method", extreme, Type::input},
    {"aminmax", "input, *, dim=None, keepdim=False, out=None", "torch method", least_and_greatest,
        Type::input},
    {"norm", "input, p='fro', dim=None, keepdim=False, out=None, dtype=None",
        "torch method torch.functional.norm", norm, Type::own},
    {"logsumexp", "input, dim, keepdim=False, *, out=None", "torch method special", logsumexp,
        Type::floating},
    {"sum_to_size", "input, size, *more", "method", sum_to_size, Type::own},
    {"std", "input, dim=None, unbiased=None, keepdim=False, *, correction=1, out=None", "torch method",
        deviation, Type::own},
    {"var", "input, dim=None, unbiased=None, keepdim=False, *, correction=1, out=None", "torch method",
        deviation, Type::own},
    {"std_mean", "input, dim=None, unbiased=None, keepdim=False, *, correction=1", "torch",
        deviation_and_mean, Type::own},
    {"var_mean", "input, dim=None, unbiased=None, keepdim=False, *, correction=1", "torch",
        deviation_and_mean, Type::own},
    {"quantile", "input, q, dim=None, keepdim=False, *, interpolation='linear', out=None", "torch method",
        quantile, Type::input},
    {"nanquantile", "input, q, dim=None, keepdim=False, *, interpolation='linear', out=None", "torch method",
        quantile, Type::input},
    {"trace", "input", "torch method", trace, Type::own},
    {"dist", "input, other, p=2", "torch method", distance, Type::own},
    {"equal", "input, other", "torch method", truth, Type::own},
    {"is_nonzero", "input", "torch method", truth, Type::own},
    {"allclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", "torch method", all_close,
        Type::own},
};

}  // namespace

std::vector<Row> reduction_rows() { return operator_rows(reduction_operators); }

}  // namespace stepzero::libraries
