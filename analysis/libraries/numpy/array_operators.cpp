// What is computed from arrays of NumPy, by its functions and by their methods: shapes and types as its
// reference says. Nothing is reported here; what is not known to succeed gives something unknown.
#include "libraries/numpy/arrays.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::libraries {

namespace {

using ArraySizes = std::vector<Dim>;

bool is_known(Dtype dtype) {
  return dtype != Dtype::unknown && dtype != Dtype::complex64 && dtype != Dtype::complex128 &&
      dtype != Dtype::bfloat16;
}

// The type that two arrays come to.
Dtype common(Dtype a, Dtype b) {
  if (a == b) return a;
  if (!is_known(a) || !is_known(b)) return Dtype::unknown;
  if (a == Dtype::boolean) return b;
  if (b == Dtype::boolean) return a;
  const bool first = values::is_floating(a), second = values::is_floating(b);
  if (first && second) return values::width(a) > values::width(b) ? a : b;
  if (first != second) {
    const Dtype real = first ? a : b, whole = first ? b : a;
    if (values::width(whole) >= 4) return Dtype::float64;
    return values::width(whole) < values::width(real) ? real : Dtype::unknown;
  }
  if (a == Dtype::uint8 || b == Dtype::uint8)
    return values::width(a) == values::width(b) ? Dtype::int16 : values::width(a) > values::width(b) ? a : b;
  return values::width(a) > values::width(b) ? a : b;
}
// A number of Python raises the type only where it is of a higher kind.
Dtype with_number(Dtype array, bool real) {
  if (!is_known(array)) return Dtype::unknown;
  if (values::is_floating(array)) return array;
  if (real) return Dtype::float64;
  return array == Dtype::boolean ? Dtype::int64 : array;
}
// Of functions whose results are fractions.
Dtype fractions(Dtype dtype) {
  return values::is_floating(dtype)                    ? dtype
      : dtype == Dtype::int64 || dtype == Dtype::int32 ? Dtype::float64
                                                       : Dtype::unknown;
}

// ---------------------------------------------------------------- element by element

struct Operand {
  const TensorState* array = nullptr;  // with dimensions
  bool number = false, real = false;
};
std::optional<Operand> operand_of(Runtime& run, Value value) {
  value = run.resolve(value);
  if (const TensorState* state = array_state(run, value)) {
    if (!state->shape.dims.empty()) return Operand{state, false, false};
    if (state->dtype == Dtype::unknown) return std::nullopt;
    return Operand{nullptr, true, values::is_floating(state->dtype)};
  }
  switch (value.kind) {
  case Kind::integer: return Operand{nullptr, true, false};
  case Kind::real: return Operand{nullptr, true, true};
  case Kind::unknown:
    return value.as<values::Unknown>()->is_real ? std::optional(Operand{nullptr, true, true}) : std::nullopt;
  default: return std::nullopt;
  }
}
// The shape of both together; nullopt where it is not known that they fit.
std::optional<ArraySizes> broadcast(const Op& op, const ArraySizes& a, const ArraySizes& b) {
  ArraySizes out(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const Dim left = i < a.size() ? a[a.size() - 1 - i] : op.dim(std::int64_t{1});
    const Dim right = i < b.size() ? b[b.size() - 1 - i] : op.dim(std::int64_t{1});
    Dim& dim = out[out.size() - 1 - i];
    if (op.value(left) == 1)
      dim = right;
    else if (op.value(right) == 1)
      dim = left;
    else if (op.equal(left, right) == Answer::yes)
      dim = left;
    else if (op.equal(left, right) == Answer::no)
      return std::nullopt;
  }
  return out;
}
// An array of all operands together. What `type` makes of their common type is its own.
Value together(Call& call, std::initializer_list<Value> values, Dtype (*type)(Dtype)) {
  Op op(call);
  std::optional<ArraySizes> shape;
  Dtype dtype = Dtype::unknown;
  bool real = false, numbers = false;
  for (const Value& value : values) {
    const auto operand = operand_of(call.run, value);
    if (!operand) return unknown_of(call);
    if (operand->number) {
      numbers = true;
      real = real || operand->real;
      continue;
    }
    dtype = shape ? common(dtype, operand->array->dtype) : operand->array->dtype;
    shape = shape ? broadcast(op, *shape, operand->array->shape.dims) : operand->array->shape.dims;
    if (!shape) return unknown_of(call);
  }
  // Of numbers alone: one that was read from an array, perhaps.
  if (!shape) return unknown_of(call);
  return array_of(call, {true, *shape}, type(numbers ? with_number(dtype, real) : dtype), values);
}
Dtype itself_type(Dtype dtype) { return dtype; }
Dtype truth_type(Dtype) { return Dtype::boolean; }
Dtype number_type(Dtype dtype) { return dtype == Dtype::boolean ? Dtype::unknown : dtype; }

template <Dtype (*type)(Dtype)> Value unary(Call& call) { return together(call, {call.at(0)}, type); }
template <Dtype (*type)(Dtype)> Value binary(Call& call) {
  return together(call, {call.at(0), call.at(1)}, type);
}
Value clip(Call& call) {
  const auto bounds = {call.run.resolve(call.at(1)), call.run.resolve(call.at(2))};
  for (const Value& bound : bounds)
    if (!bound.is(Kind::integer) && !bound.is(Kind::real) && !bound.is(Kind::none)) return unknown_of(call);
  Value made = together(call, {call.at(0)}, itself_type);
  for (const Value& bound : bounds)
    if (bound.is(Kind::real)) made = together(call, {made, bound}, itself_type);
  return made;
}
Value where(Call& call) {
  if (!call.at(1) || !call.at(2)) return unknown_of(call);
  Op op(call);
  const TensorState* condition = array_state(call.run, call.at(0));
  const Value chosen = together(call, {call.at(1), call.at(2)}, itself_type);
  const TensorState* state = array_state(call.run, chosen);
  if (!condition || !state) return unknown_of(call);
  const auto shape = broadcast(op, condition->shape.dims, state->shape.dims);
  return shape ? array_of(call, {true, *shape}, state->dtype, {call.at(0), chosen}) : unknown_of(call);
}
Value same(Call& call) {
  const TensorState* state = array_state(call.run, call.at(0));
  return state ? array_of(call, state->shape, state->dtype, {call.at(0)}) : unknown_of(call);
}

// ---------------------------------------------------------------- along dimensions

std::optional<std::size_t> axis_of(Op& op, Value value, std::size_t rank) {
  const auto at = op.run.to_constant(value);
  const auto size = static_cast<std::int64_t>(rank);
  if (!at || *at < -size || *at >= size) return std::nullopt;
  return static_cast<std::size_t>(*at < 0 ? *at + size : *at);
}
Value reduced(Call& call, Dtype (*type)(Dtype)) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state || call.spread || op.given("where")) return unknown_of(call);
  const Value axis = op.argument("axis");
  const Known keeps = op.flag("keepdims");
  if (keeps == Known::unknown) return unknown_of(call);
  std::vector<bool> gone(state->shape.dims.size(), !axis);
  std::vector<Value> axes;
  if (axis.is(Kind::tuple))
    axes = axis.as<values::Tuple>()->items;
  else if (axis)
    axes = {axis};
  for (const Value& each : axes) {
    const auto at = axis_of(op, each, gone.size());
    if (!at) return unknown_of(call);
    gone[*at] = true;
  }
  Shape out{true, {}};
  for (std::size_t i = 0; i < gone.size(); ++i) {
    if (!gone[i])
      out.dims.push_back(state->shape.dims[i]);
    else if (keeps == Known::yes)
      out.dims.push_back(op.dim(std::int64_t{1}));
  }
  const Value asked = op.argument("dtype");
  return array_of(call, out, asked ? array_dtype(call.run, asked) : type(state->dtype), {call.at(0)});
}
Dtype sum_type(Dtype dtype) {
  return values::is_floating(dtype)               ? dtype
      : dtype == Dtype::uint8 || !is_known(dtype) ? Dtype::unknown
                                                  : Dtype::int64;
}
Dtype mean_type(Dtype dtype) {
  return values::is_floating(dtype) ? dtype : is_known(dtype) ? Dtype::float64 : Dtype::unknown;
}
Dtype index_type(Dtype) { return Dtype::int64; }
template <Dtype (*type)(Dtype)> Value reduction(Call& call) { return reduced(call, type); }

