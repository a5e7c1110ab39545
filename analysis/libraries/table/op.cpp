// The call as shape functions see it: its arguments, axes, broadcasting, results, and the layer that is
// called. See op.hpp.
#include "libraries/table/op.hpp"
#include "interpreter/calls/unseen.hpp"
#include "libraries/python/generators.hpp"
#include "libraries/torch/meaning/autocast.hpp"
#include "libraries/torch/meaning/devices.hpp"
#include "libraries/torch/meaning/ranks.hpp"
#include "symbolic/supposition.hpp"
#include "values/devices.hpp"
#include "values/limits.hpp"
#include "values/numbers.hpp"
#include "values/strides.hpp"

#include <algorithm>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {
constexpr std::size_t most_items = 64;  // of a list that are looked at

const Shape unknown_shape;

// Other spellings that PyTorch takes for NumPy's sake.
struct Synonym {
  std::string_view written, meant;
};
constexpr std::array synonyms = {
    Synonym{"axis", "dim"},
    Synonym{"keepdims", "keepdim"},
    Synonym{"x", "input"},
    Synonym{"a", "input"},
    Synonym{"x1", "input"},
    Synonym{"x2", "other"},
    Synonym{"axes", "dim"},
    // torch.linalg names its matrices A in the documentation and input in some of its functions.
    Synonym{"A", "input"},
    Synonym{"input", "A"},
    Synonym{"b", "B"},
    // What is a word of the language since Python 3.7.
    Synonym{"async", "non_blocking"},
};

}  // namespace

Op::Op(Call& made) : call(made), run(made.run), s(made.run.symbols()) {
  for (auto it = call.options.begin(); it != call.options.end();) {
    std::ptrdiff_t at = -1;
    for (const Synonym& synonym : synonyms)
      if (it->first.text() == synonym.written && at < 0) at = index(synonym.meant);
    if (at >= 0 && !call.given[static_cast<std::size_t>(at)]) {
      call.arguments[static_cast<std::size_t>(at)] = it->second;
      call.given[static_cast<std::size_t>(at)] = true;
      it = call.options.erase(it);
    } else {
      ++it;
    }
  }
}

// ---------------------------------------------------------------- arguments

std::ptrdiff_t Op::index(std::string_view name) const {
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == name) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

Value Op::argument(std::string_view name) const {
  if (const auto at = index(name); at >= 0) {
    const Value value = run.resolve(call.at(static_cast<std::size_t>(at)));
    return value.is(Kind::none) ? Value{} : value;
  }
  for (const auto& [key, value] : call.options)
    if (key.text() == name) {
      const Value found = run.resolve(value);
      return found.is(Kind::none) ? Value{} : found;
    }
  return {};
}
bool Op::given(std::string_view name) const {
  const auto at = index(name);
  return at >= 0 && call.given[static_cast<std::size_t>(at)];
}

namespace {
// What an operator made of something that is not known: `target.long()`, `scores.argmax(1).view(-1)`. If it
// is a tensor, its dtype is the one that the operator always gives; unknown where it hangs on the operands.
Dtype dtype_by_making(Runtime& run, const values::Unknown& made) {
  const values::Unknown* at = &made;
  for (int depth = 0; depth < values::deepest_source; ++depth) {
    const Value source = at->attributes.value(Name(values::UnknownState::made_of));
    if (!source.is(Kind::unknown)) break;
    // It is named by the call that gave it.
    const std::string_view call = at->name, function = call.substr(0, call.rfind('('));
    const values::Row* row = run.method_row(
        run.library().types().tensor, Name(function.substr(function.rfind('.') + 1)));
    if (!row || !row->op) break;
    if (row->op->type == Type::int64) return Dtype::int64;
    if (row->op->type == Type::boolean) return Dtype::boolean;
    if (row->op->type != Type::input) break;
    at = source.as<values::Unknown>();
  }
  return Dtype::unknown;
}
}  // namespace

