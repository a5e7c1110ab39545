// torch.func: functions made of functions: vmap, grad and their like.
#include "libraries/table/names.hpp"
#include "libraries/table/native.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/nn/functional_modules.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <functional>
#include <map>

namespace stepzero::libraries {

using interpreter::Arguments;
using values::Kind;

namespace {

// A function that calls `path` with these arguments in front of its own.
Value before(Call& call, std::string_view path, std::vector<Value> arguments) {
  if (call.spread) return unknown_of(call);
  auto* made = call.run.heap().make<values::Partial>();
  made->function = call.run.library_symbol(path);
  made->arguments = std::move(arguments);
  return Value::of(Kind::partial, made);
}
Value vmap(Call& call) { return before(call, "torch.func.$mapped", {call.at(0), call.at(1), call.at(2)}); }
template <char which> Value transformed(Call& call) {
  constexpr std::string_view path = which == 'g' ? "torch.func.$gradient"
      : which == 'v'                             ? "torch.func.$gradient_and_value"
      : which == 'j'                             ? "torch.func.$jacobian"
                                                 : "torch.func.$hessian";
  const Value aux = which == 'h' ? call.run.heap().boolean(false) : call.at(2);
  return before(call, path, {call.at(0), call.at(1), aux});
}

// What a function computes is the same without its writes.
Value functionalized(Call& call) { return call.at(0); }

// ---------------------------------------------------------------- trees of tensors

using Leaf = std::function<Value(Value)>;  // absent: not known
// The same tuples, lists and dicts with other leaves; absent if one is not known.
Value mapped_tree(Call& call, Value of, const Leaf& leaf) {
  of = call.run.resolve(of);
  if (of.is(Kind::tuple) || of.is(Kind::list)) {
    if (of.is(Kind::list) && values::Heap::list_state(of)->open) return {};
    std::vector<Value> made;
    for (const Value& item : of.is(Kind::tuple) ? of.as<values::Tuple>()->items
                                                : std::vector<Value>(values::Heap::list_state(of)->items)) {
      made.push_back(mapped_tree(call, item, leaf));
      if (!made.back()) return {};
    }
    return of.is(Kind::tuple) ? call.run.heap().tuple(std::move(made))
                              : call.run.heap().list(std::move(made));
  }
  if (of.is(Kind::dict)) {
    if (values::Heap::dict_state(of)->open) return {};
    std::vector<std::pair<Value, Value>> made;
    for (const auto& [key, value] : std::vector(values::Heap::dict_state(of)->items)) {
      made.push_back({key, mapped_tree(call, value, leaf)});
      if (!made.back().second) return {};
    }
    return call.run.heap().dict(std::move(made));
  }
  return leaf(of);
}
Value or_unknown(Call& call, Value value) { return value ? value : unknown_of(call); }

// ---------------------------------------------------------------- vmap

// What one call of a mapped function sees, and of how many they are.
struct Mapped {
  Dim size;
  Value first;  // the tensor that says so
};
// One of each along `dims`, an integer or None for all of it, or the same tree of them; absent: not known, or
// told to be wrong.
Value one_of_each(Call& call, Value of, Value dims, Mapped& mapped) {
  of = call.run.resolve(of);
  dims = call.run.resolve(dims);
  if (dims.is(Kind::none)) return of;
  if ((dims.is(Kind::tuple) || dims.is(Kind::list)) && (of.is(Kind::tuple) || of.is(Kind::list))) {
    const auto own = call.run.elements(of, call.place), each = call.run.elements(dims, call.place);
    if (!own || !each || own->size() != each->size()) return {};
    std::vector<Value> made;
    for (std::size_t i = 0; i < own->size(); ++i) {
      made.push_back(one_of_each(call, (*own)[i], (*each)[i], mapped));
      if (!made.back()) return {};
    }
    return of.is(Kind::tuple) ? call.run.heap().tuple(std::move(made))
                              : call.run.heap().list(std::move(made));
  }
  const auto at = call.run.to_constant(dims);
  if (!at) return {};
  return mapped_tree(call, of, [&](Value leaf) -> Value {
    const TensorState* state = tensor_state(call.run, leaf);
    const auto rank = state && state->shape.ndim_known ? static_cast<std::int64_t>(state->shape.dims.size())
                                                       : 0;
    const std::int64_t dim = *at < 0 ? *at + rank : *at;
    if (dim < 0 || dim >= rank) return {};
    Shape shape = state->shape;
    const Dim size = shape.dims[static_cast<std::size_t>(dim)];
    if (mapped.size.size && size.size && differ(call.run, mapped.size, size)) {
      explain(
          *call.run.problem(ProblemKind::layer_input, call), why<Reason::mapped_sizes>(mapped.size, size));
      return {};
    }
    if (!mapped.size.size) mapped.size = size;
    shape.dims.erase(shape.dims.begin() + dim);
    return with_shape(call, *state, std::move(shape));
  });
}
// vmap(function, in_dims, out_dims)(x, …): the function sees one of each, and its results are stacked.
// Arguments by name are mapped over their first dimension.
Value mapped(Call& call) {
  const auto out = call.run.to_constant(call.run.resolve(call.at(2)));
  if (call.spread || !out) return unknown_of(call);
  const Value dims = call.run.resolve(call.at(1));
  const bool one_for_all = !dims.is(Kind::tuple) && !dims.is(Kind::list);
  const auto each = one_for_all ? std::nullopt : call.run.elements(dims, call.place);
  if (!one_for_all && (!each || each->size() != call.rest.size())) return unknown_of(call);
  Arguments one;
  Mapped found;
  for (std::size_t i = 0; i < call.rest.size(); ++i) {
    one.positional.push_back(one_of_each(call, call.rest[i], one_for_all ? dims : (*each)[i], found));
    if (!one.positional.back()) return unknown_of(call);
  }
  for (const auto& [name, value] : call.options) {
    one.keywords.push_back({name, one_of_each(call, value, call.run.heap().integer(0), found)});
    if (!one.keywords.back().second) return unknown_of(call);
  }
  const Value made = call.run.call(call.at(0), std::move(one), call.place);
  return or_unknown(call, mapped_tree(call, made, [&](Value leaf) -> Value {
    const TensorState* state = tensor_state(call.run, leaf);
    if (!state || !state->shape.ndim_known) return {};
    Shape shape = state->shape;
    const auto rank = static_cast<std::int64_t>(shape.dims.size());
    const std::int64_t at = *out < 0 ? *out + rank + 1 : *out;
    if (at < 0 || at > rank) return {};
    shape.dims.insert(shape.dims.begin() + at, found.size);
    return with_shape(call, *state, std::move(shape));
  }));
}

// ---------------------------------------------------------------- gradients

// What comes of the function, and what it gives besides; both absent where that is not known.
struct Outcome {
  Value value, aux;
  bool known = false;
};
Outcome outcome_of(Call& call, Value value, Value has_aux) {
  value = call.run.resolve(value);
  const symbolic::Answer aux = call.run.symbols().decide(call.run.truth(has_aux));
  if (aux == symbolic::Answer::no) return {value, {}, true};
  if (aux == symbolic::Answer::unknown || !value.is(Kind::tuple) ||
      value.as<values::Tuple>()->items.size() != 2)
    return {};
  return {call.run.resolve(value.as<values::Tuple>()->items[0]), value.as<values::Tuple>()->items[1], true};
}
// The arguments that the function is differentiated by, as `each` makes something of them: one, or a tuple of
// them.
Value by_arguments(Call& call, const std::function<Value(Value)>& each) {
  const Value which = call.run.resolve(call.at(1));
  const auto one = [&](Value at) -> Value {
    const auto known = call.run.to_constant(call.run.resolve(at));
    if (call.spread || !known || *known < 0 || static_cast<std::size_t>(*known) >= call.rest.size())
      return {};
    return each(call.rest[static_cast<std::size_t>(*known)]);
  };
  if (!which.is(Kind::tuple)) return one(which);
  std::vector<Value> made;
  for (const Value& at : which.as<values::Tuple>()->items) {
    made.push_back(one(at));
    if (!made.back()) return {};
  }
  return call.run.heap().tuple(std::move(made));
}
// Tensors of the same sizes.
Value transformed_like(Call& call, Value of) {
  return mapped_tree(call, of, [&](Value leaf) -> Value {
    const TensorState* state = tensor_state(call.run, leaf);
    return state ? with_shape(call, *state, state->shape) : Value{};
  });
}
Value run_function(Call& call) {
  return call.run.call(call.at(0), {call.rest, call.options, call.spread}, call.place);
}

// grad(function, argnums, has_aux)(x, …): a gradient of the shape of x. The function gives one number, in a
// tensor without dimensions.
template <bool with_value> Value gradient(Call& call) {
  const Value value = call.run.resolve(run_function(call));
  const Outcome found = outcome_of(call, value, call.at(2));
  if (const TensorState* loss = found.known ? tensor_state(call.run, found.value) : nullptr;
      loss && !loss->poisoned && loss->shape.ndim_known && !loss->shape.dims.empty()) {
    explain(*call.run.problem(ProblemKind::argument, call),
        why<Reason::gradient_of_many>(loss->shape.dims.size()));
    return unknown_of(call);
  }
  const Value made = or_unknown(
      call, by_arguments(call, [&](Value argument) { return transformed_like(call, argument); }));
  if (with_value) return call.run.heap().tuple({made, value});
  if (!found.known) return unknown_of(call);
  return found.aux ? call.run.heap().tuple({made, found.aux}) : made;
}
// jacrev, jacfwd (once) and hessian (twice): of each number of the result by each of the argument.
template <int times> Value jacobian(Call& call) {
  const Outcome found = outcome_of(call, run_function(call), call.at(2));
  if (!found.known) return unknown_of(call);
  const Value made = mapped_tree(call, found.value, [&](Value result) -> Value {
    const TensorState* out = tensor_state(call.run, result);
    if (!out || !out->shape.ndim_known) return {};
    return by_arguments(call, [&](Value argument) {
      return mapped_tree(call, argument, [&](Value leaf) -> Value {
        const TensorState* in = tensor_state(call.run, leaf);
        if (!in || !in->shape.ndim_known || (times > 1 && !call.run.resolve(call.at(1)).is(Kind::integer)))
          return {};
        Shape shape = out->shape;
        for (int i = 0; i < times; ++i)
          shape.dims.insert(shape.dims.end(), in->shape.dims.begin(), in->shape.dims.end());
        TensorState state = *out;
        if (in->dtype != out->dtype) state.dtype = Dtype::unknown;
        return with_shape(call, state, std::move(shape));
      });
    });
  });
  return !made ? unknown_of(call) : found.aux ? call.run.heap().tuple({made, found.aux}) : made;
}
// vjp(function, *primals): the result, and a function from what is like it to what is like them. linearize:
// the other way round.
Value likenesses(Call& call) {
  return call.spread ? unknown_of(call) : or_unknown(call, transformed_like(call, call.at(0)));
}
template <bool back> Value with_function(Call& call, Value has_aux) {
  const Outcome found = outcome_of(call, run_function(call), has_aux);
  if (!found.known || call.spread) return unknown_of(call);
  const Value function = before(
      call, "torch.func.$like", {back ? call.run.heap().tuple(call.rest) : found.value});
  if (found.aux) return call.run.heap().tuple({found.value, function, found.aux});
  return call.run.heap().tuple({found.value, function});
}
Value pulled_back(Call& call) { return with_function<true>(call, call.at(1)); }
Value linearized(Call& call) { return with_function<false>(call, call.run.heap().boolean(false)); }
// Tangents are as many as the primals and of their sizes. False after a problem was told.
bool tangents_fit(Call& call, const std::vector<Value>& primals) {
  const Value given = call.run.resolve(call.at(2));
  const auto tangents = given.is(Kind::tuple) ? call.run.elements(given, call.place) : std::nullopt;
  if (!tangents) return true;
  const auto refuse = [&](interpreter::Refusal refusal) {
    explain(*call.run.problem(ProblemKind::layer_input, call), std::move(refusal));
    return false;
  };
  if (tangents->size() != primals.size())
    return refuse(why<Reason::tangents_count>(primals.size(), tangents->size()));
  for (std::size_t i = 0; i < primals.size(); ++i) {
    const TensorState *primal = tensor_state(call.run, call.run.resolve(primals[i])),
                      *tangent = tensor_state(call.run, call.run.resolve((*tangents)[i]));
    if (!primal || !tangent || !primal->shape.ndim_known || !tangent->shape.ndim_known) continue;
    const auto &own = primal->shape.dims, &other = tangent->shape.dims;
    bool fits = own.size() == other.size();
    for (std::size_t d = 0; fits && d < own.size(); ++d)
      fits = !own[d].size || !other[d].size || !differ(call.run, own[d], other[d]);
    if (!fits) return refuse(why<Reason::tangent_shape>(i, tangent->shape, primal->shape));
  }
  return true;
}
// jvp(function, primals, tangents): the result, and what is like it.
Value tangent(Call& call) {
  const auto primals = call.run.elements(call.at(1), call.place);
  if (!primals || call.spread || !tangents_fit(call, *primals)) return unknown_of(call);
  const Outcome found = outcome_of(
      call, call.run.call(call.at(0), {*primals, {}, false}, call.place), call.at(4));
  if (!found.known) return unknown_of(call);
  const Value made = or_unknown(call, transformed_like(call, found.value));
  return found.aux ? call.run.heap().tuple({found.value, made, found.aux})
                   : call.run.heap().tuple({found.value, made});
}

}  // namespace

std::vector<Row> transform_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.func.vmap", function, "func, in_dims=0, out_dims=0, randomness='error', *, chunk_size=None",
          vmap),
      row("torch.func.$mapped", function, "func, in_dims, out_dims, *arguments, **options", mapped),
      row("torch.func.grad", function, "func, argnums=0, has_aux=False", transformed<'g'>),
      row("torch.func.grad_and_value", function, "func, argnums=0, has_aux=False", transformed<'v'>),
      row("torch.func.jacrev", function, "func, argnums=0, has_aux=False, *, chunk_size=None",
          transformed<'j'>),
      row("torch.func.jacfwd", function, "func, argnums=0, has_aux=False, *, randomness='error'",
          transformed<'j'>),
      row("torch.func.hessian", function, "func, argnums=0", transformed<'h'>),
      row("torch.func.$gradient", function, "func, argnums, has_aux, *arguments, **options", gradient<false>),
      row("torch.func.$gradient_and_value", function, "func, argnums, has_aux, *arguments, **options",
          gradient<true>),
      row("torch.func.$jacobian", function, "func, argnums, has_aux, *arguments, **options", jacobian<1>),
      row("torch.func.$hessian", function, "func, argnums, has_aux, *arguments, **options", jacobian<2>),
      row("torch.func.$like", function, "of, *arguments, **options", likenesses),
      row("torch.func.vjp", function, "func, *primals, has_aux=False", pulled_back),
      row("torch.func.linearize", function, "func, *primals", linearized),
      row("torch.func.functionalize", function, "func, *, remove='mutations'", functionalized),
      row("torch.func.jvp", function, "func, primals, tangents, *, strict=False, has_aux=False", tangent),
  };
  for (Row& each : functional_module_rows()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
