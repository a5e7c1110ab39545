// Arrays of NumPy: how they are made, read and written. What is computed from them stands in
// array_operators.cpp, what is drawn at random in random_arrays.cpp.
#include "libraries/numpy/arrays.hpp"

#include "libraries/torch/ops/operators.hpp"
#include "libraries/torch/ops/views.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"
#include "values/numbers.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::libraries {

Value held_by_array(Runtime& run, Value value) {
  value = run.resolve(value);
  if (!value.is(Kind::instance)) return {};
  const auto* object = value.as<Instance>();
  if (object->cls || !object->native ||
      !(object->native->path == array_class || object->native->path == number_class))
    return {};
  const Value held = kept(run, *object, values::ArrayState::state);
  return held.is(Kind::tensor) ? held : Value{};
}
const TensorState* array_state(Runtime& run, Value value) {
  const Value held = held_by_array(run, value);
  return held ? held.as<values::Tensor>()->now() : nullptr;
}

Value array_of(
    Call& call, const Shape& shape, Dtype dtype, std::initializer_list<Value> sources, bool random) {
  if (!shape.ndim_known) return unknown_of(call);
  Runtime& run = call.run;
  TensorState state;
  state.shape = shape;
  state.dtype = dtype;
  state.requires_grad = Known::no;
  state.graph_complete = true;
  state.device = run.heap().device("cpu").as<values::Device>();
  state.sharing = random ? run.drawn_sharing(Runtime::Stream::numpy) : Sharing::uniform;
  for (const Dim& dim : shape.dims)
    if (dim.size) state.sharing = symbolic::mix(state.sharing, run.symbols().sharing(dim.size));
  for (const Value& source : sources) {
    if (!source) continue;
    const TensorState* from = array_state(run, source);
    state.sharing = symbolic::mix(state.sharing, from ? from->sharing : run.heap().sharing(source));
    state.unseen = state.unseen || (from ? from->unseen : run.heap().is_unseen(source));
  }
  Instance* made = run.make_native(shape.dims.empty() ? number_class : array_class, call.place);
  run.heap().slot_of(made->attributes, Name(values::ArrayState::state)).value = run.heap().tensor(
      std::move(state), call.place);  // it is new: no write
  return Value::of(Kind::instance, made);
}

Value array_of_tensor(Op& op) {
  const TensorState* from = op.tensor("input");
  // Whoever calls what nobody calls here may switch gradients off.
  if (from && !op.run.in_roots() && op.run.heap().requires_grad(*from) == Known::yes &&
      op.flag("force") == Known::no) {
    const Value made = op.fail(
        ProblemKind::array_of_history, why<Reason::numpy_of_gradient>(op.name("input")));
    const syntax::Expr* subject = op.expression("input");
    // What is brought to the CPU first is detached before.
    if (subject &&
        (subject->kind == syntax::ExprKind::name || subject->kind == syntax::ExprKind::attribute ||
            subject->kind == syntax::ExprKind::call))
      op.suggest_append("input", ".detach()", true);
    return made;
  }
  if (from && from->device && op.flag("force") == Known::no) {
    const values::Device* host = op.run.heap().device("cpu").as<values::Device>();
    const Op::Apart apart = op.devices_apart(*from->device, *host);
    const interpreter::Refusal refusal = why<Reason::numpy_of_device>(op.name("input"), apart.one);
    // Of a model that nobody constructs here nothing is said.
    const symbolic::Cond model = op.run.named_condition(
        values::DeviceCondition::model_on_gpu, symbolic::Sharing::uniform);
    bool of_model = false;
    if (apart.when)
      op.s.parts(apart.when, [](Int) {}, [&](symbolic::Cond part) { of_model = of_model || part == model; });
    if (of_model) return unknown_of(op.call);
    if (!apart.one.empty() && apart.when) {
      op.fail_when(apart.when, ProblemKind::device, refusal);
    } else if (!apart.one.empty()) {
      const Value made = op.fail(ProblemKind::device, refusal);
      op.suggest_append("input", ".cpu()", true);
      return made;
    }
  }
  if (!from || !from->shape.ndim_known) return unknown_of(op.call);
  const Value made = array_of(op.call, from->shape, from->dtype);
  const Value held = kept(op.run, *made.as<Instance>(), values::ArrayState::state);
  TensorState state = *held.as<values::Tensor>()->now();
  state.sharing = from->sharing;
  state.unseen = from->unseen;
  set_state(op.run, held, state);
  return made;
}