const TensorState* Op::expect(std::string_view name) {
  const Value value = argument(name);
  const bool anew = value.is(Kind::unknown) && !value.as<values::Unknown>()->state.value;
  const TensorState* state = require_tensor(run, value);
  const values::Device* device = nullptr;
  if (anew && state && !state->device) {
    const auto& unknown = *value.as<values::Unknown>();
    device = interpreter::lies_on(unknown);
    if (!device && call.expr) device = interpreter::left_on(unknown);
  }
  const Dtype dtype = anew && state && state->dtype == Dtype::unknown
      ? dtype_by_making(run, *value.as<values::Unknown>())
      : Dtype::unknown;
  if (!device && dtype == Dtype::unknown) return state;
  TensorState placed = *state;
  if (device) placed.device = device;
  if (dtype != Dtype::unknown) placed.dtype = dtype;
  set_state(run, value, placed);
  return tensor(value);
}
const Shape& Op::shape(std::string_view name) const {
  const TensorState* state = tensor(name);
  return state ? state->shape : unknown_shape;
}
bool Op::is_number(std::string_view name) const {
  const Value value = argument(name);
  if (value.is(Kind::unknown)) return !tensor(value) && values::is_number(value);
  // The truth of a comparison with something unknown may as well be a tensor of truths.
  if (value.is(Kind::boolean)) return s.form(value.condition()) == symbolic::Context::Form::constant;
  return value.is(Kind::integer) || value.is(Kind::real);
}
std::optional<std::int64_t> Op::integer(std::string_view name) const {
  const Value value = argument(name);
  return value ? run.to_constant(value) : std::nullopt;
}
Int Op::size(std::string_view name) const {
  const Value value = argument(name);
  if (!value.is(Kind::integer) && !value.is(Kind::unknown)) return nullptr;
  return run.to_int(value);
}
std::optional<double> Op::real(std::string_view name) const {
  const Value value = argument(name);
  if (value.is(Kind::real)) return value.real();
  if (const auto constant = value.is(Kind::integer) ? s.value(value.integer()) : std::nullopt)
    return static_cast<double>(*constant);
  return std::nullopt;
}
std::optional<std::string_view> Op::text(std::string_view name) const {
  const Value value = argument(name);
  return value.is(Kind::string) ? std::optional(value.text()) : std::nullopt;
}
Known Op::flag(std::string_view name) const {
  const Value value = argument(name);
  if (!value) return Known::no;
  const Answer answer = s.decide(run.truth(value));
  return answer == Answer::yes ? Known::yes : answer == Answer::no ? Known::no : Known::unknown;
}
Dtype Op::dtype(std::string_view name, Dtype otherwise) const {
  const Value value = argument(name);
  if (!value) return otherwise;
  return to_dtype(value);
}
std::optional<std::vector<Int>> Op::sizes(std::string_view name) const {
  const auto at = index(name);
  if (at < 0) return std::nullopt;
  const Value value = argument(name);
  if (!value) return given(name) ? std::nullopt : std::optional<std::vector<Int>>(std::in_place);
  const bool last = static_cast<std::size_t>(at) + 1 >= call.row.positional;
  return libraries::sizes(
      run, value, last && call.row.takes_rest ? call.rest : std::vector<Value>{}, call.place);
}
std::optional<std::vector<std::int64_t>> Op::integers(std::string_view name) const {
  const auto known = sizes(name);
  if (!known) return std::nullopt;
  std::vector<std::int64_t> found;
  for (const Int size : *known) {
    const auto constant = s.value(size);
    if (!constant) return std::nullopt;
    found.push_back(*constant);
  }
  return found;
}
std::optional<std::vector<Value>> Op::sequence(std::string_view name) const {
  const Value value = argument(name);
  if (!value.is(Kind::list) && !value.is(Kind::tuple)) return std::nullopt;
  return run.elements(value, call.place);
}

bool Op::must_be_tensor(std::string_view name) {
  const Value value = argument(name);
  const char* what = nullptr;
  switch (value.kind) {
  case Kind::integer:
  case Kind::real:
  case Kind::boolean:
    if (is_number(name)) what = "a number";
    break;
  case Kind::string: what = "a string"; break;
  case Kind::list: what = "a list"; break;
  case Kind::tuple: what = "a tuple"; break;
  // Who gives back a dict for one kind of input, and a tensor for another, is asked by those who know what
  // they give.
  case Kind::dict:
    if (!run.assumption()) what = "a dict";
    break;
  default: break;
  }
  if (!what) return true;
  fail(ProblemKind::argument, code(title()) + " takes a tensor, and " + this->name(name) + " is " + what);
  return false;
}

