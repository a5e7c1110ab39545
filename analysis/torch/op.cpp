// The call as shape functions see it: binding, axes, broadcasting, results and failures. See op.hpp.
#include "torch/op.hpp"

#include <algorithm>
#include <deque>

namespace stepzero::torch {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {

const Shape unknown_shape;

// Other spellings that PyTorch takes for NumPy's sake.
struct Synonym {
  std::string_view written, meant;
};
constexpr std::array synonyms = {
    Synonym{"axis", "dim"}, Synonym{"keepdims", "keepdim"}, Synonym{"x", "input"}, Synonym{"a", "input"},
    Synonym{"x1", "input"}, Synonym{"x2", "other"},         Synonym{"axes", "dim"},
    // torch.linalg names its matrices A in the documentation and input in some of its functions.
    Synonym{"A", "input"},  Synonym{"input", "A"},          Synonym{"b", "B"},
};

std::string_view last_part(std::string_view path) {
  if (path.ends_with(".forward")) path.remove_suffix(8);
  return path.substr(path.rfind('.') + 1);
}

} // namespace

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
const TensorState* Op::expect(std::string_view name) { return require_tensor(run, argument(name)); }
const Shape& Op::shape(std::string_view name) const {
  const TensorState* state = tensor(name);
  return state ? state->shape : unknown_shape;
}
bool Op::is_number(std::string_view name) const {
  const Value value = argument(name);
  if (value.is(Kind::unknown)) return value.as<values::Unknown>()->is_real && !tensor(value);
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
  if (const auto constant = value.is(Kind::integer) ? s.value(value.integer()) : std::nullopt) return static_cast<double>(*constant);
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
  return torch::sizes(run, value, last && call.row.takes_rest ? call.rest : std::vector<Value>{}, call.place);
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
  case Kind::dict: what = "a dict"; break;
  default: break;
  }
  if (!what) return true;
  fail(ProblemKind::argument, std::string(title()) + " takes a tensor, and " + this->name(name) + " is " + what);
  return false;
}

const std::vector<Value>& Op::tensors() const {
  if (gathered_) return tensors_;
  gathered_ = true;
  const auto add = [&](Value value) {
    value = run.resolve(value);
    if (value.is(Kind::tensor) || value.is(Kind::unknown) || value.is(Kind::choice)) tensors_.push_back(value);
    else if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto& items = value.is(Kind::list) ? values::Heap::list_state(value)->items : value.as<values::Tuple>()->items;
      for (std::size_t i = 0; i < items.size() && i < 64; ++i)
        if (const Value item = run.resolve(items[i]); item.is(Kind::tensor) || item.is(Kind::unknown)) tensors_.push_back(item);
    }
  };
  for (const Value& value : call.arguments) add(value);
  for (const Value& value : call.rest) add(value);
  return tensors_;
}

// ---------------------------------------------------------------- dimensions

