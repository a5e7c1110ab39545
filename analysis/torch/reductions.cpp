// Operators that reduce dimensions, run along one, sort or count.
#include "torch/operators.hpp"

#include <algorithm>
#include <array>

namespace stepzero::torch {

using symbolic::Answer;
using symbolic::Compare;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

// ---------------------------------------------------------------- shapes

std::optional<Axes> named_axes(Op& op, const Shape& shape, std::string_view dim) {
  Axes found;
  if (shape.rank_known) {
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
    if (at + rank >= 0) found.known.push_back(static_cast<std::size_t>(at + rank));
    else ++found.before;
  }
  return found;
}

namespace {

Shape reduced_over(Op& op, const Shape& shape, const Axes& axes, Known keep) {
  if (keep == Known::unknown) return {};
  Shape out{shape.rank_known, {}};
  for (std::size_t i = 0; i < shape.dims.size(); ++i) {
    const bool gone = std::find(axes.known.begin(), axes.known.end(), i) != axes.known.end();
    if (!gone) out.dims.push_back(shape.dims[i]);
    else if (keep == Known::yes) out.dims.push_back(op.dim(1));
  }
  return out;
}
Shape reduced_to_one(Op& op, const Shape& shape, Known keep) {
  if (keep == Known::no) return {true, {}};
  if (keep == Known::unknown || !shape.rank_known) return {};
  return {true, std::vector<Dim>(shape.dims.size(), op.dim(1))};
}

} // namespace

Shape reduced(Op& op, const Shape& shape, std::string_view dim) {
  if (shape.rank_known && shape.dims.size() > 64) {
    op.fail(ProblemKind::argument,
            std::string(op.title()) + " takes tensors of up to 64 dimensions, and this one has " + std::to_string(shape.dims.size()));
    return {};
  }
  const Known keep = op.flag("keepdim");
  const Value value = op.argument(dim);
  if (!value) return reduced_to_one(op, shape, keep);
  const auto axes = named_axes(op, shape, dim);
  if (axes) {
    if (axes->known.empty() && axes->before == 0) return reduced_to_one(op, shape, keep);  // dim=()
    return reduced_over(op, shape, *axes, keep);
  }
  if (op.failed() || !shape.rank_known) return {};
  // One dimension, or an unknown number of them.
  if (keep == Known::yes) return {true, std::vector<Dim>(shape.dims.size())};
  if (value.is(Kind::integer) && keep == Known::no && !shape.dims.empty()) return {true, std::vector<Dim>(shape.dims.size() - 1)};
  return {};
}

Value values_and_indices(Op& op, const Shape& shape, Dtype dtype) {
  constexpr static std::string_view fields[] = {"values", "indices"};
  return op.named_tuple({op.result(shape, dtype), op.result(shape, Dtype::int64)}, fields);
}

namespace {

// The operand of a reduction; null, after fail() where it is known to be none.
const TensorState* operand(Op& op) {
  const std::string_view first = op.call.row.parameters[0].text();
  return op.must_be_tensor(first) ? op.expect(first) : nullptr;
}
// Does not know what dim= may be: a tensor, a pair or one.
Value anything(Op& op) {
  Sharing sharing = Sharing::uniform;
  for (const Value& value : op.tensors()) sharing = symbolic::mix(sharing, op.run.heap().sharing(value));
  return op.run.heap().unknown("", sharing, op.call.place);
}
Value reduce(Op& op, Dtype dtype) {
  const Shape shape = reduced(op, op.shape(op.call.row.parameters[0].text()));
  return op.failed() ? op.unknown() : op.result(shape, dtype);
}
// An integer or bool operand where only floats have a mean. False after fail().
bool needs_floats(Op& op, const TensorState& input, std::string_view what) {
  const Dtype asked = op.dtype("dtype", input.dtype);
  if (!is_integral(asked)) return true;
  const std::string_view first = op.call.row.parameters[0].text();
  op.fail(ProblemKind::dtype,
          std::string(op.title()) + " takes floats, and " + op.name(first) + " is " + std::string(values::name(asked)) + ": " + std::string(what));
  return false;
}
// A dimension without elements has no greatest one. False after fail().
bool has_elements(Op& op, const Shape& shape) {
  const auto refuse = [&](const std::string& what) {
    op.fail(ProblemKind::argument, std::string(op.title()) + " has nothing to choose from: " + what);
    return false;
  };
  if (op.argument("dim")) {
    const auto given = op.integers("dim");
    if (!given || given->empty() || !shape.rank_known) return true;
    for (const std::int64_t at : *given) {
      const auto rank = static_cast<std::int64_t>(shape.dims.size());
      if (const std::int64_t i = at < 0 ? at + rank : at; i >= 0 && i < rank && op.value(shape.dims[static_cast<std::size_t>(i)]) == 0)
        return refuse("dimension " + std::to_string(at) + " of " + op.words(shape) + " is empty");
    }
    return true;
  }
  for (const Dim& dim : shape.dims)
    if (op.value(dim) == 0) return refuse(op.words(shape) + " has no elements");
  return true;
}

// ---------------------------------------------------------------- one result

// Integers are added up as int64.
Value sum(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  return reduce(op, op.dtype("dtype", is_integral(input->dtype) ? Dtype::int64 : input->dtype));
}
Value mean(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input, "give dtype=torch.float32, or convert it")) return op.unknown();
  return reduce(op, op.dtype("dtype", input->dtype));
}
Value any(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  return reduce(op, input->dtype == Dtype::uint8 ? Dtype::uint8 : input->dtype == Dtype::unknown ? Dtype::unknown : Dtype::boolean);
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
Value norm(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input, "convert it")) return op.unknown();
  if (const auto p = op.text("p"); p && *p != "fro" && *p != "nuc")
    return op.fail(ProblemKind::argument, "norm knows 'fro' and 'nuc' and numbers, and not '" + std::string(*p) + "'");
  return reduce(op, op.dtype("dtype", real_part(input->dtype)));
}
Value logsumexp(Op& op) {
  const TensorState* input = operand(op);
  return input ? reduce(op, to_floating(input->dtype)) : op.unknown();
}
// std(x, False) is the biased one of all elements, std(x, 1) that along a dimension.
Shape spread(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input, "convert it")) return {};
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
  // Versions of PyTorch disagree about keepdim where there is no dimension.
  const Shape shown = shape.rank_known && input->shape.dims.empty() && op.flag("keepdim") != Known::no ? Shape{} : shape;
  constexpr static std::string_view fields[] = {"min", "max"};
  return op.named_tuple({op.result(shown, input->dtype), op.result(shown, input->dtype)}, fields);
}
// One quantile, or one for each of several in front.
Value quantile(Op& op) {
  const TensorState* input = operand(op);
  if (!input || !needs_floats(op, *input, "convert it")) return op.unknown();
  if (const auto q = op.real("q"); q && (*q < 0 || *q > 1))
    return op.fail(ProblemKind::argument, std::string(op.title()) + " takes a q between 0 and 1");
  Shape shape = reduced(op, input->shape);
  if (op.failed()) return op.unknown();
  if (op.is_number("q")) return op.result(shape, input->dtype);
  const TensorState* q = op.tensor("q");
  if (!q || !q->shape.rank_known) return op.unknown();
  if (q->shape.dims.size() > 1)
    return op.fail(ProblemKind::argument, "q of " + std::string(op.title()) + " is a number or a vector, and here of shape " + op.words(q->shape));
  if (q->dtype != Dtype::unknown && input->dtype != Dtype::unknown && q->dtype != input->dtype)
    return op.fail(ProblemKind::dtype, "q of " + std::string(op.title()) + " is " + std::string(values::name(q->dtype)) + ", and " +
                                           op.name("input") + " is " + std::string(values::name(input->dtype)));
  if (!q->shape.dims.empty()) {
    if (!shape.rank_known) return op.unknown();
    shape.dims.insert(shape.dims.begin(), q->shape.dims.front());
  }
  return op.result(shape, input->dtype);
}
Value trace(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() != 2)
    return op.fail(ProblemKind::argument, "trace takes a matrix, and " + op.name("input") + " is " + op.words(input->shape));
  return op.result({true, {}}, is_integral(input->dtype) ? Dtype::int64 : input->dtype);
}
Value distance(Op& op) {
  (void)op.broadcast(op.shape("input"), op.shape("other"));
  return op.failed() ? op.unknown() : op.result({true, {}}, real_part(op.promoted({"input", "other"})));
}
// A Python bool.
Value truth(Op& op) { return anything(op); }
Value close(Op& op) {
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
  if (input->shape.rank_known) {
    bool fits = shape.dims.size() <= input->shape.dims.size();
    for (std::size_t i = 0; fits && i < shape.dims.size(); ++i) {
      const Dim want = from_right(shape, i), have = from_right(input->shape, i);
      fits = op.equal(want, have) != Answer::no || op.equal(want, 1) != Answer::no;
    }
    if (!fits)
      return op.fail(ProblemKind::argument, op.words(input->shape) + " cannot be summed to " + op.words(shape) + ", which does not broadcast to it");
  }
  return op.result(shape, is_integral(input->dtype) ? Dtype::int64 : input->dtype);
}