const std::vector<Value>& Op::tensors() const {
  if (gathered_) return tensors_;
  gathered_ = true;
  const auto add = [&](Value value) {
    value = run.resolve(value);
    if (value.is(Kind::tensor) || value.is(Kind::unknown) || value.is(Kind::choice))
      tensors_.push_back(value);
    else if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto& items = value.is(Kind::list) ? values::Heap::list_state(value)->items
                                               : value.as<values::Tuple>()->items;
      more_ = more_ || items.size() > most_items ||
          (value.is(Kind::list) && values::Heap::list_state(value)->open);
      for (std::size_t i = 0; i < items.size() && i < most_items; ++i) {
        const Value item = run.resolve(items[i]);
        if (item.is(Kind::tensor) || item.is(Kind::unknown))
          tensors_.push_back(item);
        else
          more_ = more_ || item.is(Kind::choice) || item.is(Kind::list) || item.is(Kind::tuple) ||
              item.is(Kind::instance);
      }
      // One stands for those that are not known one by one.
      if (value.is(Kind::list) && values::Heap::list_state(value)->rest)
        if (const Value rest = run.resolve(values::Heap::list_state(value)->rest);
            rest.is(Kind::tensor) || rest.is(Kind::unknown))
          tensors_.push_back(rest);
    } else {
      more_ = more_ || value.is(Kind::dict) || value.is(Kind::iterator) || value.is(Kind::instance);
    }
  };
  more_ = call.spread || !call.options.empty();
  for (const Value& value : call.arguments) add(value);
  for (const Value& value : call.rest) add(value);
  return tensors_;
}
bool Op::takes_more() const {
  static_cast<void>(tensors());
  return more_;
}

// ---------------------------------------------------------------- dimensions

Answer Op::equal(const Dim& a, const Dim& b) const {
  if (!a.size || !b.size) return Answer::unknown;
  if (a.size == b.size) return Answer::yes;
  const Answer answer = s.compare(symbolic::Compare::eq, a.size, b.size);
  // Of the layers of a list, what holds of one does not of another.
  return answer == Answer::no && (s.varies(a.size) || s.varies(b.size)) ? Answer::unknown : answer;
}
// 3*(n//4) and 2*(n//4), n//4 and n//2: the same of nothing only, though neither is a multiple of the other.
bool Op::differ_where_positive(Int a, Int b, symbolic::Cond& where) {
  const symbolic::Cond there = s.logical_and(s.compared(symbolic::Compare::gt, a, s.constant(0)),
      s.compared(symbolic::Compare::gt, b, s.constant(0)));
  symbolic::Supposition supposed(s);
  if (!supposed.assume(there) || s.compare(symbolic::Compare::eq, a, b) != Answer::no) return false;
  where = where ? s.logical_and(where, there) : there;
  return true;
}
bool Op::never_equal(const Dim& a, const Dim& b) {
  const Answer answer = equal(a, b);
  if (answer != Answer::unknown || !a.size || !b.size || run.guarded()) return answer == Answer::no;
  if (s.varies(a.size) || s.varies(b.size)) return false;
  Int left = a.size, right = b.size;
  symbolic::Cond positive = nullptr;
  std::vector<Int> atoms;
  s.atoms(a.size, [&](Int atom) { atoms.push_back(atom); });
  // One may be a multiple of the other as a whole: n//4 and 2*(n//4).
  atoms.push_back(a.size);
  atoms.push_back(b.size);
  for (const Int atom : atoms)
    for (int power = 0; power < 4; ++power) {
      const auto rest_left = s.exact_quotient(left, atom),
                 rest_right = rest_left ? s.exact_quotient(right, atom) : std::nullopt;
      if (!rest_right) break;
      left = *rest_left;
      right = *rest_right;
      const symbolic::Cond present = s.compared(symbolic::Compare::gt, atom, s.constant(0));
      positive = positive ? s.logical_and(positive, present) : present;
    }
  if (s.compare(symbolic::Compare::eq, left, right) != Answer::no) {
    // T and max(T - 1, 0): the same of nothing only.
    symbolic::Supposition supposed(s);
    s.atoms(left, [&](Int atom) {
      if (s.lower(atom) != 0 || s.value(atom)) return;
      const symbolic::Cond present = s.compared(symbolic::Compare::gt, atom, s.constant(0));
      positive = positive ? s.logical_and(positive, present) : present;
    });
    if (positive) supposed.assume(positive);
    const bool differ = positive && s.compare(symbolic::Compare::eq, left, right) == Answer::no;
    if (!differ && !differ_where_positive(a.size, b.size, positive)) return false;
  }
  if (!positive) return false;
  unless_ = unless_ ? s.logical_and(unless_, positive) : positive;
  return true;
}
bool Op::must_equal(const Dim& a, const Dim& b) {
  if (never_equal(a, b)) return false;
  if (equal(a, b) == Answer::yes) return true;
  run.note_fit(a.size, b.size, false, call.place);
  if (a.size && b.size && !run.guarded() && !s.varies(a.size) && !s.varies(b.size))
    s.assume(s.compared(symbolic::Compare::eq, a.size, b.size));
  return true;
}
const Dim& Op::better(const Dim& a, const Dim& b) const {
  if (!a.size) return b;
  if (!b.size) return a;
  if (s.has_stand_in(a.size)) return b;
  return !s.value(a.size) && s.value(b.size) ? b : a;
}
Int Op::product(std::span<const Dim> dims) const {
  Int total = s.constant(1);
  for (const Dim& d : dims) {
    if (!d.size) return nullptr;
    total = s.mul(total, d.size);
  }
  return total;
}