Dtype array_dtype(Runtime& run, Value value) {
  value = run.resolve(value);
  struct Named {
    std::string_view name;
    Dtype dtype;
  };
  constexpr Named names[] = {
      {"float64", Dtype::float64},
      {"double", Dtype::float64},
      {"float32", Dtype::float32},
      {"single", Dtype::float32},
      {"float16", Dtype::float16},
      {"half", Dtype::float16},
      {"float", Dtype::float64},
      {"float_", Dtype::float64},
      {"int64", Dtype::int64},
      {"long", Dtype::int64},
      {"int_", Dtype::int64},
      {"int", Dtype::int64},
      {"int32", Dtype::int32},
      {"int16", Dtype::int16},
      {"int8", Dtype::int8},
      {"uint8", Dtype::uint8},
      {"bool", Dtype::boolean},
      {"bool_", Dtype::boolean},
      {"complex64", Dtype::complex64},
  };
  std::string_view name;
  if (value.is(Kind::string))
    name = value.text();
  else if (value.is(Kind::library)) {
    const std::string_view path = value.as<values::LibrarySymbol>()->path;
    if (!path.starts_with("numpy.") && !path.starts_with("builtins.")) return Dtype::unknown;
    name = path.substr(path.rfind('.') + 1);
  }
  const auto* found = std::find_if(
      std::begin(names), std::end(names), [&](const Named& each) { return each.name == name; });
  return found == std::end(names) ? Dtype::unknown : found->dtype;
}

Dtype dtype_asked(Op& op, Dtype otherwise) {
  if (op.call.spread) return Dtype::unknown;
  const Value asked = op.argument("dtype");
  return asked ? array_dtype(op.run, asked) : otherwise;
}
std::optional<Shape> sizes_asked(Op& op, std::string_view name) {
  const Value value = op.argument(name);
  if (!value || op.call.spread || array_state(op.run, value)) return std::nullopt;
  if (value.is(Kind::unknown) && !value.as<values::Unknown>()->integer)
    return std::nullopt;  // perhaps a tuple
  const auto sizes = op.sizes(name);
  if (!sizes) return std::nullopt;
  Shape shape{true, {}};
  for (const Int size : *sizes) {
    if (size && op.s.compare(Compare::lt, size, op.s.constant(0)) == Answer::yes) return std::nullopt;
    shape.dims.push_back(op.made(size));
  }
  return shape;
}