Answer Op::equal(const Dim& a, const Dim& b) const {
  if (!a.size || !b.size) return Answer::unknown;
  if (a.size == b.size) return Answer::yes;
  return s.compare(symbolic::Compare::eq, a.size, b.size);
}
bool Op::must_equal(const Dim& a, const Dim& b) {
  switch (equal(a, b)) {
  case Answer::yes: return true;
  case Answer::no: return false;
  case Answer::unknown: break;
  }
  if (a.size && b.size && !run.guarded()) s.assume(s.compared(symbolic::Compare::eq, a.size, b.size));
  return true;
}
const Dim& Op::better(const Dim& a, const Dim& b) const {
  if (!a.size) return b;
  if (!b.size) return a;
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

std::optional<std::size_t> Op::axis(std::int64_t at, std::size_t rank, std::string_view) {
  const auto range = static_cast<std::int64_t>(std::max<std::size_t>(rank, 1));
  const std::int64_t resolved = at < 0 ? at + range : at;
  if (resolved >= 0 && resolved < range) return static_cast<std::size_t>(resolved);
  fail(ProblemKind::index, "Dimension " + std::to_string(at) + " is outside a tensor of " + std::to_string(rank) +
                               (rank == 1 ? " dimension" : " dimensions") + ": PyTorch takes " + std::to_string(-range) + " to " +
                               std::to_string(range - 1));
  return std::nullopt;
}
std::optional<std::size_t> Op::axis(std::string_view name, std::size_t rank) {
  const Value value = argument(name);
  if (!value.is(Kind::integer)) return std::nullopt;
  const auto at = run.to_constant(value);
  return at ? axis(*at, rank, name) : std::nullopt;
}
std::optional<std::vector<std::size_t>> Op::axes(std::string_view name, std::size_t rank) {
  const auto given_axes = integers(name);
  if (!given_axes) return std::nullopt;
  std::vector<std::size_t> found;
  for (const std::int64_t at : *given_axes) {
    const auto resolved = axis(at, rank, name);
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
  auto both = torch::broadcast(run, a, b, &impossible);
  if (!impossible) return both;
  const std::size_t rank = std::min(a.dims.size(), b.dims.size());
  for (std::size_t i = 0; i < rank; ++i) {
    const Dim left = from_right(a, i), right = from_right(b, i);
    if (equal(left, right) != Answer::no || equal(left, 1) != Answer::no || equal(right, 1) != Answer::no) continue;
    fail(ProblemKind::broadcast,
         "These do not fit together: " + words(a) + " and " + words(b) + " have " + words(left) + " and " + words(right) + " in dimension " +
             std::to_string(-1 - static_cast<std::ptrdiff_t>(i)) + ", and neither is 1",
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
  settle_rank(run, learned);
  set_state(run, argument(name), learned);
}
void Op::learn_last(std::string_view name, std::span<const Dim> dims) {
  const TensorState* state = expect(name);
  if (!state || run.guarded()) return;
  Shape shape = state->shape;
  if (shape.rank_known && shape.dims.size() < dims.size()) return;
  bool changed = false;
  while (shape.dims.size() < dims.size()) {
    shape.dims.insert(shape.dims.begin(), Dim{});
    changed = true;
  }
  for (std::size_t i = 0; i < dims.size(); ++i) {
    Dim& known = shape.dims[shape.dims.size() - dims.size() + i];
    if (known.size || !dims[i].size) continue;
    known = dims[i];
    changed = true;
  }
  if (changed) learn(name, shape);
}

// ---------------------------------------------------------------- dtypes

namespace {

// bool < integers < floats < complex
int category(Dtype dtype) {
  if (dtype == Dtype::boolean) return 0;
  if (dtype == Dtype::complex64 || dtype == Dtype::complex128) return 3;
  return values::is_floating(dtype) ? 2 : 1;
}
Dtype complex_of(Dtype dtype) { return dtype == Dtype::float64 ? Dtype::complex128 : Dtype::complex64; }

struct Operand {
  Dtype dtype;
  Known has_dims;
  bool number;
};

Dtype combine(Dtype higher, Dtype lower) {
  if (lower == Dtype::unknown) return higher;
  if (higher == Dtype::unknown) return lower;
  if (category(higher) >= category(lower)) return higher;
  if (category(lower) == 3 && category(higher) == 2) return complex_of(higher);
  return promote(higher, lower);
}

Dtype result_of(std::span<const Operand> operands, bool maybe_has_dims) {
  Dtype by_class[3] = {Dtype::unknown, Dtype::unknown, Dtype::unknown};
  for (const Operand& operand : operands) {
    if (operand.dtype == Dtype::unknown) return Dtype::unknown;
    const bool has_dims = operand.has_dims == Known::yes || (operand.has_dims == Known::unknown && maybe_has_dims);
    Dtype& best = by_class[operand.number ? 2 : has_dims ? 0 : 1];
    best = best == Dtype::unknown ? operand.dtype : promote(best, operand.dtype);
  }
  return combine(by_class[0], combine(by_class[1], by_class[2]));
}

} // namespace

Dtype promote(Dtype a, Dtype b) {
  if (a == b || b == Dtype::unknown) return a;
  if (a == Dtype::unknown) return b;
  if (category(a) < category(b)) std::swap(a, b);
  if (category(a) == 3) return a == Dtype::complex128 || b == Dtype::complex128 || b == Dtype::float64 ? Dtype::complex128 : Dtype::complex64;
  if (category(a) > category(b)) return a;
  if (category(a) == 2) {
    if (a == Dtype::float64 || b == Dtype::float64) return Dtype::float64;
    return Dtype::float32;  // also of float16 with bfloat16
  }
  constexpr auto rank = [](Dtype dtype) {
    return dtype == Dtype::int64 ? 4 : dtype == Dtype::int32 ? 3 : dtype == Dtype::int16 ? 2 : dtype == Dtype::int8 ? 1 : 0;
  };
  if (rank(a) + rank(b) == 1) return Dtype::int16;  // int8 with uint8
  return rank(a) > rank(b) ? a : b;
}

Dtype Op::result_type(Type type) const {
  if (type == Type::boolean) return Dtype::boolean;
  if (type == Type::int64) return Dtype::int64;
  if (type == Type::own) return Dtype::unknown;
  if (type == Type::input || type == Type::real) {
    const auto& all = tensors();
    const TensorState* first = all.empty() ? nullptr : tensor(all.front());
    if (!first) return Dtype::unknown;
    if (type == Type::input) return first->dtype;
    return first->dtype == Dtype::complex64 ? Dtype::float32 : first->dtype == Dtype::complex128 ? Dtype::float64 : first->dtype;
  }
  std::vector<Value> operands;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i) {
    const std::string_view name = call.row.parameters[i].text();
    if (name == "out" || name == "dtype" || name == "device" || !call.given[i]) continue;
    const Value value = run.resolve(call.arguments[i]);
    if (value.is(Kind::list) || value.is(Kind::tuple)) {
      const auto items = run.elements(value, call.place);
      if (!items) return Dtype::unknown;
      operands.insert(operands.end(), items->begin(), items->end());
    } else {
      operands.push_back(value);
    }
  }
  operands.insert(operands.end(), call.rest.begin(), call.rest.end());
  const Dtype found = promoted(operands);
  return type == Type::floating && found != Dtype::unknown && category(found) < 2 ? Dtype::float32 : found;
}
Dtype Op::promoted(std::initializer_list<std::string_view> names) const {
  std::vector<Value> operands;
  for (const std::string_view name : names)
    if (const Value value = argument(name)) operands.push_back(value);
  return promoted(operands);
}
Dtype Op::promoted(std::span<const Value> values) const {
  std::vector<Operand> operands;
  for (const Value& each : values) {
    const Value value = run.resolve(each);
    if (const TensorState* state = tensor(value)) {
      const Known has_dims = state->shape.rank_known || !state->shape.dims.empty() ? (state->shape.dims.empty() ? Known::no : Known::yes) : Known::unknown;
      operands.push_back({state->dtype, has_dims, false});
      continue;
    }
    switch (value.kind) {
    case Kind::boolean: operands.push_back({s.form(value.condition()) == symbolic::Context::Form::constant ? Dtype::boolean : Dtype::unknown, Known::no, true}); break;
    case Kind::integer: operands.push_back({Dtype::int64, Known::no, true}); break;
    case Kind::real: operands.push_back({Dtype::float32, Known::no, true}); break;
    case Kind::unknown: {
      const bool real = value.as<values::Unknown>()->is_real;
      operands.push_back({real ? Dtype::float32 : Dtype::unknown, Known::no, real});
      break;
    }
    case Kind::choice: operands.push_back({Dtype::unknown, Known::no, false}); break;
    default: break;
    }
  }
  // A number that is not known may raise the type only where the tensors are of a lower kind.
  const bool floats = std::any_of(operands.begin(), operands.end(), [](const Operand& o) {
    return !o.number && o.has_dims == Known::yes && o.dtype != Dtype::unknown && category(o.dtype) >= 2;
  });
  if (floats) std::erase_if(operands, [](const Operand& o) { return o.number; });
  const Dtype found = result_of(operands, true);
  return result_of(operands, false) == found ? found : Dtype::unknown;
}

// ---------------------------------------------------------------- results

Value Op::result(const Shape& shape) { return result(shape, result_type(call.row.op ? call.row.op->type : Type::own)); }

Value Op::result(const Shape& shape, Dtype dtype) {
  const auto& all = tensors();
  if (run.casting() && !all.empty() && values::is_floating(dtype)) dtype = Dtype::unknown;
  TensorState state;
  if (all.size() == 1) state = computed(run, {all[0]});
  else if (all.size() == 2) state = computed(run, {all[0], all[1]});
  else {
    state = computed(run, {});
    for (const Value& value : all) {
      const TensorState part = computed(run, {value});
      state.sharing = symbolic::mix(state.sharing, part.sharing);
      state.external = state.external || part.external;
      state.graph_complete = state.graph_complete && part.graph_complete;
      if (part.requires_grad == Known::yes) state.requires_grad = Known::yes;
      else if (part.requires_grad == Known::unknown && state.requires_grad == Known::no) state.requires_grad = Known::unknown;
      for (const values::Object* source : part.graph)
        if (state.graph.size() < 64 && std::find(state.graph.begin(), state.graph.end(), source) == state.graph.end()) state.graph.push_back(source);
      if (part.scaled_by) state.scaled_by = part.scaled_by;
      state.blamed = state.blamed || part.blamed;
      if (!state.device) state.device = part.device;
    }
  }
  if (call.row.op && call.row.op->has_parameters && call.self.is(Kind::instance)) {
    state.requires_grad = Known::yes;
    state.graph.push_back(call.self.object());
  }
  state.blamed = state.blamed || failed_;
  state.shape = shape;
  state.dtype = dtype;
  return torch::result(call, std::move(state));
}

Value Op::fresh(const Shape& shape, Dtype dtype, bool random) {
  TensorState state;
  state.sharing = random ? Sharing::local : Sharing::uniform;
  state.shape = shape;
  state.dtype = dtype;
  state.graph_complete = true;
  for (const Dim& d : shape.dims)
    if (d.size) state.sharing = symbolic::mix(state.sharing, s.sharing(d.size));
  const Value device = argument("device");
  if (!device) state.device = run.heap().device("cpu").as<values::Device>();
  else if (device.is(Kind::device)) state.device = device.as<values::Device>();
  else if (device.is(Kind::string)) state.device = run.heap().device(device.text()).as<values::Device>();
  state.strides = strides_in_order(shape);
  const Known grad = flag("requires_grad");
  state.requires_grad = grad;
  return torch::result(call, std::move(state));
}

std::vector<Int> Op::strides_in_order(const Shape& shape) const {
  if (!shape.rank_known) return {};
  std::vector<Int> strides(shape.dims.size());
  Int step = s.constant(1);
  for (std::size_t i = shape.dims.size(); i-- > 0;) {
    if (!shape.dims[i].size) return {};
    strides[i] = step;
    step = s.mul(step, shape.dims[i].size);
  }
  return strides;
}
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

void Op::warn(ProblemKind kind, std::string text, std::initializer_list<Dim> because) { tell(kind, std::move(text), because); }

void Op::fail_when(symbolic::Cond when, ProblemKind kind, std::string text, std::initializer_list<Dim> because) {
  const Answer answer = s.decide(when);
  if (answer == Answer::yes) (void)fail(kind, std::move(text), because);
  if (answer != Answer::unknown || failed_) return;
  (void)fail(kind, std::move(text), because);
  problem_->assumption = problem_->assumption ? s.logical_and(problem_->assumption, when) : when;
  failed_ = false;
}

interpreter::ProblemEvent& Op::refuse(ProblemKind kind) {
  failed_ = true;
  return *(problem_ = run.problem(kind, call));
}

void Op::tell(ProblemKind kind, std::string text, std::initializer_list<Dim> because) {
  auto* problem = problem_ = run.problem(kind, call);
  problem->text = std::move(text);
  for (const Value& value : tensors()) {
    if (problem->operands.size() == 4) break;
    problem->operands.push_back(value);
    problem->states.push_back(tensor(value));
  }
  for (const Dim& d : because)
    if (d.origin && d.origin->place) problem->evidence.emplace_back(d.origin->place, words(d) + " comes from here");
}

Value Op::fail(ProblemKind kind, std::string text, std::initializer_list<Dim> because) {
  if (!failed_) tell(kind, std::move(text), because);
  failed_ = true;
  return unknown();
}

void Op::suspect(const interpreter::ProblemEvent& prepared) {
  auto* problem = run.problem(ProblemKind::suspicious_broadcast, call);
  problem->place = prepared.place;
  problem->calls = prepared.calls;
  problem->row = prepared.row;
  problem->expr = prepared.expr;
  problem->node = prepared.node;
  problem->text = prepared.text;
  problem->evidence = prepared.evidence;
  problem->cures = prepared.cures;
}

void Op::cure_constructor(std::string_view parameter, const Dim& size, bool sure) {
  const auto known = value(size);
  if (!problem_ || !known || *known <= 0) return;
  const std::string number = std::to_string(*known);
  problem_->cures.push_back({interpreter::Cure::How::constructor, parameter, nullptr, number, "Set " + std::string(parameter) + " to " + number, sure});
}
void Op::cure_append(std::string_view parameter, std::string_view suffix, bool sure, std::string title) {
  const syntax::Expr* expr = problem_ ? expression(parameter) : nullptr;
  if (!expr) return;
  if (title.empty()) title = "Write " + name(parameter) + std::string(suffix);
  problem_->cures.push_back({interpreter::Cure::How::append, parameter, expr, std::string(suffix), std::move(title), sure});
}
void Op::cure_method(std::string_view method) {
  if (!problem_ || !call.expr || call.expr->function->kind != syntax::ExprKind::attribute) return;
  const auto& function = syntax::as<syntax::AttributeExpr>(*call.expr->function);
  const std::string_view object = run.record().text({call.place.chunk, function.object->span});
  // What stands between the object and the name, parentheses and dots included, stays as it is written.
  const std::string_view whole = run.record().text({call.place.chunk, function.span});
  const std::string_view name = function.attribute.text();
  if (object.empty() || !whole.ends_with(name)) return;
  problem_->cures.push_back({interpreter::Cure::How::replace, "", &function, std::string(whole.substr(0, whole.size() - name.size())) + std::string(method),
                             "Call " + std::string(method), true});
}
void Op::cure_replace(std::string_view parameter, std::string text, bool sure, std::string title) {
  const syntax::Expr* expr = problem_ ? expression(parameter) : nullptr;
  if (!expr) return;
  if (title.empty()) title = "Replace " + name(parameter) + " by " + text;
  problem_->cures.push_back({interpreter::Cure::How::replace, parameter, expr, std::move(text), std::move(title), sure});
}

// ---------------------------------------------------------------- words

std::string Op::words(const Dim& d) const {
  if (!d.size) return "?";
  const std::string text = s.text(d.size);
  return text.empty() ? "?" : text;
}
std::string Op::words(const Shape& shape) const {
  std::string text = "[";
  if (!shape.rank_known) text += shape.dims.empty() ? "*" : "*, ";
  for (std::size_t i = 0; i < shape.dims.size(); ++i) text += (i ? ", " : "") + words(shape.dims[i]);
  return text + "]";
}
const syntax::Expr* Op::expression(std::string_view parameter) const {
  auto at = index(parameter);
  if (at < 0) return nullptr;
  if (call.node && call.node->kind == syntax::ExprKind::binary && at < 2) {
    const auto& binary = syntax::as<syntax::BinaryExpr>(*call.node);
    return at == 0 ? binary.left : binary.right;
  }
  if (call.node && call.node->kind == syntax::ExprKind::subscript && at < 2) {
    const auto& subscript = syntax::as<syntax::SubscriptExpr>(*call.node);
    return at == 0 ? subscript.object : subscript.index;
  }
  if (!call.expr) return nullptr;
  for (const syntax::Keyword& keyword : call.expr->keywords)
    if (keyword.name.text() == parameter) return keyword.value;
  if (call.row.self_first) {
    if (at == 0)
      return call.expr->function->kind == syntax::ExprKind::attribute ? syntax::as<syntax::AttributeExpr>(*call.expr->function).object : nullptr;
    --at;
  }
  return static_cast<std::size_t>(at) < call.expr->arguments.size() ? call.expr->arguments[static_cast<std::size_t>(at)] : nullptr;
}
std::string Op::name(std::string_view parameter) const {
  if (const syntax::Expr* expr = expression(parameter)) {
    const std::string_view text = run.record().text({call.place.chunk, expr->span});
    if (!text.empty() && text.size() <= 40 && text.find('\n') == std::string_view::npos) return std::string(text);
  }
  return "the " + std::string(parameter);
}
std::string_view Op::title() const { return last_part(call.row.path); }

// ---------------------------------------------------------------- layers

Value Op::kept(std::string_view name) const {
  if (!call.self.is(Kind::instance)) return {};
  const values::Slot* slot = call.self.as<values::Instance>()->attributes.find(syntax::Name(name));
  const Value value = slot ? run.resolve(slot->value) : Value{};
  return value.is(Kind::none) ? Value{} : value;
}
void Op::keep(std::string_view name, Value value) {
  run.heap().set(run.heap().slot_of(call.self.as<values::Instance>()->attributes, syntax::Name(name)), value);
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
  const auto items = value.is(Kind::list) || value.is(Kind::tuple) ? run.elements(value, call.place) : std::nullopt;
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

// ---------------------------------------------------------------- running

namespace {

// Does one of them become the other by at most two letters more, less or other?
bool is_slip_of(std::string_view written, std::string_view meant) {
  if (written == meant || written.size() < 3 || meant.size() < 3) return false;
  std::vector<std::size_t> row(meant.size() + 1);
  for (std::size_t k = 0; k <= meant.size(); ++k) row[k] = k;
  for (std::size_t i = 1; i <= written.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t k = 1; k <= meant.size(); ++k) {
      const std::size_t above = row[k];
      row[k] = std::min({above + 1, row[k - 1] + 1, diagonal + (written[i - 1] != meant[k - 1])});
      diagonal = above;
    }
  }
  return row.back() <= (std::min(written.size(), meant.size()) > 4 ? 2u : 1u);
}

// The call does not fit the signature: Python raises a TypeError. Functions have overloads whose parameters have other names, and
// get new ones with each release of PyTorch: a name that looks like none of theirs says nothing, and makes the result unknown.
bool fits(Op& op) {
  const Call& call = op.call;
  if (call.spread) return true;
  // A method of something that was only presumed to be a tensor: that it does not fit says that it is none.
  const bool presumed = call.row.self_first && !op.tensor(call.at(0));
  const auto& parameters = call.row.parameters;
  // `torch.Tensor.shape` names the property itself.
  if (call.row.kind == RowKind::property && !call.at(0)) return false;
  if (!call.options.empty() && !call.row.takes_options) {
    const std::string_view written = call.options.front().first.text();
    const auto meant = std::find_if(parameters.begin(), parameters.end(), [&](syntax::Name name) { return is_slip_of(written, name.text()); });
    const bool is_slip = meant != parameters.end();
    if (!presumed && (call.row.kind == RowKind::class_ || is_slip))
      op.fail(ProblemKind::argument, std::string(op.title()) + " has no argument '" + std::string(written) + "'" +
                                         (is_slip ? "; '" + std::string(meant->text()) + "' looks meant" : ""));
    return false;
  }
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!call.given[i] && call.row.defaults[i].kind == Kind::absent) {
      if (!presumed)
        op.fail(ProblemKind::argument, std::string(op.title()) + " is called without its argument '" + std::string(parameters[i].text()) + "'");
      return false;
    }
  if (!call.rest.empty() && !call.row.takes_rest) {
    if (!presumed)
      op.fail(ProblemKind::argument, std::string(op.title()) + " takes " + std::to_string(call.row.positional - call.row.self_first) + " arguments by place, and " +
                                       std::to_string(call.row.positional - call.row.self_first + call.rest.size()) + " are given");
    return false;
  }
  return true;
}

void write_into(Op& op, Value target, Value made, bool keeps_shape) {
  const TensorState *into = op.tensor(target), *from = op.tensor(made);
  if (!into || !from) return;
  TensorState state = *from;
  if (keeps_shape) {
    state.shape = into->shape;
    state.dtype = into->dtype;
    state.strides = into->strides;
  }
  state.device = into->device;
  set_state(op.run, target, state);
}

} // namespace

Value run_operator(Call& call) {
  Op op(call);
  if (call.self.is(Kind::instance) && op.kept("$failed")) {  // its constructor raised
    op.blame();
    return op.unknown();
  }
  if (!fits(op)) return op.unknown();
  if (call.spread && !call.row.op->takes_spread) return op.unknown();  // any argument may have been given
  const auto before = call.run.heap().mark();
  const auto facts = call.run.symbols().mark();
  const Value made = call.row.op->shape(op);
  if (op.failed()) {
    // What was learned of the operands on the way holds only where the call succeeds.
    call.run.heap().rollback(before);
    call.run.symbols().rewind(facts);
    if (op.certain()) call.run.blame(call);
    // What would have come of it is not known, so that nothing is said of what is made of it.
    if (call.row.variant == values::Variant::in_place) return call.at(0);
    const Value made_up = call.run.heap().unknown_from(op.tensors(), call.place);
    made_up.as<values::Unknown>()->blamed = true;
    return made_up;
  }
  if (made.is(Kind::unknown) && std::any_of(op.tensors().begin(), op.tensors().end(), [&](Value value) { return call.run.heap().is_blamed(value); }))
    made.as<values::Unknown>()->blamed = true;
  if (call.row.op->crossing != Crossing::none) watch_crossing(op, call.row.op->crossing, made);
  if (call.row.variant == values::Variant::in_shape) {
    write_into(op, call.at(0), made, false);
    return call.at(0);
  }
  if (call.row.variant == values::Variant::in_place) {
    const Value subject = call.at(0);
    const TensorState *into = op.tensor(subject), *from = op.tensor(made);
    if (into && from && into->shape.rank_known && from->shape.rank_known) {
      bool same = into->shape.dims.size() == from->shape.dims.size();
      for (std::size_t i = 0; same && i < into->shape.dims.size(); ++i) same = op.equal(into->shape.dims[i], from->shape.dims[i]) != Answer::no;
      if (!same)
        return op.fail(ProblemKind::broadcast, "The result is " + op.words(from->shape) + " and cannot be written into " + op.name(call.row.parameters[0].text()) +
                                                   ", which is " + op.words(into->shape));
    }
    if (into && from && into->dtype != Dtype::unknown && from->dtype != Dtype::unknown && category(from->dtype) > category(into->dtype))
      return op.fail(ProblemKind::dtype, "The result is " + std::string(values::name(from->dtype)) + " and cannot be written into " +
                                             op.name(call.row.parameters[0].text()) + ", which is " + std::string(values::name(into->dtype)));
    write_into(op, subject, made, true);
    return subject;
  }
  if (const Value out = op.argument("out"); out && op.tensor(out) && op.tensor(made)) {
    write_into(op, out, made, false);
    return out;
  }
  return made;
}

// What the constructor of a Layer runs.
static Value make_layer(Call& call) {
  Op op(call);
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    // `bias` is asked for as a flag and becomes a parameter.
    if (call.arguments[i]) op.keep(call.row.parameters[i].text() == "bias" ? "$bias" : call.row.parameters[i].text(), call.arguments[i]);
  if (call.spread) return {};
  if (fits(op) && call.row.op->make) call.row.op->make(op);
  if (op.failed()) {
    op.keep("$failed", call.run.heap().boolean(true));
    return {};
  }
  if (call.row.op->has_parameters) hold_parameters(op);
  else op.keep("$complete", call.run.heap().boolean(true));
  return {};
}

Value call_operator(Interpreter& run, std::string_view path, std::vector<Value> arguments, const syntax::Expr* node, values::Place place) {
  const Row* row = table().find(path);
  Call call{run, *row, {}, std::move(arguments), {}, {}, {}, false, nullptr, node, place};
  call.arguments.resize(row->parameters.size());
  call.given.resize(row->parameters.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i) call.given[i] = static_cast<bool>(call.arguments[i]);
  return row->run(call);
}

namespace {
// Rows hold views of them as long as the process.
std::deque<std::string> paths;
std::deque<values::OperatorInfo> operations;
} // namespace

std::vector<Row> rows_of_layers(std::span<const Layer> layers) {
  std::vector<Row> rows;
  for (const Layer& layer : layers) {
    Row cls;
    cls.path = layer.path;
    cls.kind = RowKind::class_;
    cls.signature = layer.signature;
    cls.run = make_layer;
    cls.op = &operations.emplace_back(values::OperatorInfo{nullptr, Type::own, layer.has_parameters, layer.make});
    cls.base = layer.base;
    cls.source = "PyTorch documentation of torch.nn";
    rows.push_back(std::move(cls));
    if (!layer.forward) continue;
    Row forward;
    forward.path = paths.emplace_back(std::string(layer.path) + ".forward");
    forward.kind = RowKind::method;
    forward.signature = layer.inputs;
    forward.run = run_operator;
    forward.op = &operations.emplace_back(values::OperatorInfo{layer.forward, layer.type, layer.has_parameters, nullptr, crossing_of(last_part(layer.path))});
    forward.source = "PyTorch documentation of torch.nn";
    rows.push_back(std::move(forward));
  }
  return rows;
}

std::vector<Row> operator_rows(std::span<const Operator> operators) {
  std::vector<Row> rows;
  const auto add = [&](std::string path, RowKind kind, const Operator& op, values::Variant variant, bool self_first) {
    Row made;
    made.path = paths.emplace_back(std::move(path));
    made.kind = kind;
    made.signature = op.signature;
    made.run = run_operator;
    made.op = &operations.back();
    made.variant = variant;
    made.self_first = self_first;
    made.source = "PyTorch documentation";
    rows.push_back(std::move(made));
  };
  for (const Operator& op : operators) {
    operations.push_back({op.shape, op.type, false, nullptr, crossing_of(op.name)});
    const std::string name(op.name);
    std::string_view rest = op.homes;
    bool in_torch = false;
    while (!rest.empty()) {
      const auto space = rest.find(' ');
      const std::string_view home = rest.substr(0, space);
      rest = space == std::string_view::npos ? std::string_view{} : rest.substr(space + 1);
      using enum values::Variant;
      if (home == "torch") {
        in_torch = true;
        add("torch." + name, RowKind::function, op, plain, false);
      } else if (home == "method") add("torch.Tensor." + name, RowKind::method, op, plain, true);
      else if (home == "property") add("torch.Tensor." + name, RowKind::property, op, plain, true);
      else if (home == "in_place") {
        add("torch.Tensor." + name + "_", RowKind::method, op, in_place, true);
        if (in_torch) add("torch." + name + "_", RowKind::function, op, in_place, false);
      } else if (home == "in_shape") {
        add("torch.Tensor." + name + "_", RowKind::method, op, in_shape, true);
        if (in_torch) add("torch." + name + "_", RowKind::function, op, in_shape, false);
      } else if (home == "spread") operations.back().takes_spread = true;
      else if (home == "F") add("torch.nn.functional." + name, RowKind::function, op, plain, false);
      else if (home == "F_") add("torch.nn.functional." + name + "_", RowKind::function, op, in_place, false);
      else if (home.starts_with("torch.") || home.starts_with("einops.")) {
        const bool method = home.starts_with("torch.Tensor.");
        add(std::string(home), method ? RowKind::method : RowKind::function, op, method && home.ends_with('_') ? in_place : plain, method);
      } else add("torch." + std::string(home) + "." + name, RowKind::function, op, plain, false);
    }
  }
  return rows;
}

} // namespace stepzero::torch