std::optional<std::size_t> Op::axis(std::int64_t at, std::size_t rank) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const std::int64_t resolved = at < 0 ? at + range : at;
  if (resolved >= 0 && resolved < range) return static_cast<std::size_t>(resolved);
  raising("IndexError")
      .fail(ProblemKind::index,
          "Dimension " + std::to_string(at) + " is outside a tensor of " + std::to_string(rank) +
              (rank == 1 ? " dimension" : " dimensions") + ": PyTorch takes " + std::to_string(-range) +
              " to " + std::to_string(range - 1));
  return std::nullopt;
}
std::optional<std::size_t> Op::axis(std::string_view name, std::size_t rank) {
  const Value value = argument(name);
  if (!value.is(Kind::integer)) return std::nullopt;
  const auto at = run.to_constant(value);
  return at ? axis(*at, rank) : std::nullopt;
}
std::optional<std::vector<std::size_t>> Op::axes(std::string_view name, std::size_t rank) {
  const auto given_axes = integers(name);
  if (!given_axes) return std::nullopt;
  std::vector<std::size_t> found;
  for (const std::int64_t at : *given_axes) {
    const auto resolved = axis(at, rank);
    if (!resolved) return std::nullopt;
    if (std::find(found.begin(), found.end(), *resolved) != found.end()) {
      fail(ProblemKind::argument, "Dimension " + std::to_string(at) + " is named twice");
      return std::nullopt;
    }
    found.push_back(*resolved);
  }
  return found;
}

std::optional<Shape> Op::broadcast(const Shape& a, const Shape& b) {
  bool impossible = false;
  auto both = libraries::broadcast(run, a, b, &impossible);
  const std::size_t rank = std::min(a.dims.size(), b.dims.size());
  if (!impossible) {
    for (std::size_t i = 0; i < rank; ++i)
      if (const Dim left = from_right(a, i), right = from_right(b, i); equal(left, right) == Answer::unknown)
        run.note_fit(left.size, right.size, true, call.place);
    return both;
  }
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim left = from_right(a, i), right = from_right(b, i);
    if (equal(left, right) != Answer::no || equal(left, 1) != Answer::no || equal(right, 1) != Answer::no)
      continue;
    fail(ProblemKind::broadcast,
        "Shapes " + words(a) + " and " + words(b) + " do not broadcast: dimension " +
            std::to_string(-1 - static_cast<std::ptrdiff_t>(i)) + " has sizes " + words(left) + " and " +
            words(right) + ", and neither is 1",
        {left, right});
    break;
  }
  return std::nullopt;
}