namespace {

constexpr std::int64_t most_items = 256, most_rows = 16;  // of an array of known numbers

// ---------------------------------------------------------------- making

Value filled(Call& call) {
  Op op(call);
  const auto shape = sizes_asked(op, "shape");
  return shape ? array_of(call, *shape, dtype_asked(op, Dtype::float64)) : unknown_of(call);
}
// A file as an array: of the shape that is asked for, else of one dimension, as long as the file is.
Value mapped(Call& call) {
  Op op(call);
  const Dtype dtype = dtype_asked(op, Dtype::uint8);
  if (op.given("shape") && !call.run.resolve(op.argument("shape")).is(Kind::none)) {
    const auto shape = sizes_asked(op, "shape");
    return shape ? array_of(call, *shape, dtype) : unknown_of(call);
  }
  symbolic::AtomInfo length;
  length.lower = 1;  // an empty file cannot be mapped
  length.sharing = Sharing::uniform;
  return array_of(call, {true, {op.dim(op.s.fresh(length))}}, dtype);
}
Dtype dtype_of_number(Op& op, Value value) {
  value = op.run.resolve(value);
  if (const TensorState* state = array_state(op.run, value)) return state->dtype;
  switch (value.kind) {
  case Kind::integer: return Dtype::int64;
  case Kind::real: return Dtype::float64;
  case Kind::boolean:
    return op.s.form(value.condition()) == symbolic::Context::Form::constant ? Dtype::boolean
                                                                             : Dtype::unknown;
  default: return Dtype::unknown;
  }
}
Value full(Call& call) {
  Op op(call);
  const auto shape = sizes_asked(op, "shape");
  return shape ? array_of(call, *shape, dtype_asked(op, dtype_of_number(op, op.argument("fill_value"))))
               : unknown_of(call);
}
Value like(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  return state && !op.given("shape")
      ? array_of(call, state->shape, dtype_asked(op, state->dtype), {call.at(0)})
      : unknown_of(call);
}
Value eye(Call& call) {
  Op op(call);
  const Int rows = op.size("N"), columns = op.argument("M") ? op.size("M") : rows;
  return call.spread
      ? unknown_of(call)
      : array_of(call, {true, {op.made(rows), op.made(columns)}}, dtype_asked(op, Dtype::float64));
}
// The numbers as NumPy computes them; absent where they are not known, or many.
Value numbers_between(Call& call, std::optional<double> start, std::optional<double> stop, Int count) {
  const auto size = call.run.symbols().value(count);
  const Value with_end = call.run.resolve(call.at(3));
  if (!start || !stop || !size || *size < 1 || *size > most_items || with_end.is(Kind::unknown) ||
      (with_end.is(Kind::boolean) &&
          call.run.symbols().decide(with_end.condition()) != symbolic::Answer::yes))
    return {};
  const double step = *size > 1 ? (*stop - *start) / static_cast<double>(*size - 1) : 0;
  std::vector<Value> numbers;
  for (std::int64_t i = 0; i < *size; ++i)
    numbers.push_back(Value::of(i > 0 && i == *size - 1 ? *stop : static_cast<double>(i) * step + *start));
  return call.run.heap().tuple(std::move(numbers));
}
// Of an array that is asked where it is made, `np.linspace(0, rate, depth).tolist()`: nobody else has it, and
// nobody has written to it.
const values::Tuple* numbers_known(const Call& call) {
  const Value numbers = kept(call, values::ArrayState::numbers);
  const values::Place made = call.self.object()->born;
  return numbers.is(Kind::tuple) && made.chunk == call.place.chunk && made.span.begin == call.place.span.begin
      ? numbers.as<values::Tuple>()
      : nullptr;
}
// np.linspace(0, rate, depth)
Value evenly_spaced(Call& call) {
  const auto at = [&](std::size_t i) { return call.run.resolve(call.at(i)); };
  const Value count = at(2);
  if (call.spread || !values::is_number(at(0)) || !values::is_number(at(1)) || !count.is(Kind::integer) ||
      !call.options.empty())
    return unknown_of(call);
  const Value made = array_of(
      call, {true, {{count.integer(), nullptr, nullptr}}}, Dtype::float64, {at(0), at(1)});
  const Op op(call);
  const Value numbers = numbers_between(call, op.real("start"), op.real("stop"), count.integer());
  keep(call.run, *made.as<Instance>(), values::ArrayState::numbers,
      numbers ? numbers : call.run.heap().boolean(true));
  return made;
}
Value arange(Call& call) {
  Op op(call);
  const bool only_end = !op.argument("stop");
  const Value start = only_end ? call.run.heap().integer(0) : op.argument("start"),
              stop = only_end ? op.argument("start") : op.argument("stop");
  const Value step = op.argument("step") ? op.argument("step") : call.run.heap().integer(1);
  if (call.spread || !values::is_number(start) || !values::is_number(stop) || !values::is_number(step))
    return unknown_of(call);
  Dim length;
  const auto by = step.is(Kind::integer) ? op.s.value(step.integer()) : std::nullopt;
  const bool whole = start.is(Kind::integer) && stop.is(Kind::integer) && step.is(Kind::integer);
  const bool real = start.is(Kind::real) || stop.is(Kind::real) || step.is(Kind::real);
  if (whole && by && *by > 0) {
    const Int way = op.s.sub(stop.integer(), start.integer());
    length = op.made(larger(
        op, op.s.floordiv(op.s.add(way, op.s.constant(*by - 1)), op.s.constant(*by)), op.s.constant(0)));
  }
  return array_of(call, {true, {length}},
      dtype_asked(op,
          whole      ? Dtype::int64
              : real ? Dtype::float64
                     : Dtype::unknown));
}
// np.array(…): of lists, of a tensor, or of another array.
Value array(Call& call) {
  Op op(call);
  const Value data = op.argument("object");
  if (call.spread || !data || op.given("ndmin")) return unknown_of(call);
  if (const TensorState* state = array_state(call.run, data))
    return array_of(call, state->shape, dtype_asked(op, state->dtype), {data});
  if (const TensorState* state = op.tensor(data)) {
    if (!call.run.in_roots() && call.run.heap().requires_grad(*state) == Known::yes)
      return op.fail(ProblemKind::array_of_history, why<Reason::array_of_gradient>(op.name("object")));
    return array_of(call, state->shape, dtype_asked(op, state->dtype), {data});
  }
  if (!data.is(Kind::list) && !data.is(Kind::tuple)) return unknown_of(call);
  const auto nested = nested_data(op, data);
  if (!nested) return unknown_of(call);
  // Numbers of Python are doubles here.
  const Dtype own = nested->of_numbers && values::is_floating(nested->dtype) ? Dtype::float64 : nested->dtype;
  return array_of(call, nested->shape, dtype_asked(op, own), {data});
}
Value converted(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  return state ? array_of(call, state->shape, array_dtype(call.run, call.at(0)), {call.self})
               : unknown_of(call);
}
// np.float32(x)
template <Dtype dtype> Value typed(Call& call) {
  const TensorState* state = array_state(call.run, call.at(0));
  return state ? array_of(call, state->shape, dtype, {call.at(0)}) : unknown_of(call);
}

Value none(Call&) { return Value::none(); }
Value shape_tuple(Call& call, Value of) {
  const TensorState* state = array_state(call.run, of);
  if (!state) return unknown_of(call);
  std::vector<Value> sizes;
  sizes.reserve(state->shape.dims.size());
  for (const Dim& dim : state->shape.dims)
    sizes.push_back(dim.size ? Value::of(dim.size) : call.run.heap().unknown("", state->sharing, call.place));
  return call.run.heap().tuple(std::move(sizes));
}
Value shape_of(Call& call) { return shape_tuple(call, call.at(0)); }
// Of two vectors: a table as wide as the first, or as high.
Value meshgrid(Call& call) {
  if (call.rest.size() != 2 || call.spread) return unknown_of(call);
  const Value indexing = option(call, "indexing");
  if (call.options.size() > 1 || (indexing && !indexing.is(Kind::string)) ||
      (!indexing && !call.options.empty()))
    return unknown_of(call);
  const TensorState *x = array_state(call.run, call.rest[0]), *y = array_state(call.run, call.rest[1]);
  if (!x || !y || x->shape.dims.size() != 1 || y->shape.dims.size() != 1) return unknown_of(call);
  Shape shape{true, {y->shape.dims[0], x->shape.dims[0]}};
  if (indexing && indexing.text() == "ij") std::swap(shape.dims[0], shape.dims[1]);
  return call.run.heap().list({array_of(call, shape, x->dtype, {call.rest[0], call.rest[1]}),
      array_of(call, shape, y->dtype, {call.rest[0], call.rest[1]})});
}
Value broadcast_to(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  const auto shape = state ? sizes_asked(op, "shape") : std::nullopt;
  return shape ? array_of(call, *shape, state->dtype, {call.at(0)}) : unknown_of(call);
}

// ---------------------------------------------------------------- parts

Dim first_of(const TensorState* state) {
  return state && !state->shape.dims.empty() ? state->shape.dims[0] : Dim{};
}
Value length(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  return first_of(state).size ? Value::of(first_of(state).size) : unknown_of(call);
}
// A number of the array, as Python has it.
Value number_of(Call& call, const TensorState& state) {
  if (is_integral(state.dtype) && state.dtype != Dtype::boolean) {
    symbolic::AtomInfo info;
    info.sharing = state.sharing;
    return Value::of(call.run.symbols().fresh(info));
  }
  Value made = call.run.heap().unknown("", Sharing::local, call.place);
  made.as<values::Unknown>()->is_real = values::is_floating(state.dtype);
  return made;
}
// Its numbers or rows, each time anew: it may have been written since.
Value items(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  auto& heap = call.run.heap();
  if (!state || state->shape.dims.empty()) return heap.open_list(unknown_of(call));
  if (const values::Tuple* known = numbers_known(call)) return heap.list(known->items);
  Shape rest = state->shape;
  rest.dims.erase(rest.dims.begin());
  const bool plain = static_cast<bool>(kept(call, values::ArrayState::numbers));
  const auto one = [&] {
    return plain ? number_of(call, *state) : array_of(call, rest, state->dtype, {call.self});
  };
  const auto size = first_of(state).size ? call.run.symbols().value(first_of(state).size) : std::nullopt;
  if (!size || *size < 0 || *size > (rest.dims.empty() ? most_items : most_rows))
    return heap.open_list(one(), first_of(state).size);
  std::vector<Value> list;
  list.reserve(static_cast<std::size_t>(*size));
  for (std::int64_t i = 0; i < *size; ++i) list.push_back(one());
  return heap.list(std::move(list));
}
// Lists in lists, of which one stands for all.
Value nested_lists(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  if (!state || state->shape.dims.empty()) return state ? number_of(call, *state) : unknown_of(call);
  if (const values::Tuple* known = numbers_known(call)) return call.run.heap().list(known->items);
  Value made = number_of(call, *state);
  for (auto dim = state->shape.dims.rbegin(); dim != state->shape.dims.rend(); ++dim) {
    const auto size = dim->size ? call.run.symbols().value(dim->size) : std::nullopt;
    if (size && *size >= 0 && *size <= (made.is(Kind::list) ? most_rows : most_items))
      made = call.run.heap().list(std::vector<Value>(static_cast<std::size_t>(*size), made));
    else
      made = call.run.heap().open_list(made, dim->size);
  }
  return made;
}
Value own_shape(Call& call) { return shape_tuple(call, call.self); }
Value rank(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  return state ? call.run.heap().integer(static_cast<std::int64_t>(state->shape.dims.size()))
               : unknown_of(call);
}
Value element_count(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  const Int count = state ? Op(call).product(state->shape.dims) : nullptr;
  return count ? Value::of(count) : unknown_of(call);
}
Value number(Call& call) {
  Value made = unknown_of(call);
  const TensorState* state = array_state(call.run, call.self);
  if (made.is(Kind::unknown))
    made.as<values::Unknown>()->is_real = state && values::is_floating(state->dtype);
  return made;
}

Value item(Call& call) {
  const TensorState* state = array_state(call.run, call.self);
  if (!state) return unknown_of(call);
  Op op(call);
  const Value index = call.run.resolve(call.at(0));
  std::vector<Value> parts{index};
  if (index.is(Kind::tuple)) parts = index.as<values::Tuple>()->items;
  std::size_t taken = 0, lists = 0;
  for (Value& part : parts) {
    part = call.run.resolve(part);
    const TensorState* picks = array_state(call.run, part);
    if (picks && picks->dtype == Dtype::boolean)
      taken += picks->shape.dims.size();
    else if (!part.is(Kind::none) && !part.is(Kind::ellipsis))
      ++taken;
    lists += (picks && !picks->shape.dims.empty()) || part.is(Kind::list);
  }
  if (taken > state->shape.dims.size() || (lists > 1)) return unknown_of(call);
  Shape out{true, {}};
  std::size_t at = 0;
  const std::size_t left = state->shape.dims.size() - taken;
  bool number_seen = false, ellipsis = false;
  for (const Value& part : parts) {
    const TensorState* picks = array_state(call.run, part);
    if (part.is(Kind::none)) {
      out.dims.push_back(op.dim(std::int64_t{1}));
    } else if (part.is(Kind::ellipsis)) {
      if (std::exchange(ellipsis, true)) return unknown_of(call);
      for (std::size_t i = 0; i < left; ++i) out.dims.push_back(state->shape.dims[at++]);
    } else if (part.is(Kind::slice)) {
      const auto* slice = part.as<values::SliceObject>();
      const Value step = call.run.resolve(slice->step);
      const bool turned = step && call.run.to_constant(step).value_or(1) <= 0;
      const auto whole = [&](Value bound) { return !bound || call.run.resolve(bound).is(Kind::none); };
      const Dim dim = state->shape.dims[at++];
      out.dims.push_back(!turned ? slice_of(op, dim, *slice)
              : whole(slice->lower) && whole(slice->upper) && call.run.to_constant(step) == -1 ? dim
                                                                                               : Dim{});
    } else if (part.is(Kind::integer) || (picks && picks->shape.dims.empty())) {
      number_seen = true;
      ++at;
    } else if (picks && picks->dtype == Dtype::boolean) {
      out.dims.push_back({});
      at += picks->shape.dims.size();
    } else if (picks && picks->dtype != Dtype::unknown && picks->shape.dims.size() == 1) {
      out.dims.push_back(picks->shape.dims[0]);
      ++at;
    } else {
      return unknown_of(call);
    }
  }
  // Beside a list, a number is an index like it, and what they give may move to the front.
  if (lists && (number_seen || ellipsis)) return unknown_of(call);
  while (at < state->shape.dims.size()) out.dims.push_back(state->shape.dims[at++]);
  return array_of(call, out, state->dtype, {call.self});
}

}  // namespace