// Over everything where no axis is given: in one row. Else in place.
template <Dtype (*type)(Dtype)> Value running(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state || op.given("dtype") || call.spread) return unknown_of(call);
  if (op.argument("axis")) return array_of(call, state->shape, type(state->dtype), {call.at(0)});
  return array_of(call, {true, {op.dim(op.product(state->shape.dims))}}, type(state->dtype), {call.at(0)});
}

// ---------------------------------------------------------------- other shapes

Value reshape(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state || call.spread) return unknown_of(call);
  // reshape(2, 3) and reshape((2, 3)).
  std::vector<Value> sizes{call.run.resolve(call.at(1))};
  for (const Value& more : call.rest) sizes.push_back(call.run.resolve(more));
  if (sizes.size() == 1 && (sizes[0].is(Kind::tuple) || sizes[0].is(Kind::list))) {
    const auto items = call.run.elements(sizes[0], call.place);
    if (!items) return unknown_of(call);
    sizes = *items;
  }
  Shape out{true, {}};
  std::optional<std::size_t> open;
  Int given = op.s.constant(1);
  for (const Value& raw : sizes) {
    const Value size = call.run.resolve(raw);
    if (!size.is(Kind::integer)) return unknown_of(call);
    if (op.s.value(size.integer()) == -1) {
      if (open) return unknown_of(call);
      open = out.dims.size();
      out.dims.push_back({});
      continue;
    }
    given = op.mul(given, size.integer());
    out.dims.push_back(op.made(size.integer()));
  }
  const Int whole = op.product(state->shape.dims);
  if (open && whole && given) {
    const auto exact = op.s.exact_quotient(whole, given);
    if (exact) out.dims[*open] = op.made(*exact);
  } else if (!open && whole && given && op.s.compare(Compare::eq, whole, given) == Answer::no) {
    return unknown_of(call);
  }
  return array_of(call, out, state->dtype, {call.at(0)});
}
Value flatten(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  return state ? array_of(call, {true, {op.dim(op.product(state->shape.dims))}}, state->dtype, {call.at(0)})
               : unknown_of(call);
}
// transpose(), transpose(1, 0), transpose((1, 0)) and T.
Value transpose(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state || call.spread || !call.options.empty()) return unknown_of(call);
  const ArraySizes& dims = state->shape.dims;
  std::vector<Value> order = call.rest;
  if (order.size() == 1 &&
      (call.run.resolve(order[0]).is(Kind::tuple) || call.run.resolve(order[0]).is(Kind::list))) {
    const auto items = call.run.elements(order[0], call.place);
    if (!items) return unknown_of(call);
    order = *items;
  }
  Shape out{true, {}};
  if (order.empty()) {
    out.dims.assign(dims.rbegin(), dims.rend());
  } else {
    if (order.size() != dims.size()) return unknown_of(call);
    std::vector<bool> seen(dims.size());
    for (const Value& each : order) {
      const auto at = axis_of(op, each, dims.size());
      if (!at || seen[*at]) return unknown_of(call);
      seen[*at] = true;
      out.dims.push_back(dims[*at]);
    }
  }
  return array_of(call, out, state->dtype, {call.at(0)});
}
Value swapped(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state) return unknown_of(call);
  Shape out = state->shape;
  const auto a = axis_of(op, call.at(1), out.dims.size()), b = axis_of(op, call.at(2), out.dims.size());
  if (!a || !b) return unknown_of(call);
  std::swap(out.dims[*a], out.dims[*b]);
  return array_of(call, out, state->dtype, {call.at(0)});
}
Value expanded(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  const auto at = state ? axis_of(op, call.at(1), state->shape.dims.size() + 1) : std::nullopt;
  if (!at) return unknown_of(call);
  Shape out = state->shape;
  out.dims.insert(out.dims.begin() + static_cast<std::ptrdiff_t>(*at), op.dim(std::int64_t{1}));
  return array_of(call, out, state->dtype, {call.at(0)});
}
Value squeezed(Call& call) {
  Op op(call);
  const TensorState* state = array_state(call.run, call.at(0));
  if (!state) return unknown_of(call);
  Shape out{true, {}};
  const Value axis = op.argument("axis");
  const auto only = axis ? axis_of(op, axis, state->shape.dims.size()) : std::nullopt;
  if (axis && !only) return unknown_of(call);
  for (std::size_t i = 0; i < state->shape.dims.size(); ++i) {
    const Dim& dim = state->shape.dims[i];
    if (only ? i == *only : op.value(dim) == 1) continue;
    if (!only && op.equal(dim, 1) == Answer::unknown) return unknown_of(call);
    out.dims.push_back(dim);
  }
  return array_of(call, out, state->dtype, {call.at(0)});
}

