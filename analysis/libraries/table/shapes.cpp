#include "libraries/table/shapes.hpp"

#include "interpreter/calls/unseen.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/devices.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <array>

namespace stepzero::libraries {

TensorState* tensor_state(Runtime& run, Value value) {
  value = run.resolve(value);
  if (value.is(Kind::unknown)) value = value.as<values::Unknown>()->state.value;
  return value.is(Kind::tensor) ? value.as<Tensor>()->now() : nullptr;
}

TensorState* require_tensor(Runtime& run, Value value) {
  value = run.resolve(value);
  if (TensorState* state = tensor_state(run, value)) {
    if (!state->maybe_array) return state;
    TensorState sure = *state;
    sure.maybe_array = false;
    set_state(run, value, sure);
    return tensor_state(run, value);
  }
  if (!value.is(Kind::unknown)) return nullptr;
  auto* unknown = value.as<values::Unknown>();
  TensorState state;
  state.sharing = unknown->sharing == Sharing::local ? Sharing::local : Sharing::unseen;
  state.unseen = true;
  state.poisoned = unknown->poisoned;
  state.is_gradient = unknown->is_gradient;
  if (const auto own = run.own_gradients(); own && unknown->is_gradient) {
    state.sharing = unknown->sharing = *own;
    state.unseen = unknown->unseen = false;
  }
  // A gradient is as large as what it is of.
  if (const Value of = unknown->is_gradient ? unknown->attributes.value(Name(values::UnknownState::learned))
                                            : Value{};
      of.is(Kind::tensor)) {
    state.shape = of.as<Tensor>()->now()->shape;
    state.dtype = of.as<Tensor>()->now()->dtype;
  }
  // A sum or product of such values is as much as these.
  state.graph = values::Graph(interpreter::operands_of(*unknown));
  if (state.graph.empty() && interpreter::comes_from_unseen(*unknown)) state.graph.push_back(unknown);
  state.device = interpreter::lies_on(*unknown);
  const Value made = run.heap().tensor(state, unknown->born);
  run.heap().set(unknown->state, made);
  return made.as<Tensor>()->now();
}

constexpr values::KeptKey learned_shape = values::UnknownState::learned;  // read by snapshot/snapshot.cpp

void set_state(Runtime& run, Value value, const TensorState& state) {
  value = run.resolve(value);
  if (value.is(Kind::unknown)) {
    auto* unknown = value.as<values::Unknown>();
    value = unknown->state.value;
    // What is learned on one path is shown where the parameter stands; it is no write, and nothing is
    // concluded from it.
    if (value.is(Kind::tensor) && state.shape.ndim_known && !unknown->name.empty()) {
      TensorState found;
      found.shape = state.shape;
      run.heap().slot_of(unknown->attributes, Name(learned_shape)).value = run.heap().tensor(
          found, unknown->born);
    }
  }
  if (value.is(Kind::tensor))
    run.heap().set(value.as<Tensor>()->state, Value::of(Kind::state, run.heap().state(state)));
}

Dim from_right(const Shape& shape, std::size_t i) {
  return i < shape.dims.size() ? shape.dims[shape.dims.size() - 1 - i] : Dim{};
}

bool differ(Runtime& run, const Dim& a, const Dim& b) {
  return a.size && b.size && run.symbols().compare(Compare::eq, a.size, b.size) == Answer::no &&
      !run.symbols().varies(a.size) && !run.symbols().varies(b.size);
}

// Is `a` at most `b`, and not 0 where `b` is 1? Where both then fit together, `b` is what comes out: min(T,
// 1024) with T.
static bool never_larger(Runtime& run, Int a, Int b) {
  auto& s = run.symbols();
  if (!s.is_atom(b) || s.compare(Compare::le, a, b) != Answer::yes) return false;
  const auto at_one = s.value(s.substitute(a, std::array{symbolic::Assignment{b, 1}}));
  return at_one && *at_one != 0;
}

bool is_width(Runtime& run, Int size) {
  if (!run.policy().operands_fit || !size) return false;
  bool any = false, all = true;
  run.symbols().atoms(size, [&](Int atom) {
    const symbolic::AtomInfo* info = run.symbols().atom_info(atom);
    any = true;
    all = all && info && !info->lower && !info->name.empty() && !info->stand_in && !info->varies;
  });
  return any && all;
}

std::optional<Shape> broadcast(Runtime& run, const Shape& a, const Shape& b, bool* impossible) {
  Shape out;
  out.ndim_known = a.ndim_known && b.ndim_known;
  // Where the one has no more dimensions, those of the other stay as they are.
  const bool either = a.ndim_known || b.ndim_known;
  // To be shown, what is added to a batch of sequences has the shape of one.
  const auto usual = [&](const Shape& known, const Shape& other) {
    return run.policy().operands_fit && known.ndim_known && !other.ndim_known && known.dims.size() >= 3 &&
        other.dims.size() <= known.dims.size() &&
        std::none_of(known.dims.begin(), known.dims.end(),
            [&](const Dim& dim) { return dim.size && run.symbols().value(dim.size) == 1; });
  };
  const bool like_a = usual(a, b), like_b = usual(b, a);
  out.ndim_known = out.ndim_known || like_a || like_b;
  const std::size_t least = either ? std::max(a.dims.size(), b.dims.size())
                                   : std::min(a.dims.size(), b.dims.size());
  const std::size_t rank = run.policy().operands_fit ? std::max(a.dims.size(), b.dims.size()) : least;
  const auto is_one = [&](const Dim& dim) { return dim.size && run.symbols().value(dim.size) == 1; };
  const auto not_one = [&](const Dim& dim) {
    return dim.size && run.symbols().compare(Compare::eq, dim.size, run.symbols().constant(1)) == Answer::no;
  };
  // The size of the result where it is not known whether the two are equal: if they fit, it is the one that
  // is not 1.
  const auto surviving = [&](const Dim& left, const Dim& right) {
    if (not_one(left)) return left;
    if (not_one(right)) return right;
    if (left.size && right.size && never_larger(run, right.size, left.size)) return left;
    if (left.size && right.size && never_larger(run, left.size, right.size)) return right;
    // Two of them that fit are equal.
    if (is_width(run, left.size)) return left;
    if (is_width(run, right.size)) return right;
    return Dim{};
  };
  for (std::size_t i = 0; i < rank; ++i) {
    const bool has_a = i < a.dims.size() || !a.ndim_known, has_b = i < b.dims.size() || !b.ndim_known;
    const Dim left = from_right(a, i), right = from_right(b, i);
    Dim dim;
    if (!has_a || (like_b && !left.size))
      dim = right;
    else if (!has_b || (like_a && !right.size))
      dim = left;
    else if (left.size && left.size == right.size)
      dim = left;
    else if (run.policy().operands_fit && left.size && right.size &&
        run.symbols().compare(Compare::eq, left.size, right.size) == Answer::yes)
      dim = run.symbols().has_stand_in(left.size) ? right : left;
    else if (is_one(left))
      dim = right;
    else if (is_one(right))
      dim = left;
    else if (not_one(left) && not_one(right) && differ(run, left, right)) {
      if (impossible) *impossible = true;
      return std::nullopt;
    } else if (left.size && right.size && run.symbols().any_usual()) {
      auto& s = run.symbols();
      const Int one = s.constant(1);
      s.doubt(s.logical_or(s.compared(Compare::eq, left.size, right.size),
          s.logical_or(s.compared(Compare::eq, left.size, one), s.compared(Compare::eq, right.size, one))));
      dim = surviving(left, right);
    } else {
      dim = surviving(left, right);
    }
    out.dims.insert(out.dims.begin(), dim);
  }
  while (out.dims.size() > least && !out.dims.front().size) out.dims.erase(out.dims.begin());
  return out;
}

void cut_history(Runtime& run, TensorState& state, values::Place place, std::string_view what) {
  if (run.heap().requires_grad(state) != Known::no) {
    auto* origin = run.heap().make<values::Origin>();
    origin->place = place;
    origin->what = what;
    state.cut = origin;
  }
  run.heap().set_no_grad(state);
  state.graph.clear();
  state.graph_complete = true;
  state.scaled_by = nullptr;
}

void require_grad(Runtime& run, Value tensor, Known wanted) {
  const TensorState* now = tensor_state(run, tensor);
  if (!now) return;
  TensorState state = *now;
  const bool is_parameter = tensor.is(Kind::tensor) &&
      tensor.as<Tensor>()->role == values::TensorRole::parameter && !tensor.as<Tensor>()->any_of;
  if (wanted != Known::no && state.requires_grad != Known::yes)
    is_parameter ? run.heap().note_thaw() : run.heap().note_grad_write();
  if (wanted == Known::no) run.heap().set_no_grad(state, is_parameter);
  if (wanted == Known::yes) state.grad_writes = trained_for_certain;
  state.requires_grad = wanted;
  set_state(run, tensor, state);
}

void note_grad_write(Runtime& run, const TensorState& into, const TensorState& written) {
  if (run.heap().requires_grad(into) != Known::yes && run.heap().requires_grad(written) != Known::no)
    run.heap().note_grad_write();
}

void keep_history(Runtime& run, const TensorState& into, TensorState& state) {
  const Known recorded = run.records_gradients();
  if (recorded == Known::yes) return;
  if (recorded == Known::unknown && run.heap().requires_grad(into) != run.heap().requires_grad(state)) {
    state.requires_grad = Known::unknown;
    state.graph_complete = false;
    return;
  }
  state.requires_grad = into.requires_grad;
  state.grad_writes = into.grad_writes;
  state.graph = into.graph;
  state.graph_complete = into.graph_complete;
  state.cut = into.cut;
}

void apply_modes(Runtime& run, TensorState& state) {
  if (run.around() && run.around()->casts) state.cast_by = run.around()->casts;
  const Known recorded = run.records_gradients();
  if (recorded == Known::yes || run.heap().requires_grad(state) == Known::no) return;
  if (recorded == Known::no)
    cut_history(run, state, run.around()->place, "no_grad");
  else
    state.requires_grad = Known::unknown;
}

namespace {
constexpr std::size_t longest_graph = 1024;  // sources of one tensor: a model has fewer parameters

bool is_accelerator(const values::Device& device) {
  return !values::chosen(&device) && !values::may_be_one(device.text, "cpu");
}

// Not a tensor, whatever else it is.
bool is_no_tensor(Value value) {
  switch (value.kind) {
  case Kind::unknown: return value.as<values::Unknown>()->is_number;
  case Kind::choice:
  case Kind::list:
  case Kind::tuple:
  case Kind::dict:
  case Kind::iterator:
  case Kind::instance: return false;
  default: return true;
  }
}
}  // namespace

TensorState computed(Runtime& run, std::span<const Value> operands) {
  TensorState state;
  state.sharing = Sharing::uniform;
  run.heap().set_no_grad(state);
  state.graph_complete = true;
  bool any_device = false, any_unranked = false, one_place = true, by_unseen = false;
  bool beside_unseen = false, all_numbers = true;  // of the tensors: none has, or may have, dimensions
  const values::Device *place = nullptr,
                       *accelerator = nullptr;  // where operands lie that are not known to have dimensions
  for (const Value& operand : operands) {
    const Value value = run.resolve(operand);
    if (!value) continue;
    // Of an unknown that was found to be a tensor its state tells more.
    const TensorState* from = tensor_state(run, value);
    state.sharing = symbolic::mix(state.sharing, from ? from->sharing : run.heap().sharing(value));
    state.unseen = state.unseen || run.heap().is_unseen(value);
    if (!from) {
      if (value.is(Kind::unknown) || value.is(Kind::choice)) state.graph_complete = false;
      if (!is_no_tensor(value) && state.requires_grad == Known::no) state.requires_grad = Known::unknown;
      if (value.is(Kind::unknown) && value.as<values::Unknown>()->is_gradient) state.is_gradient = true;
      state.poisoned = state.poisoned || run.heap().is_poisoned(value);
      // What unseen code computed may have a history of its own.
      if (value.is(Kind::unknown) && interpreter::comes_from_unseen(*value.as<values::Unknown>()) &&
          !state.graph.contains(value.object()))
        (void)state.graph.add({value.object()}, longest_graph);
      // What was moved takes the others along: they lie there, too.
      if (value.is(Kind::unknown) && (!state.device || all_numbers)) {
        const values::Device* lies = interpreter::lies_on(*value.as<values::Unknown>());
        if (!state.device || (lies && !by_unseen)) state.device = lies;
        by_unseen = by_unseen || lies;
        beside_unseen = beside_unseen || !is_no_tensor(value);
      }
      continue;
    }
    const Known required = run.heap().requires_grad(*from);
    if (required == Known::yes)
      state.requires_grad = Known::yes;
    else if (required == Known::unknown && state.requires_grad == Known::no)
      state.requires_grad = Known::unknown;
    if (from->cut && !state.cut) state.cut = from->cut;
    state.is_gradient = state.is_gradient || from->is_gradient;
    if (!state.cast_by) state.cast_by = from->cast_by;
    const bool whole = state.graph.add(from->graph, longest_graph);
    state.graph_complete = state.graph_complete && from->graph_complete && whole;
    if (from->scaled_by) state.scaled_by = from->scaled_by;
    state.poisoned = state.poisoned || from->poisoned;
    // All lie on one device but for those without dimensions, which may stay on the CPU.
    const bool has_dims = !from->shape.dims.empty() || !from->first.empty();
    any_unranked = any_unranked || (!has_dims && !from->shape.ndim_known);
    all_numbers = all_numbers && !has_dims && from->shape.ndim_known;
    if (!has_dims) {
      one_place = one_place && from->device && (!place || place->text == from->device->text);
      place = from->device;
      if (place && is_accelerator(*place)) accelerator = place;
    }
    if ((!any_device && (has_dims || !by_unseen)) || (has_dims && !state.device)) state.device = from->device;
    any_device = any_device || has_dims;
    if (state.dtype == Dtype::unknown || !values::is_floating(state.dtype)) state.dtype = from->dtype;
  }
  // Where none is known to have dimensions, one on an accelerator decides: beside it only those without may
  // lie on the CPU.
  if (!any_device && any_unranked && !one_place) state.device = accelerator;
  // Beside a number on the CPU what is not seen may have dimensions, and lie anywhere.
  if (all_numbers && beside_unseen && !by_unseen &&
      (values::is_cpu(state.device) || values::is_same_device(state.device, default_device(run))))
    state.device = nullptr;
  apply_modes(run, state);
  return state;
}

Value result(const Call& call, TensorState state) {
  return call.run.heap().tensor(std::move(state), call.place);
}

Dim known_dim(Runtime& run, Int size, values::Place place, std::string_view what) {
  auto* origin = run.heap().make<values::Origin>();
  origin->place = place;
  origin->what = what;
  return {size, origin, nullptr};
}

std::optional<std::vector<Int>> sizes(
    Runtime& run, Value first, const std::vector<Value>& rest, values::Place place) {
  std::vector<Value> items;
  first = run.resolve(first);
  if (first.is(Kind::tuple) || first.is(Kind::list)) {
    const auto known = run.elements(first, place);
    if (!known) return std::nullopt;
    items = *known;
  } else if (first) {
    items.push_back(first);
  }
  items.insert(items.end(), rest.begin(), rest.end());
  std::vector<Int> result_sizes;
  for (const Value& item : items) {
    const Value value = run.resolve(item);
    if (!value.is(Kind::integer) && !value.is(Kind::unknown)) return std::nullopt;
    result_sizes.push_back(run.to_int(value));
    if (!result_sizes.back()) return std::nullopt;
  }
  return result_sizes;
}

std::optional<std::size_t> dim_index(Runtime& run, Value dim, const Shape& shape) {
  const auto at = run.to_constant(dim);
  if (!at || !shape.ndim_known) return std::nullopt;
  const auto rank = static_cast<std::int64_t>(shape.dims.size());
  const std::int64_t index = *at < 0 ? *at + rank : *at;
  if (index < 0 || index >= rank) return std::nullopt;
  return static_cast<std::size_t>(index);
}

Dtype to_dtype(Value value) {
  if (value.is(Kind::dtype)) return value.dtype() > Dtype::complex128 ? Dtype::unknown : value.dtype();
  // Python's own types stand for dtypes.
  const std::string_view path = value.is(Kind::library) ? value.as<values::LibrarySymbol>()->path
                                                        : std::string_view{};
  return path == "builtins.float" ? Dtype::float64
      : path == "builtins.int"    ? Dtype::int64
      : path == "builtins.bool"   ? Dtype::boolean
                                  : Dtype::unknown;
}

std::string count_of(std::size_t count, std::string_view what) {
  return std::to_string(count) + " " + std::string(what) + (count == 1 ? "" : "s");
}

}  // namespace stepzero::libraries
