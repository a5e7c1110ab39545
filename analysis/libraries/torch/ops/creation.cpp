// Operators that make tensors: from sizes, like another tensor, at random. From data: tensor_data.
#include "libraries/numpy/arrays.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/ops/default_types.hpp"
#include "libraries/torch/ops/nested_data.hpp"
#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/tensor_data.hpp"
#include "libraries/torch/ops/windows.hpp"
#include "values/devices.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

namespace {

std::string text(std::int64_t number) { return std::to_string(number); }

// ---------------------------------------------------------------- sizes

// What has a name is mostly one size: `dim`, `hidden_size`.
bool displayed_as_one_size(Op& op, const values::Unknown& unknown) {
  if (!op.run.policy().usual_ndim || !op.run.in_roots() || unknown.of_many || unknown.is_real ||
      unknown.state.value)
    return false;
  const std::string_view last = unknown.name.substr(unknown.name.rfind('.') + 1);
  constexpr std::string_view any[] = {"size", "sizes", "dims", "args", "kwargs"};
  return !last.empty() && last.find("shape") == std::string_view::npos &&
      std::find(std::begin(any), std::end(any), last) == std::end(any);
}

// The shape asked for as `2, 3`, `(2, 3)` or `x.shape`; nullopt where not even the rank is known.
std::optional<Shape> shape_asked(Op& op, std::string_view name) {
  const Value value = op.argument(name);
  if (value.is(Kind::unknown) && op.call.rest.empty()) {
    const auto* unknown = value.as<values::Unknown>();
    if (unknown->shape_of) {
      const TensorState* like = op.tensor(unknown->shape_of);
      return like ? std::optional(like->shape) : std::nullopt;
    }
    // It may be one size or a tuple of them, unless it was already used as a number.
    if ((!unknown->integer || unknown->only_compared) && !displayed_as_one_size(op, *unknown))
      return std::nullopt;
  }
  if (!value && !op.given(name)) return Shape{true, {}};
  const auto sizes = op.sizes(name);
  if (!sizes) return std::nullopt;
  Shape shape{true, {}};
  for (const Int size : *sizes) {
    if (op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes) {
      op.refuse_number({}, op.dim(size));
      return std::nullopt;
    }
    shape.dims.push_back(op.made(size));
  }
  return shape;
}

Value made(Op& op, const std::optional<Shape>& shape, Dtype dtype, bool random = false) {
  // What is written into a tensor takes its type.
  if (const TensorState* out = op.argument("out") ? op.tensor("out") : nullptr) dtype = out->dtype;
  return op.fresh(shape.value_or(Shape{}), op.dtype("dtype", dtype), random);
}

// `torch.zeros(*x.shape)`: sizes, nobody knows how many. `**options` may say anything.
bool spreads_sizes(Op& op) {
  const auto is_spread = [](const syntax::Keyword& each) { return each.name.text().empty(); };
  return op.call.spread && op.call.expr && std::ranges::none_of(op.call.expr->keywords, is_spread);
}
Value sized_floats(Op& op, bool random) {
  if (op.call.spread && !spreads_sizes(op)) return op.unknown();
  return made(op, op.call.spread ? std::nullopt : shape_asked(op, "size"), op.run.default_dtype(), random);
}
Value made_floats(Op& op) { return sized_floats(op, false); }
Value random_floats(Op& op) { return sized_floats(op, true); }

Value full(Op& op) {
  const Value made_value = made(op, shape_asked(op, "size"), dtype_of(op, op.argument("fill_value")));
  TensorState state = *op.tensor(made_value);
  state.sharing = symbolic::mix(state.sharing, op.run.heap().sharing(op.argument("fill_value")));
  set_state(op.run, made_value, state);
  return made_value;
}
// randint(high, size) or randint(low, high, size)
Value randint(Op& op) {
  // Without a third argument the second is the size, known or not.
  const bool two = !op.given("size") && op.call.given[1];
  const Int from = two ? op.s.constant(0) : op.size("low"), to = op.size(two ? "low" : "high");
  if (from && to && op.s.compare(Compare::ge, from, to) == Answer::yes)
    return op.fail(ProblemKind::argument, why<Reason::random_bounds>(op.dim(from), op.dim(to)));
  return made(op, shape_asked(op, two ? "high" : "size"), Dtype::int64, true);
}
Value one_size(Op& op) {
  const Int size = op.size("n");
  if (size && op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes)
    return op.refuse_number({}, op.dim(size));
  return made(op, Shape{true, {op.made(size)}},
      op.title() == "randperm" ? Dtype::int64 : op.run.default_dtype(), op.title() == "randperm");
}
Value eye(Op& op) {
  const Int rows = op.size("n"), columns = op.argument("m") ? op.size("m") : rows;
  for (const Int size : {rows, columns})
    if (size && op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes)
      return op.refuse_number({}, op.dim(size));
  return made(op, Shape{true, {op.made(rows), op.made(columns)}}, op.run.default_dtype());
}

// ---------------------------------------------------------------- sequences of numbers

Value arange(Op& op) {
  const bool only_end = !op.argument("end");
  const Value start = only_end ? op.run.heap().integer(0) : op.argument("start"),
              end = only_end ? op.argument("start") : op.argument("end");
  const Value step = op.argument("step");
  const auto whole = [](Value value) {
    return value.is(Kind::integer) || value.is(Kind::boolean) ||
        (value.is(Kind::unknown) && !value.as<values::Unknown>()->is_real);
  };
  Dim length;
  if (whole(start) && whole(end) && whole(step)) {
    const Int from = op.run.to_int(start), to = op.run.to_int(end);
    const auto by = op.run.to_constant(step);
    if (from && to && by && *by != 0) {
      const Int count = steps_between(op, from, to, *by);
      if (op.s.compare(*by > 0 ? Compare::lt : Compare::gt, to, from) == Answer::yes)
        return op.fail(
            ProblemKind::argument, why<Reason::range_endless>(op.dim(from), op.dim(to), text(*by)));
      length = op.made(count);
    } else if (by == 0) {
      return op.fail(ProblemKind::argument, why<Reason::range_of_zero>());
    }
    return made(op, Shape{true, {length}}, Dtype::int64);
  }
  const auto number = [&](Value value) -> std::optional<double> {
    if (value.is(Kind::real)) return value.real();
    const auto constant = value.is(Kind::integer) ? op.s.value(value.integer()) : std::nullopt;
    return constant ? std::optional(static_cast<double>(*constant)) : std::nullopt;
  };
  const auto from = number(start), to = number(end), by = number(step);
  bool known = true;
  for (const Value& value : {start, end, step})
    known = known &&
        (value.is(Kind::integer) || value.is(Kind::boolean) || value.is(Kind::real) ||
            (value.is(Kind::unknown) && value.as<values::Unknown>()->is_real));
  if ((from && std::isinf(*from)) || (to && std::isinf(*to)))
    return op.fail(ProblemKind::argument, why<Reason::range_to_infinity>());
  if (from && to && by && *by != 0) {
    // Of integers the bounds are cut off first.
    const Dtype asked = op.dtype("dtype", Dtype::float32);
    const bool cut = asked == Dtype::unknown || is_integral(asked);
    const double count = cut ? std::ceil((std::trunc(*to) - std::trunc(*from)) / std::trunc(*by))
                             : std::ceil((*to - *from) / *by);
    if (cut && (std::trunc(*by) == 0 || count != std::ceil((*to - *from) / *by)) && asked == Dtype::unknown)
      return made(op, Shape{true, {Dim{}}}, Dtype::unknown);
    if (cut && std::trunc(*by) == 0) return op.fail(ProblemKind::argument, why<Reason::range_step_cut>());
    if (count < 0) return op.fail(ProblemKind::argument, why<Reason::range_away>());
    if (count < 1e15) length = op.made(op.s.constant(static_cast<std::int64_t>(count)));
  } else if (by == 0.0) {
    return op.fail(ProblemKind::argument, why<Reason::range_of_zero>());
  }
  return made(op, Shape{true, {length}}, known ? op.run.default_dtype() : Dtype::unknown);
}
Value linspace(Op& op) {
  if (op.argument("steps").is(Kind::real))
    return op.fail(ProblemKind::argument, why<Reason::steps_whole>(code(op.title())));
  const Int steps = op.size("steps");
  if (steps && op.s.compare(Compare::lt, steps, op.s.constant(0)) == Answer::yes)
    return op.refuse_number("steps", op.dim(steps));
  for (const std::string_view bound : {"start", "end"})
    if (const Shape& shape = op.shape(bound); shape.ndim_known && !shape.dims.empty())
      return op.fail(
          ProblemKind::argument, why<Reason::bound_shape>(code(op.title()), op.name(bound), shape));
  return made(op, Shape{true, {op.made(steps)}}, op.run.default_dtype());
}
// Deprecated: both ends are included.
Value range(Op& op) {
  const auto start = op.real("start"), end = op.real("end"), step = op.real("step");
  Dim length;
  if (start && end && step && *step != 0 && (*end - *start) / *step >= 0)
    length = op.made(op.s.constant(static_cast<std::int64_t>((*end - *start) / *step) + 1));
  return made(op, Shape{true, {length}}, op.run.default_dtype());
}
Value empty_permuted(Op& op) {
  const auto shape = shape_asked(op, "size");
  if (op.failed()) return op.unknown();
  if (shape && shape->ndim_known)
    if (const auto layout = op.integers("physical_layout")) {
      std::vector<bool> seen(shape->dims.size());
      bool fits = layout->size() == shape->dims.size();
      for (const std::int64_t at : *layout) {
        fits = fits && at >= 0 && at < static_cast<std::int64_t>(seen.size()) &&
            !seen[static_cast<std::size_t>(at)];
        if (fits) seen[static_cast<std::size_t>(at)] = true;
      }
      if (!fits) return op.fail(ProblemKind::argument, why<Reason::permuted_order>(seen.size()));
    }
  return made(op, shape, op.run.default_dtype());
}

// ---------------------------------------------------------------- sizes or data

// torch.Tensor(2, 3) and torch.FloatTensor([1, 2]): sizes, or data.
// A tensor keeps its dtype in torch.Tensor, and has to be of the type that another constructor names.
Value old_constructor(Op& op, Dtype dtype) {
  const bool on_gpu = op.call.row.path.starts_with("torch.cuda.");
  const auto placed = [&](Value value) {
    if (!on_gpu || !op.tensor(value)) return value;
    TensorState state = *op.tensor(value);
    state.device = op.run.heap().device("cuda").as<values::Device>();
    return result(op.call, std::move(state));
  };
  const auto made = [&](const Shape& shape) { return placed(op.fresh(shape, dtype)); };
  if (op.call.spread) return spreads_sizes(op) ? made({}) : op.unknown();
  if (op.given("storage")) return made(Shape{true, {Dim{}}});
  // With their names, sizes are not data.
  if (op.given("size")) {
    const auto shape = shape_asked(op, "size");
    return op.failed() ? op.unknown() : made(shape.value_or(Shape{}));
  }
  // Of a tensor it is an alias, which has its history.
  const Value data = op.argument(op.given("other") ? "other" : "data");
  if (const TensorState* state = op.call.rest.empty() ? op.tensor(data) : nullptr;
      state && !state->maybe_array) {
    TensorState alias = *state;
    if (op.title() != "Tensor") alias.dtype = dtype;
    return result(op.call, std::move(alias));
  }
  if (op.given("other") || !op.call.options.empty()) return op.result({}, Dtype::unknown);
  if (!op.given("data")) return made({true, {op.dim(std::int64_t{0})}});
  // Shapes are kept as tuples: only what is written as one is data.
  if (data.is(Kind::tuple) &&
      !(op.call.expr && op.call.expr->arguments.size() == 1 &&
          op.call.expr->arguments[0]->kind == syntax::ExprKind::tuple))
    return made({});
  if (data.is(Kind::list) || data.is(Kind::tuple) || array_state(op.run, data))
    return placed(tensor_of(op, data, dtype));
  // Arrays are computed with as numbers are.
  if (on_gpu ? !data.is(Kind::integer) : data.is(Kind::unknown) && op.call.rest.empty()) {
    TensorState any = *op.tensor(made({}));
    if (op.title() == "Tensor") any.dtype = Dtype::unknown;
    any.requires_grad = Known::unknown;
    any.graph_complete = false;
    return result(op.call, std::move(any));
  }
  const auto shape = shape_asked(op, "data");
  return op.failed() ? op.unknown() : made(shape.value_or(Shape{}));
}
template <Dtype dtype> Value old(Op& op) { return old_constructor(op, dtype); }
Value old_default(Op& op) { return old_constructor(op, op.run.default_dtype()); }
Value scalar_tensor(Op& op) { return made(op, Shape{true, {}}, op.run.default_dtype()); }

// ---------------------------------------------------------------- like another tensor

Value created_like(Op& op, bool random) {
  if (!op.must_be_tensor("input")) return op.unknown();
  const TensorState* input = op.expect("input");
  const Shape shape = input ? input->shape : Shape{};
  const Dtype own = op.dtype("dtype", input ? input->dtype : Dtype::unknown);
  const Value device = op.argument("device");
  const Value made_value = op.fresh(shape, own, random);
  TensorState state = *op.tensor(made_value);
  if (!device) state.device = input ? input->device : nullptr;
  for (const Dim& dim : shape.dims)
    if (!dim.size) state.sharing = input->sharing;
  if (!shape.ndim_known)
    state.sharing = random ? drawn_with(op.run, op.argument("generator"))
        : input            ? input->sharing
                           : Sharing::local;
  set_state(op.run, made_value, state);
  return made_value;
}
Value like(Op& op) { return created_like(op, false); }
Value random_like(Op& op) { return created_like(op, true); }

// x.new_zeros(2, 3): of x's dtype and device.
Value new_sized(Op& op) {
  const TensorState* input = op.expect("input");
  auto shape = shape_asked(op, "size");
  if (op.failed()) return op.unknown();
  TensorState state = *op.tensor(
      op.fresh(shape.value_or(Shape{}), op.dtype("dtype", input ? input->dtype : Dtype::unknown)));
  if (!op.argument("device")) state.device = input ? input->device : nullptr;
  return result(op.call, std::move(state));
}
// new(2, 3) makes sizes, new() nothing; what else it takes is left open.
Value new_old(Op& op) {
  const TensorState* input = op.expect("input");
  // Wherever the tensor lies that is asked for it.
  const auto beside = [&](const Shape& shape) {
    TensorState state = *op.tensor(op.fresh(shape, input ? input->dtype : Dtype::unknown));
    state.device = input ? input->device : nullptr;
    return result(op.call, std::move(state));
  };
  if (!op.given("size")) return beside({true, {op.dim(std::int64_t{0})}});
  const auto is_size = [&](const Value& value) { return op.run.resolve(value).is(Kind::integer); };
  if (!is_size(op.argument("size")) || !std::ranges::all_of(op.call.rest, is_size)) return beside({});
  return new_sized(op);
}
Value new_tensor(Op& op) {
  const TensorState* input = op.expect("input");
  const Value made_value = tensor_of(op, op.argument("data"), input ? input->dtype : Dtype::unknown);
  if (op.failed()) return made_value;
  TensorState state = *op.tensor(made_value);
  state.dtype = op.dtype("dtype", input ? input->dtype : Dtype::unknown);
  if (!op.argument("device")) state.device = input ? input->device : nullptr;
  set_state(op.run, made_value, state);
  return made_value;
}

// ---------------------------------------------------------------- at random

// normal(mean, std) of tensors, or normal(0, 1, size).
Value normal(Op& op) {
  if (op.given("size")) return made(op, shape_asked(op, "size"), op.run.default_dtype(), true);
  std::optional<Shape> shape;
  Dtype dtype = Dtype::unknown;
  for (const std::string_view name : {"mean", "std"}) {
    const TensorState* state = op.tensor(name);
    if (!state) {
      if (op.argument(name) && !op.is_number(name)) return op.unknown();
      continue;
    }
    if (state->shape.ndim_known && shape && !(shape = op.broadcast(*shape, state->shape)))
      return op.unknown();
    if (!shape) shape = state->shape, dtype = state->dtype;
  }
  if (!shape) return op.unknown();
  TensorState state = *op.tensor(op.result(*shape, dtype));
  state.sharing = symbolic::mix(state.sharing, drawn_with(op.run, op.argument("generator")));
  return result(op.call, std::move(state));
}
Value at_random(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  TensorState state = *op.tensor(op.result(input->shape, input->dtype));
  state.sharing = symbolic::mix(state.sharing, drawn_with(op.run, op.argument("generator")));
  state.requires_grad = Known::no;
  return result(op.call, std::move(state));
}
// A number for each pair of a count and a probability.
Value binomial(Op& op) {
  const TensorState *count = op.expect("count"), *prob = op.expect("prob");
  if (!count || !prob) return op.unknown();
  if (is_integral(count->dtype)) return op.refuse_dtype(interpreter::DtypeNeed::floats, "count");
  if (count->dtype != Dtype::unknown && prob->dtype != Dtype::unknown && count->dtype != prob->dtype)
    return op.refuse_dtypes("count", "prob");
  const auto shape = op.broadcast(count->shape, prob->shape);
  if (!shape) return op.unknown();
  TensorState state = *op.tensor(op.result(*shape, count->dtype));
  state.sharing = symbolic::mix(state.sharing, drawn_with(op.run, op.argument("generator")));
  return result(op.call, std::move(state));
}
Value multinomial(Op& op) {
  const TensorState* input = op.expect("input");
  if (!input) return op.unknown();
  Shape shape = input->shape;
  if (shape.ndim_known && (shape.dims.empty() || shape.dims.size() > 2))
    return op.fail(ProblemKind::argument,
        interpreter::WrongShape{op.taker(), {ShapeNeed::vector_or_matrix}, op.name("input"), shape});
  const Int samples = op.size("num_samples");
  if (samples && op.s.compare(Compare::le, samples, op.s.constant(0)) == Answer::yes)
    return op.refuse_number("samples", op.dim(samples));
  if (!shape.dims.empty() && op.flag("replacement") == Known::no && samples && shape.dims.back().size &&
      op.s.compare(Compare::gt, samples, shape.dims.back().size) == Answer::yes)
    return op.refuse_number("samples without replacement", op.dim(samples), shape.dims.back());
  if (!shape.dims.empty()) shape.dims.back() = op.made(samples);
  TensorState state = *op.tensor(op.result(shape, Dtype::int64));
  state.sharing = symbolic::mix(state.sharing, drawn_with(op.run, op.argument("generator")));
  state.requires_grad = Known::no;
  return result(op.call, std::move(state));
}

// Where the elements of a triangle stand.
Value triangle_indices(Op& op) {
  const auto row = op.integer("row"), column = op.integer("col"), offset = op.integer("offset");
  Dim count;
  if ((row && *row < 0) || (column && *column < 0))
    return op.fail(ProblemKind::argument, why<Reason::negative_sizes>(code(op.title())));
  if (row && column && offset && *row < 100'000) {
    std::int64_t total = 0;
    for (std::int64_t i = 0; i < *row; ++i) {
      const std::int64_t below = std::clamp<std::int64_t>(
          i + *offset + (op.title() == "tril_indices" ? 1 : 0), 0, *column);
      total += op.title() == "tril_indices" ? below : *column - below;
    }
    count = op.made(op.s.constant(total));
  }
  return made(op, Shape{true, {op.dim(2), count}}, Dtype::int64);
}

// ---------------------------------------------------------------- the operators

#define SIZED                                                                                                \
  "size, *more, out=None, names=None, dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False"
#define OPTIONS "dtype=None, layout=None, device=None, pin_memory=False, requires_grad=False"
#define LIKE "dtype=None, layout=None, device=None, requires_grad=False, pin_memory=False, memory_format=None"

constexpr Operator creation_operators[] = {
    {"zeros", SIZED, "torch spread", made_floats, Type::own},
    {"ones", SIZED, "torch spread", made_floats, Type::own},
    {"empty", SIZED ", memory_format=None", "torch spread", made_floats, Type::own},
    {"rand", SIZED ", generator=None", "torch spread", random_floats, Type::own},
    {"randn", SIZED ", generator=None", "torch spread", random_floats, Type::own},
    {"full", "size, fill_value, *, out=None, names=None, " OPTIONS, "torch", full, Type::own},
    {"empty_strided", "size, stride, *, " OPTIONS, "torch", made_floats, Type::own},
    {"randint", "low=0, high=None, size=None, *, generator=None, out=None, " OPTIONS, "torch", randint,
        Type::own},
    {"randperm", "n, *, generator=None, out=None, " OPTIONS, "torch", one_size, Type::own},
    {"eye", "n, m=None, *, out=None, " OPTIONS, "torch", eye, Type::own},
    {"arange", "start=0, end=None, step=1, *, out=None, " OPTIONS, "torch", arange, Type::own},
    {"range", "start=0, end=None, step=1, *, out=None, " OPTIONS, "torch", range, Type::own},
    {"linspace", "start, end, steps=100, *, out=None, " OPTIONS, "torch", linspace, Type::own},
    {"logspace", "start, end, steps=100, base=10.0, *, out=None, " OPTIONS, "torch", linspace, Type::own},
    {"empty_permuted", "size, physical_layout, *, " OPTIONS, "torch", empty_permuted, Type::own},
    {"scalar_tensor", "s, *, " OPTIONS, "torch", scalar_tensor, Type::own},
    {"FloatTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.FloatTensor", old<Dtype::float32>, Type::own},
    {"DoubleTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.DoubleTensor", old<Dtype::float64>, Type::own},
    {"HalfTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.HalfTensor", old<Dtype::float16>, Type::own},
    {"BFloat16Tensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.BFloat16Tensor", old<Dtype::bfloat16>, Type::own},
    {"LongTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.LongTensor", old<Dtype::int64>, Type::own},
    {"IntTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.IntTensor", old<Dtype::int32>, Type::own},
    {"ShortTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.ShortTensor", old<Dtype::int16>, Type::own},
    {"CharTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.CharTensor", old<Dtype::int8>, Type::own},
    {"ByteTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.ByteTensor", old<Dtype::uint8>, Type::own},
    {"BoolTensor", "data=None, *more, size=None, other=None, storage=None, device=None",
        "torch spread torch.cuda.BoolTensor", old<Dtype::boolean>, Type::own},
    {"Tensor", "data=None, *more, size=None, other=None, storage=None, device=None, **options",
        "torch spread", old_default, Type::own},

    {"zeros_like", "input, *, " LIKE, "torch", like, Type::own},
    {"ones_like", "input, *, " LIKE, "torch", like, Type::own},
    {"empty_like", "input, *, " LIKE, "torch", like, Type::own},
    {"full_like", "input, fill_value, *, " LIKE, "torch", like, Type::own},
    {"rand_like", "input, *, generator=None, " LIKE, "torch", random_like, Type::own},
    {"randn_like", "input, *, generator=None, " LIKE, "torch", random_like, Type::own},
    {"randint_like", "input, low=0, high=None, *, generator=None, " LIKE, "torch", random_like, Type::own},
    {"new_zeros", "input, size, *more, " OPTIONS, "method", new_sized, Type::own},
    {"new_ones", "input, size, *more, " OPTIONS, "method", new_sized, Type::own},
    {"new", "input, size=None, *more, device=None", "method", new_old, Type::own},
    {"new_empty", "input, size, *more, " OPTIONS, "method", new_sized, Type::own},
    {"new_full", "input, size, fill_value, *, " OPTIONS, "method", new_sized, Type::own},
    {"new_empty_strided", "input, size, stride, *, " OPTIONS, "method", new_sized, Type::own},
    {"new_tensor", "input, data, *, dtype=None, device=None, requires_grad=False", "method", new_tensor,
        Type::own},

    {"normal", "mean, std=1.0, size=None, *, generator=None, out=None, " OPTIONS, "torch", normal,
        Type::input},
    {"bernoulli", "input, p=0.5, *, generator=None, out=None", "torch method", at_random, Type::input},
    {"poisson", "input, generator=None", "torch", at_random, Type::input},
    {"binomial", "count, prob, generator=None", "torch", binomial, Type::own},
    {"multinomial", "input, num_samples, replacement=False, *, generator=None, out=None", "torch method",
        multinomial, Type::int64},

    {"tril_indices", "row, col, offset=0, *, " OPTIONS, "torch", triangle_indices, Type::own},
    {"triu_indices", "row, col, offset=0, *, " OPTIONS, "torch", triangle_indices, Type::own},
};

}  // namespace

std::vector<Row> creation_rows() {
  std::vector<Row> rows = operator_rows(creation_operators);
  for (Row& row : rows)
    if (row.path == "torch.Tensor") row.kind = RowKind::class_;
  for (Row& each : tensor_data_rows()) rows.push_back(std::move(each));
  for (Row& each : signal_window_rows()) rows.push_back(std::move(each));
  for (Row& each : default_type_rows()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