// ---------------------------------------------------------------- several arrays

// concatenate and stack, with an axis that may be fixed. One of many stands for all of an open list.
Value joined(Call& call, bool stacks, std::int64_t otherwise) {
  Op op(call);
  const Value given = call.run.resolve(call.at(0));
  if (call.spread || op.given("dtype") || op.given("out")) return unknown_of(call);
  std::vector<Value> parts;
  Int count = nullptr;
  bool complete = true;
  if (const auto items = given.is(Kind::list) || given.is(Kind::tuple) ? call.run.elements(given, call.place)
                                                                       : std::nullopt) {
    parts = *items;
    count = op.s.constant(static_cast<std::int64_t>(parts.size()));
  } else if (given.is(Kind::list)) {
    complete = false;
    const auto* state = values::Heap::list_state(given);
    parts = {call.run.element(given, call.place)};
    count = state->length;
  }
  if (parts.empty()) return unknown_of(call);
  const Value axis = op.argument("axis");
  std::optional<ArraySizes> all;
  Dtype dtype = Dtype::unknown;
  Int total = op.s.constant(0);
  std::optional<std::size_t> at;
  for (const Value& part : parts) {
    const TensorState* state = array_state(call.run, part);
    if (!state || (!stacks && state->shape.dims.empty())) return unknown_of(call);
    if (!all) {
      all = state->shape.dims;
      dtype = state->dtype;
      at = axis_of(op, axis ? axis : call.run.heap().integer(otherwise), all->size() + stacks);
      if (!at) return unknown_of(call);
    } else {
      if (state->shape.dims.size() != all->size()) return unknown_of(call);
      dtype = common(dtype, state->dtype);
      for (std::size_t i = 0; i < all->size(); ++i) {
        if (!stacks && i == *at) continue;
        if (op.equal((*all)[i], state->shape.dims[i]) == Answer::no) return unknown_of(call);
        (*all)[i] = op.better((*all)[i], state->shape.dims[i]);
      }
    }
    if (!stacks) total = op.add(total, state->shape.dims[*at].size);
  }
  if (stacks)
    all->insert(all->begin() + static_cast<std::ptrdiff_t>(*at), count ? op.made(count) : Dim{});
  else
    (*all)[*at] = complete && total ? op.made(total) : Dim{};
  return array_of(call, {true, *all}, dtype, {given});
}
Value concatenated(Call& call) { return joined(call, false, 0); }
Value stacked(Call& call) { return joined(call, true, 0); }
// Rows of vectors are stacked, everything else is joined.
Value rows_joined(Call& call) {
  const Value given = call.run.resolve(call.at(0));
  const auto items = given.is(Kind::list) || given.is(Kind::tuple) ? call.run.elements(given, call.place)
                                                                   : std::nullopt;
  const Value one = items && !items->empty() ? items->front()
      : given.is(Kind::list)                 ? call.run.element(given, call.place)
                                             : Value{};
  const TensorState* state = one ? array_state(call.run, one) : nullptr;
  if (!state || state->shape.dims.empty()) return unknown_of(call);
  const bool vectors = state->shape.dims.size() == 1;
  if (call.row.path == "numpy.hstack") return joined(call, false, vectors ? 0 : 1);
  return joined(call, vectors, 0);
}
Value product(Call& call) {
  Op op(call);
  const TensorState *a = array_state(call.run, call.at(0)), *b = array_state(call.run, call.at(1));
  if (!a || !b || a->shape.dims.empty() || b->shape.dims.empty()) return unknown_of(call);
  const ArraySizes &left = a->shape.dims, &right = b->shape.dims;
  if (left.size() > 2 || right.size() > 2) return unknown_of(call);
  const Dim &inner = left.back(), &outer = right.front();
  if (op.equal(inner, outer) == Answer::no) return unknown_of(call);
  Shape out{true, {}};
  if (left.size() == 2) out.dims.push_back(left.front());
  if (right.size() == 2) out.dims.push_back(right.back());
  return array_of(call, out, common(a->dtype, b->dtype), {call.at(0), call.at(1)});
}