std::vector<Row> array_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("numpy.$array", class_, "*arguments, **options", nullptr),
      row(array_class, class_, "*arguments, **options", nullptr, "numpy.$array"),
      row(number_class, class_, "*arguments, **options", nullptr, "numpy.$array"),
      row("numpy.$array.tolist", method, "", nested_lists),
      row("numpy.$array.item", method, "*index", number),
      row("numpy.$array.__float__", method, "", number),
      row("numpy.$array.__bool__", method, "", unknown_of),
      row("numpy.$array.__getitem__", method, "key", item),
      row("numpy.$array.__setitem__", method, "key, value", nothing),
      row("numpy.$array.shape", property, "", own_shape),
      row("numpy.$array.ndim", property, "", rank),
      row("numpy.$array.size", property, "", element_count),
      row("numpy.$array.astype", method, "dtype, *more, **options", converted),
      row("numpy.ndarray.__iter__", method, "", items),
      row("numpy.ndarray.__len__", method, "", length),

      row("numpy.zeros", function, "shape, dtype=None, **options", filled),
      row("numpy.ones", function, "shape, dtype=None, **options", filled),
      row("numpy.empty", function, "shape, dtype=None, **options", filled),
      row("numpy.full", function, "shape, fill_value, dtype=None, **options", full),
      row("numpy.zeros_like", function, "a, dtype=None, order=None, subok=True, shape=None", like),
      row("numpy.ones_like", function, "a, dtype=None, order=None, subok=True, shape=None", like),
      row("numpy.empty_like", function, "a, dtype=None, order=None, subok=True, shape=None", like),
      row("numpy.memmap", function, "filename, dtype=None, mode='r+', offset=0, shape=None, order='C'",
          mapped),
      row("numpy.eye", function, "N, M=None, k=0, dtype=None", eye),
      row("numpy.linspace", function, "start, stop, num=50, endpoint=True, **options", evenly_spaced),
      row("numpy.arange", function, "start, stop=None, step=None, dtype=None", arange),
      row("numpy.array", function,
          "object, dtype=None, *, copy=True, order=None, subok=False, ndmin=0, like=None", array),
      row("numpy.asarray", function, "object, dtype=None, order=None", array),
      row("numpy.ascontiguousarray", function, "object, dtype=None", array),
      row("numpy.newaxis", constant, "", none),
      row("numpy.shape", function, "a", shape_of),
      row("numpy.meshgrid", function, "*xi, **options", meshgrid),
      row("numpy.broadcast_to", function, "array, shape, subok=False", broadcast_to),
      row("numpy.float32", function, "x=0", typed<Dtype::float32>),
      row("numpy.float64", function, "x=0", typed<Dtype::float64>),
      row("numpy.int64", function, "x=0", typed<Dtype::int64>),
  };
  for (const std::vector<Row>& more : {random_array_rows(), array_operator_rows()})
    rows.insert(rows.end(), more.begin(), more.end());
  return rows;
}

}  // namespace stepzero::libraries