void Op::learn(std::string_view name, const Shape& shape) {
  const TensorState* state = expect(name);
  if (!state || run.guarded()) return;
  TensorState learned = *state;
  learned.shape = shape;
  const Value shape_value = state->shape.ndim_known ? Value{} : state->shape_value;
  decide_ndim(run, learned);
  set_state(run, argument(name), learned);
  learn_source(run, shape_value, learned.shape);
  learn_ends(run, shape_value, learned.shape);
}
void Op::learn_last(std::string_view name, std::span<const Dim> dims) {
  const TensorState* state = expect(name);
  if (!state || run.guarded()) return;
  Shape shape = state->shape;
  if (shape.ndim_known && shape.dims.size() < dims.size()) return;
  bool changed = false;
  while (shape.dims.size() < dims.size()) {
    shape.dims.insert(shape.dims.begin(), Dim{});
    changed = true;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Dim& known = shape.dims[shape.dims.size() - dims.size() + i];
    if ((known.size && !s.has_stand_in(known.size)) || !dims[i].size || known.size == dims[i].size) continue;
    if (known.size) s.assume(s.compared(symbolic::Compare::eq, known.size, dims[i].size));
    known = dims[i];
    changed = true;
  }
  if (changed) learn(name, shape);
}

// ---------------------------------------------------------------- results

Value Op::result(const Shape& shape) {
  return result(shape, result_type(call.row.op ? call.row.op->type : Type::own));
}

// Of numbers, and of slices, also of several: `x[rank::world]` is each rank's own part.
static Sharing sharing_of_index(Runtime& run, Value value, int depth = 0) {
  Sharing mixed = Sharing::uniform;
  switch (value.kind) {
  case Kind::integer:
  case Kind::boolean: return run.heap().sharing(value);
  case Kind::slice: {
    const auto* slice = value.as<values::SliceObject>();
    for (const Value& part : {slice->lower, slice->upper, slice->step})
      mixed = symbolic::mix(mixed, sharing_of_index(run, run.resolve(part)));
    return mixed;
  }
  case Kind::tuple:
    if (depth >= values::deepest_data) return mixed;
    for (const Value& part : value.as<values::Tuple>()->items)
      mixed = symbolic::mix(mixed, sharing_of_index(run, run.resolve(part), depth + 1));
    return mixed;
  default: return mixed;
  }
}

Value Op::result(const Shape& shape, Dtype dtype) {
  const auto& all = tensors();
  if (run.casting() && !all.empty() && (dtype == Dtype::unknown || values::is_floating(dtype)))
    dtype = under_autocast(*this, dtype);
  TensorState state = computed(run, std::span<const Value>(all));
  for (const auto* given : {&call.arguments, &call.rest})
    for (const Value& value : *given)
      state.sharing = symbolic::mix(state.sharing, sharing_of_index(run, value));
  if (takes_more()) {
    state.graph_complete = false;
    if (state.requires_grad == Known::no) state.requires_grad = Known::unknown;
  }
  if (call.row.op && call.row.op->has_parameters && call.self.is(Kind::instance)) {
    const Known trained = is_trained();
    if (trained == Known::yes || (trained == Known::unknown && state.requires_grad == Known::no))
      state.requires_grad = trained;
    state.graph.push_back(call.self.object());
    apply_modes(run, state);
    if (call.self.as<values::Instance>()->of_many) state.graph_complete = false;
  }
  // Integers and truth have no gradient.
  if (dtype != Dtype::unknown && category(dtype) < 2) cut_history(run, state, call.place, title());
  if (shape.ndim_known && shape.dims.empty()) state.is_gradient = false;
  state.poisoned = state.poisoned || failed_;
  // Of what would have come of a call that fails nothing is claimed; where shapes are shown it has the one
  // that was meant.
  if (!state.poisoned || run.policy().operands_fit) state.shape = shape;
  state.dtype = dtype;
  return libraries::result(call, std::move(state));
}

Value Op::fresh(const Shape& shape, Dtype dtype, bool random) {
  TensorState state;
  state.sharing = random ? drawn_with(run, argument("generator")) : Sharing::uniform;
  state.shape = shape;
  state.dtype = dtype;
  state.graph_complete = true;
  for (const Dim& d : shape.dims)
    if (d.size) state.sharing = symbolic::mix(state.sharing, s.sharing(d.size));
  const Value device = argument("device");
  if (!device)
    state.device = default_device(run);
  else
    state.device = values::device_named(run.heap(), device);
  state.strides = strides_in_order(shape);
  run.heap().set_no_grad(state);
  state.requires_grad = flag("requires_grad");
  if (state.requires_grad == Known::yes && dtype != Dtype::unknown && category(dtype) < 2)
    return fail(ProblemKind::dtype,
        "Only tensors of floating point and complex numbers can require gradients, but this one is " +
            code(values::name(dtype)) + ". Give it a `dtype`, or write its numbers as floats");
  return libraries::result(call, std::move(state));
}