struct ArrayOperator {
  std::string_view name, signature;
  enum class Home : std::uint8_t { function, method, both, property } home;
  Value (*run)(Call&);
};
using enum ArrayOperator::Home;

constexpr ArrayOperator operators[] = {
    {"sin", "x, *more, **options", function, unary<fractions>},
    {"cos", "x, *more, **options", function, unary<fractions>},
    {"tanh", "x, *more, **options", function, unary<fractions>},
    {"abs", "x, *more, **options", function, unary<itself_type>},
    {"absolute", "x, *more, **options", function, unary<itself_type>},
    {"square", "x, *more, **options", function, unary<number_type>},
    {"sign", "x, *more, **options", function, unary<number_type>},
    {"isnan", "x, *more, **options", function, unary<truth_type>},
    {"isfinite", "x, *more, **options", function, unary<truth_type>},
    {"round", "a, decimals=0, out=None", both, unary<number_type>},
    {"maximum", "x1, x2, *more, **options", function, binary<itself_type>},
    {"minimum", "x1, x2, *more, **options", function, binary<itself_type>},
    {"add", "x1, x2, *more, **options", function, binary<itself_type>},
    {"subtract", "x1, x2, *more, **options", function, binary<number_type>},
    {"multiply", "x1, x2, *more, **options", function, binary<itself_type>},
    {"divide", "x1, x2, *more, **options", function, binary<fractions>},
    {"where", "condition, x, y", function, where},
    {"clip", "a, a_min=None, a_max=None, out=None", function, clip},
    {"clip", "a, min=None, max=None, out=None", method, clip},

    {"__add__", "a, other", method, binary<itself_type>},
    {"__radd__", "a, other", method, binary<itself_type>},
    {"__sub__", "a, other", method, binary<number_type>},
    {"__rsub__", "a, other", method, binary<number_type>},
    {"__mul__", "a, other", method, binary<itself_type>},
    {"__rmul__", "a, other", method, binary<itself_type>},
    {"__truediv__", "a, other", method, binary<mean_type>},
    {"__rtruediv__", "a, other", method, binary<mean_type>},
    {"__floordiv__", "a, other", method, binary<number_type>},
    {"__mod__", "a, other", method, binary<number_type>},
    {"__pow__", "a, other", method, binary<number_type>},
    {"__matmul__", "a, other", method, product},
    {"__neg__", "a", method, unary<number_type>},
    {"__invert__", "a", method, unary<itself_type>},
    {"__abs__", "a", method, unary<itself_type>},
    {"__and__", "a, other", method, binary<itself_type>},
    {"__or__", "a, other", method, binary<itself_type>},
    {"__eq__", "a, other", method, binary<truth_type>},
    {"__ne__", "a, other", method, binary<truth_type>},
    {"__lt__", "a, other", method, binary<truth_type>},
    {"__le__", "a, other", method, binary<truth_type>},
    {"__gt__", "a, other", method, binary<truth_type>},
    {"__ge__", "a, other", method, binary<truth_type>},

    {"sum", "a, axis=None, dtype=None, out=None, keepdims=False, **options", both, reduction<sum_type>},
    {"mean", "a, axis=None, dtype=None, out=None, keepdims=False, **options", both, reduction<mean_type>},
    {"std", "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options", both,
        reduction<mean_type>},
    {"var", "a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **options", both,
        reduction<mean_type>},
    {"median", "a, axis=None, out=None, overwrite_input=False, keepdims=False", function,
        reduction<mean_type>},
    {"max", "a, axis=None, out=None, keepdims=False, **options", both, reduction<itself_type>},
    {"min", "a, axis=None, out=None, keepdims=False, **options", both, reduction<itself_type>},
    {"argmax", "a, axis=None, out=None, *, keepdims=False", both, reduction<index_type>},
    {"argmin", "a, axis=None, out=None, *, keepdims=False", both, reduction<index_type>},
    {"any", "a, axis=None, out=None, keepdims=False, **options", both, reduction<truth_type>},
    {"all", "a, axis=None, out=None, keepdims=False, **options", both, reduction<truth_type>},
    {"cumsum", "a, axis=None, dtype=None, out=None", both, running<sum_type>},

    {"reshape", "a, newshape, *more, **options", both, reshape},
    {"ravel", "a, order='C'", both, flatten},
    {"flatten", "a, order='C'", method, flatten},
    {"transpose", "a, *axes, **options", both, transpose},
    {"T", "a", property, transpose},
    {"swapaxes", "a, axis1, axis2", both, swapped},
    {"expand_dims", "a, axis", function, expanded},
    {"squeeze", "a, axis=None", both, squeezed},
    {"copy", "a, order='K', **options", both, same},
    {"flip", "m, axis=None", function, same},

    {"concatenate", "arrays, axis=0, out=None, dtype=None, **options", function, concatenated},
    {"stack", "arrays, axis=0, out=None, dtype=None, **options", function, stacked},
    {"vstack", "tup, *, dtype=None, **options", function, rows_joined},
    {"hstack", "tup, *, dtype=None, **options", function, rows_joined},
    {"dot", "a, b, out=None", both, product},
    {"matmul", "x1, x2, *more, **options", function, product},
};