// ---------------------------------------------------------------- values and where they are

// max(x), max(x, dim) and max(x, y).
Value choose(Op& op) {
  if (op.argument("other")) return op.must_be_tensor("other") && op.must_be_tensor("input") ? broadcasting(op) : op.unknown();
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
      (op.s.compare(Compare::lt, k, op.s.constant(1)) == Answer::yes || (dim && dim->size && op.s.compare(Compare::gt, k, dim->size) == Answer::yes)))
    return op.fail(ProblemKind::argument, "kthvalue is asked for number " + op.words(op.dim(k)) + (dim ? " of " + op.words(*dim) + " elements" : ""));
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
    return op.fail(ProblemKind::index, "topk is asked for " + op.words(op.dim(k)) + " elements");
  if (!axes) {
    if (shape.rank_known) shape.dims.assign(shape.dims.size(), Dim{});
    else shape = {};
  } else if (!axes->known.empty() && axes->known.front() < shape.dims.size()) {
    Dim& dim = shape.dims[axes->known.front()];
    if (k && dim.size && op.s.compare(Compare::gt, k, dim.size) == Answer::yes)
      return op.fail(ProblemKind::index, "topk is asked for " + op.words(op.dim(k)) + " of " + op.words(dim) + " elements: dimension " +
                                             std::to_string(axes->known.front()) + " of " + op.name("input") + " " + op.words(input->shape), {dim});
    dim = op.made(k);
  }
  return values_and_indices(op, shape, input->dtype);
}
// False after fail() where dim= names no dimension.
bool has_axis(Op& op, const Shape& shape) {
  if (shape.rank_known && op.argument("dim")) (void)op.axis("dim", shape.dims.size());
  return !op.failed();
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
  info.sharing = input->sharing == Sharing::uniform ? Sharing::uniform : Sharing::local;
  const Dim found{op.s.fresh(info), nullptr, nullptr};
  Shape shape{true, {found}}, where = input->shape;
  if (op.argument("dim")) {
    shape = input->shape;
    where = {true, {Dim{}}};
    if (const auto axes = named_axes(op, shape, "dim"); axes && axes->known.size() == 1 && axes->known.front() < shape.dims.size()) {
      where.dims[0] = shape.dims[axes->known.front()];
      shape.dims[axes->known.front()] = found;
    } else if (op.failed()) {
      return op.unknown();
    } else if (shape.rank_known) {
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

// ---------------------------------------------------------------- along a dimension

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
Value running_extreme(Op& op) { return sort(op); }
Value diff(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.rank_known && shape.dims.empty())
    return op.fail(ProblemKind::argument, "diff takes a tensor of at least one dimension, and " + op.name("input") + " has none");
  const auto n = op.integer("n");
  if (n && *n < 0) return op.fail(ProblemKind::argument, "diff is asked for differences of order " + std::to_string(*n));
  const auto axes = named_axes(op, shape, "dim");
  if (op.failed()) return op.unknown();
  if (!axes || axes->known.size() != 1) return op.result(shape.rank_known ? Shape{true, std::vector<Dim>(shape.dims.size())} : Shape{}, input->dtype);
  const std::size_t at = axes->known.front();
  Int size = shape.dims[at].size;
  for (const std::string_view name : {"prepend", "append"}) {
    if (!op.argument(name)) continue;
    const Shape& more = op.shape(name);
    if (more.rank_known && shape.rank_known && more.dims.size() != shape.dims.size())
      return op.fail(ProblemKind::argument, std::string(name) + " of diff has shape " + op.words(more) + ", and " + op.name("input") + " has " +
                                                op.words(shape) + ": they need the same number of dimensions");
    const Dim extra = shape.dims.size() - at <= more.dims.size() ? more.dims[more.dims.size() - (shape.dims.size() - at)] : Dim{};
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
  if (order && *order != 1 && *order != 2)
    return op.fail(ProblemKind::argument, "edge_order of gradient is 1 or 2, and not " + std::to_string(*order));
  const Value spacing = op.argument("spacing");
  std::size_t count = shape.dims.size();
  std::vector<std::size_t> over;
  if (op.argument("dim")) {
    if (!shape.rank_known) return op.run.heap().open_list(op.unknown());
    const auto axes = op.axes("dim", shape.dims.size());
    if (op.failed()) return op.unknown();
    if (!axes) return op.run.heap().open_list(op.result(shape, to_floating(input->dtype)));
    over = *axes;
    count = over.size();
  } else {
    if (!shape.rank_known) return op.run.heap().open_list(op.result({}, to_floating(input->dtype)));
    for (std::size_t i = 0; i < count; ++i) over.push_back(i);
  }
  if (spacing.is(Kind::list) || spacing.is(Kind::tuple))
    if (const auto items = op.run.elements(spacing, op.call.place); items && items->size() != count)
      return op.fail(ProblemKind::argument,
                     "gradient is given " + std::to_string(items->size()) + " spacings for " + std::to_string(count) + " dimensions");
  for (const std::size_t at : over)
    if (order && op.value(shape.dims[at]) && *op.value(shape.dims[at]) < *order + 1)
      return op.fail(ProblemKind::argument,
                     "gradient needs " + std::to_string(*order + 1) + " elements along each dimension, and dimension " + std::to_string(at) + " of " +
                         op.words(shape) + " has " + op.words(shape.dims[at]),
                     {shape.dims[at]});
  std::vector<Value> parts;
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
  if (!shape.rank_known || (x && !x->shape.rank_known)) return op.unknown();
  if (shape.dims.empty())
    return op.fail(ProblemKind::argument, std::string(op.title()) + " takes a tensor of at least one dimension, and " + op.name("y") + " has none");
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

// ---------------------------------------------------------------- counting

Value bincount(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() != 1)
    return op.fail(ProblemKind::argument, "bincount takes a tensor of one dimension, and " + op.name("input") + " is " + op.words(input->shape));
  const TensorState* weights = op.tensor("weights");
  const Dtype dtype = !op.argument("weights") ? Dtype::int64 : !weights ? Dtype::unknown : weights->dtype == Dtype::float32 ? Dtype::float32
                                                                           : weights->dtype == Dtype::unknown ? Dtype::unknown
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
    edges = given->shape.rank_known && given->shape.dims.size() == 1 ? given->shape.dims[0].size : nullptr;
    bins = op.sub(edges, op.s.constant(1));
  }
  return op.named_tuple({op.result({true, {op.made(bins)}}, input->dtype), op.result({true, {op.made(edges)}}, input->dtype)}, histogram_fields);
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
      const Int size = state ? (state->shape.rank_known && state->shape.dims.size() == 1 ? state->shape.dims[0].size : nullptr)
                             : op.add(op.run.to_int(item), op.s.constant(1));
      edges.push_back(op.result({true, {op.made(size)}}, input->dtype));
      shape.dims.push_back(op.made(op.sub(size, op.s.constant(1))));
    }
  if (!given) return anything(op);
  return op.named_tuple({op.result(shape, input->dtype), op.tuple(std::move(edges))}, histogram_fields);
}
// Where each value would be put in a sorted sequence.
Value searched(Op& op) {
  const bool buckets = op.title() == "bucketize";
  const std::string_view values_name = "input";
  const Known small = op.flag("out_int32");
  const Dtype dtype = small == Known::yes ? Dtype::int32 : small == Known::no ? Dtype::int64 : Dtype::unknown;
  const TensorState* sorted = op.tensor(buckets ? "boundaries" : "sorted_sequence");
  if (buckets && sorted && sorted->shape.rank_known && sorted->shape.dims.size() != 1)
    return op.fail(ProblemKind::argument,
                   "bucketize takes boundaries of one dimension, and " + op.name("boundaries") + " is " + op.words(sorted->shape));
  if (op.is_number(values_name)) return op.result({true, {}}, dtype);
  const TensorState* wanted = op.tensor(values_name);
  if (!wanted) return op.result({}, dtype);
  if (!buckets && sorted && sorted->shape.rank_known && wanted->shape.rank_known && sorted->shape.dims.size() != 1) {
    bool fit = sorted->shape.dims.size() == wanted->shape.dims.size();
    for (std::size_t i = 0; fit && i + 1 < wanted->shape.dims.size(); ++i) fit = op.equal(sorted->shape.dims[i], wanted->shape.dims[i]) != Answer::no;
    if (!fit && !sorted->shape.dims.empty())
      return op.fail(ProblemKind::argument, "searchsorted needs sequences and values that agree in all dimensions but the last, and is given " +
                                                op.words(sorted->shape) + " and " + op.words(wanted->shape));
  }
  return op.result(wanted->shape, dtype);
}
Value is_in(Op& op) {
  if (op.is_number("elements")) return op.result({true, {}}, Dtype::boolean);
  const TensorState* elements = op.tensor("elements");
  return op.result(elements ? elements->shape : Shape{}, Dtype::boolean);
}

// ---------------------------------------------------------------- statistics

// Rows are variables. One variable has a variance.
Value covariance(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  const Shape& shape = input->shape;
  const Dtype dtype = to_floating(input->dtype);
  if (shape.rank_known && shape.dims.size() > 2)
    return op.fail(ProblemKind::argument,
                   std::string(op.title()) + " takes a matrix with a variable in each row, and " + op.name("input") + " is " + op.words(shape));
  for (const std::string_view name : {"fweights", "aweights"}) {
    const Shape& weights = op.shape(name);
    if (!weights.rank_known) continue;
    if (weights.dims.size() > 1) return op.fail(ProblemKind::argument, std::string(name) + " of cov has one dimension, and is " + op.words(weights));
    if (!weights.dims.empty() && shape.rank_known && !shape.dims.empty() && op.equal(weights.dims[0], shape.dims.back()) == Answer::no)
      return op.fail(ProblemKind::argument,
                     std::string(name) + " of cov has " + op.words(weights.dims[0]) + " weights for " + op.words(shape.dims.back()) + " observations",
                     {weights.dims[0], shape.dims.back()});
  }
  if (!shape.rank_known) return op.result({}, dtype);
  if (shape.dims.size() < 2 || is_one(op, shape.dims[0])) return op.result({true, {}}, dtype);
  if (op.equal(shape.dims[0], 1) == Answer::unknown) return op.result({}, dtype);
  return op.result({true, {shape.dims[0], shape.dims[0]}}, dtype);
}
Value renorm(Op& op) {
  const TensorState* input = operand(op);
  if (!input) return op.unknown();
  if (input->shape.rank_known && input->shape.dims.size() < 2)
    return op.fail(ProblemKind::argument,
                   "renorm takes a tensor of at least two dimensions, and " + op.name("input") + " is " + op.words(input->shape));
  return has_axis(op, input->shape) ? op.result(input->shape, input->dtype) : op.unknown();
}
Value segments(Op& op) {
  const TensorState* data = op.expect("data");
  const TensorState *lengths = op.tensor("lengths"), *offsets = op.tensor("offsets");
  const auto axis = op.integer("axis");
  if (!data || !axis || *axis < 0 || (!lengths && !offsets)) return op.unknown();
  const Shape& by = (lengths ? lengths : offsets)->shape;
  const auto at = static_cast<std::size_t>(*axis);
  if (!data->shape.rank_known || !by.rank_known || at >= data->shape.dims.size() || at >= by.dims.size()) return op.unknown();
  Shape shape = data->shape;
  shape.dims[at] = lengths ? by.dims[at] : op.made(op.sub(by.dims[at].size, op.s.constant(1)));
  return op.result(shape, data->dtype);
}

// ---------------------------------------------------------------- the operators

constexpr Operator operators[] = {
    {"sum", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"nansum", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"prod", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", sum, Type::own},
    {"mean", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", mean, Type::own},
    {"nanmean", "input, dim=None, keepdim=False, *, dtype=None, out=None", "torch method", mean, Type::own},
    {"any", "input, dim=None, keepdim=False, *, out=None", "torch method", any, Type::own},
    {"all", "input, dim=None, keepdim=False, *, out=None", "torch method", any, Type::own},
    {"count_nonzero", "input, dim=None", "torch method", count, Type::int64},
    {"argmax", "input, dim=None, keepdim=False, *, out=None", "torch method", position, Type::int64},
    {"argmin", "input, dim=None, keepdim=False, *, out=None", "torch method", position, Type::int64},
    {"amax", "input, dim=None, keepdim=False, *, out=None", "torch method", extreme, Type::input},
    {"amin", "input, dim=None, keepdim=False, *, out=None", "torch method", extreme, Type::input},
    {"aminmax", "input, *, dim=None, keepdim=False, out=None", "torch method", least_and_greatest, Type::input},
    {"max", "input, dim=None, keepdim=False, *, other=None, out=None", "torch method", choose},
    {"min", "input, dim=None, keepdim=False, *, other=None, out=None", "torch method", choose},
    {"norm", "input, p='fro', dim=None, keepdim=False, out=None, dtype=None", "torch method torch.functional.norm", norm, Type::own},
    {"logsumexp", "input, dim, keepdim=False, *, out=None", "torch method special", logsumexp, Type::floating},
    {"sum_to_size", "input, size, *more", "method", sum_to_size, Type::own},
    {"std", "input, dim=None, unbiased=None, keepdim=False, *, correction=1, out=None", "torch method", deviation, Type::own},
    {"var", "input, dim=None, unbiased=None, keepdim=False, *, correction=1, out=None", "torch method", deviation, Type::own},
    {"std_mean", "input, dim=None, unbiased=None, keepdim=False, *, correction=1", "torch", deviation_and_mean, Type::own},
    {"var_mean", "input, dim=None, unbiased=None, keepdim=False, *, correction=1", "torch", deviation_and_mean, Type::own},
    {"quantile", "input, q, dim=None, keepdim=False, *, interpolation='linear', out=None", "torch method", quantile, Type::input},
    {"nanquantile", "input, q, dim=None, keepdim=False, *, interpolation='linear', out=None", "torch method", quantile, Type::input},
    {"trace", "input", "torch method", trace, Type::own},
    {"dist", "input, other, p=2", "torch method", distance, Type::own},
    {"equal", "input, other", "torch method", truth, Type::own},
    {"is_nonzero", "input", "torch method", truth, Type::own},
    {"allclose", "input, other, rtol=1e-05, atol=1e-08, equal_nan=False", "torch method", close, Type::own},

    {"median", "input, dim=None, keepdim=False, *, out=None", "torch method", median, Type::input},
    {"nanmedian", "input, dim=None, keepdim=False, *, out=None", "torch method", median, Type::input},
    {"mode", "input, dim=-1, keepdim=False, *, out=None", "torch method", mode, Type::input},
    {"kthvalue", "input, k, dim=-1, keepdim=False, *, out=None", "torch method", kth_value, Type::input},
    {"topk", "input, k, dim=-1, largest=True, sorted=True, *, out=None", "torch method", top_k, Type::input},
    {"sort", "input, dim=-1, descending=False, stable=False, *, out=None", "torch method", sort, Type::input},
    {"argsort", "input, dim=-1, descending=False, stable=False", "torch method", argsort, Type::int64},
    {"msort", "input, *, out=None", "torch method", same, Type::input},
    {"unique", "input, sorted=True, return_inverse=False, return_counts=False, dim=None", "torch method torch.functional.unique", unique, Type::input},
    {"unique_consecutive", "input, return_inverse=False, return_counts=False, dim=None", "torch method", unique, Type::input},

    {"cumsum", "input, dim, *, dtype=None, out=None", "torch method in_place", running, Type::own},
    {"cumprod", "input, dim, *, dtype=None, out=None", "torch method in_place", running, Type::own},
    {"logcumsumexp", "input, dim, *, out=None", "torch method", running_log, Type::input},
    {"cummax", "input, dim, *, out=None", "torch method", running_extreme, Type::input},
    {"cummin", "input, dim, *, out=None", "torch method", running_extreme, Type::input},
    {"diff", "input, n=1, dim=-1, prepend=None, append=None, *, out=None", "torch method", diff, Type::input},
    {"gradient", "input, *, spacing=1, dim=None, edge_order=1", "torch", gradient, Type::own},
    {"trapezoid", "y, x=None, *, dx=None, dim=-1", "torch torch.trapz", area, Type::own},
    {"cumulative_trapezoid", "y, x=None, *, dx=None, dim=-1", "torch", area, Type::own},

    {"bincount", "input, weights=None, minlength=0", "torch method", bincount, Type::own},
    {"histc", "input, bins=100, min=0, max=0, *, out=None", "torch method", histc, Type::input},
    {"histogram", "input, bins, *, range=None, weight=None, density=False, out=None", "torch method", histogram, Type::input},
    {"histogramdd", "input, bins, *, range=None, weight=None, density=False", "torch", histogram_of_many, Type::input},
    {"bucketize", "input, boundaries, *, out_int32=False, right=False, out=None", "torch", searched, Type::own},
    {"searchsorted", "sorted_sequence, input, *, out_int32=False, right=False, side=None, sorter=None, out=None", "torch", searched, Type::own},
    {"isin", "elements, test_elements, *, assume_unique=False, invert=False, out=None", "torch", is_in, Type::boolean},
    {"cov", "input, *, correction=1, fweights=None, aweights=None", "torch method", covariance, Type::own},
    {"corrcoef", "input", "torch method", covariance, Type::own},
    {"renorm", "input, p, dim, maxnorm, *, out=None", "torch method in_place", renorm, Type::input},
    {"segment_reduce", "data, reduce, *, lengths=None, indices=None, offsets=None, axis=0, unsafe=False, initial=None", "torch", segments, Type::own},
};

} // namespace

std::vector<Row> reduction_rows() { return operator_rows(operators); }

} // namespace stepzero::torch