std::vector<Int> Op::strides_in_order(const Shape& shape) const { return values::strides_in_order(s, shape); }
Value Op::in_order(Value made) {
  const TensorState* state = tensor(made);
  return state ? laid_out(made, strides_in_order(state->shape)) : made;
}
Value Op::laid_out(Value made, std::vector<Int> strides) {
  const TensorState* state = tensor(made);
  if (!state || strides.empty() || strides.size() != state->shape.dims.size()) return made;
  TensorState known = *state;
  known.strides = std::move(strides);
  set_state(run, made, known);
  return made;
}

Value Op::named_tuple(std::vector<Value> items, std::span<const std::string_view> fields) {
  const Value made_tuple = tuple(std::move(items));
  made_tuple.as<values::Tuple>()->fields = fields;
  return made_tuple;
}

// ---------------------------------------------------------------- layers

// What a layer computes needs a gradient if one of its parameters does. Of those that are not known it is
// taken to be so.
namespace {
// The parameters of a layer of the library, and of those that it is made of.
struct Trained {
  bool any = false, yes = false, unsure = false;
};
void look_for_trained(Runtime& run, Value value, Trained& found, int depth) {
  value = run.resolve(value);
  constexpr int most = 6;  // levels of layers
  if (value.is(Kind::choice)) found.unsure = true;
  if (value.is(Kind::tensor) && value.as<values::Tensor>()->role == values::TensorRole::parameter) {
    const TensorState& state = *value.as<values::Tensor>()->now();
    found.any = true;
    found.yes = found.yes || state.requires_grad != Known::no;
    found.unsure = found.unsure || run.heap().requires_grad(state) != Known::no;
  }
  if (!value.is(Kind::instance) || found.yes || depth > most) return;
  const auto& layer = *value.as<values::Instance>();
  for (const auto& [name, slot] : layer.attributes.entries()) {
    if (depth > 0 && slot->value.is(Kind::list) && name.text() == values::ContainerState::items)
      for (const Value& item : values::Heap::list_state(slot->value)->items)
        look_for_trained(run, item, found, depth + 1);
    else if (!values::is_kept(name.text()) || slot->value.is(Kind::tensor))
      look_for_trained(run, slot->value, found, depth + 1);
  }
}
}  // namespace

Known Op::is_trained() const {
  Trained found;
  look_for_trained(run, call.self, found, 0);
  return found.yes || !found.any ? Known::yes : found.unsure ? Known::unknown : Known::no;
}

Value Op::kept(values::AttributeKey name) const {
  if (!call.self.is(Kind::instance)) return {};
  const values::Slot* slot = call.self.as<values::Instance>()->attributes.find(syntax::Name(name.text()));
  const Value value = slot ? run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}
void Op::keep(values::AttributeKey name, Value value) {
  run.heap().set(
      run.heap().slot_of(call.self.as<values::Instance>()->attributes, syntax::Name(name.text())), value);
}
Int Op::kept_size(std::string_view name) const {
  const Value value = kept(name);
  return value.is(Kind::integer) || value.is(Kind::unknown) ? run.to_int(value) : nullptr;
}
std::optional<std::vector<Int>> Op::per_axis(Value value, std::size_t count) const {
  value = run.resolve(value);
  if (value.is(Kind::integer) || value.is(Kind::unknown)) {
    // An unknown may be one number or several.
    if (value.is(Kind::unknown) && count > 1) return std::nullopt;
    const Int one = run.to_int(value);
    return one ? std::optional(std::vector<Int>(count, one)) : std::nullopt;
  }
  const auto items = value.is(Kind::list) || value.is(Kind::tuple) ? run.elements(value, call.place)
                                                                   : std::nullopt;
  if (!items) return std::nullopt;
  std::vector<Int> found;
  for (const Value& item : *items) {
    const Value part = run.resolve(item);
    if (!part.is(Kind::integer) && !part.is(Kind::unknown)) return std::nullopt;
    found.push_back(run.to_int(part));
    if (!found.back()) return std::nullopt;
  }
  if (found.size() == 1) found.resize(count, found.front());
  return found.size() == count ? std::optional(found) : std::nullopt;
}

}  // namespace stepzero::libraries