// What an array is told for its type becomes one, and its shape another: `a.dtype = [("x", "f4")]`.
Value set_of_array(Call& call) {
  const Value name = call.at(0);
  if (!name.is(Kind::string) || name.text() != "dtype" || !call.self.is(Kind::instance)) return {};
  for (const std::string_view part : {"dtype", "shape"})
    keep(call, part, call.run.heap().unseen(part, call.place));
  return call.run.heap().boolean(true);
}

}  // namespace

Value array_of_fractions(Call& call) { return unary<fractions>(call); }

std::vector<Row> array_operator_rows() {
  static std::deque<std::string> paths;
  std::vector<Row> rows = {row("numpy.ndarray.__setattr__", RowKind::method, "name, value", set_of_array)};
  const auto add = [&](const ArrayOperator& op, bool is_function) {
    const values::RowKind kind = is_function ? RowKind::function
        : op.home == property                ? RowKind::property
                                             : RowKind::method;
    rows.push_back(row(paths.emplace_back((is_function ? "numpy." : "numpy.$array.") + std::string(op.name)),
        kind, op.signature, op.run));
    rows.back().self_first = !is_function;
  };
  for (const ArrayOperator& op : operators) {
    if (op.home == function || op.home == both) add(op, true);
    if (op.home != function) add(op, false);
  }
  return rows;
}

}  // namespace stepzero::libraries
