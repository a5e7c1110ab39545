// What Python's operators, assignments and unpacking mean for tensors: which operator each of them calls.
#include "interpreter/record.hpp"
#include "libraries/table/op.hpp"
#include "libraries/table/presumption.hpp"
#include "libraries/torch/meaning/content_numbers.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "libraries/torch/meaning/ranks.hpp"
#include "libraries/torch/meaning/saved.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// By syntax::BinaryOp.
constexpr std::string_view binary_names[] = {"add", "sub", "mul", "matmul", "div", "floor_divide",
    "remainder", "pow", "bitwise_left_shift", "bitwise_right_shift", "bitwise_and", "bitwise_or",
    "bitwise_xor"};
// By syntax::CompareOp.
constexpr std::string_view compare_names[] = {"eq", "ne", "lt", "le", "gt", "ge"};
constexpr std::string_view compare_signs[] = {"==", "!=", "<", "<=", ">", ">="};

bool is_operand(Runtime& run, Value value) {
  value = run.resolve(value);
  return tensor_state(run, value) || value.is(Kind::integer) || value.is(Kind::real) ||
      value.is(Kind::boolean) || value.is(Kind::unknown);
}

// Arrays go through Python's operators as tensors do, and give arrays. `perhaps`: the operands may be some
// though nothing else says so.
template <class Compute> Value as_before(
    Runtime& run, std::initializer_list<Value> operands, const Compute& compute, bool perhaps = false) {
  bool sure = false;
  for (const Value& operand : operands)
    if (const TensorState* state = tensor_state(run, operand)) (state->maybe_array ? perhaps : sure) = true;
  const Value made = compute();
  if (!perhaps || sure) return made;
  const auto doubt = [&](Value value) {
    const TensorState* state = tensor_state(run, value);
    if (!state || state->maybe_array) return;
    TensorState doubtful = *state;
    doubtful.maybe_array = true;
    set_state(run, value, doubtful);
  };
  for (const Value& operand : operands) doubt(operand);
  doubt(made);
  return made;
}

// A value that has no operators with tensors; null: it may have.
const char* no_operand(Value value) {
  switch (value.kind) {
  case Kind::none: return "None";
  case Kind::list: return "a list";
  case Kind::tuple: return "a tuple";
  case Kind::dict: return "a dict";
  case Kind::string: return "a string";
  default: return nullptr;
  }
}
// Is it a tensor for certain? Arrays take lists, and what only looks like a tensor may take anything.
const TensorState* sure_tensor(Runtime& run, Value value) {
  const TensorState* state = tensor_state(run, value);
  return state && !state->maybe_array && !is_presumed(state) ? state : nullptr;
}
bool repeats(Runtime& run, const TensorState& times) {
  if (values::is_floating(times.dtype)) return false;
  if (!times.shape.ndim_known || times.dtype == values::Dtype::unknown) return true;
  return std::ranges::all_of(times.shape.dims, [&](const Dim& dim) {
    return !dim.size ||
        run.symbols().compare(symbolic::Compare::eq, dim.size, run.symbols().constant(1)) != Answer::no;
  });
}
// Python finds no way to compute this: TypeError.
void judge_operands(Runtime& run, std::string_view sign, Value left, Value right, const syntax::Expr& node,
    values::Place place) {
  left = run.resolve(left);
  right = run.resolve(right);
  const TensorState *one = sure_tensor(run, left), *other = sure_tensor(run, right);
  const char* what = one ? no_operand(right) : other ? no_operand(left) : nullptr;
  // Who gives back None or a tuple for one kind of input, and a tensor for another, is asked by those who
  // know what they give.
  if (!what || run.assumption()) return;
  const Value odd = one ? right : left;
  if (odd.is(Kind::none) && run.with_defaults()) return;
  const bool formats = sign == "%" && left.is(Kind::string);
  const bool may_repeat = sign == "*" &&
      (odd.is(Kind::list) || odd.is(Kind::tuple) || odd.is(Kind::string)) &&
      repeats(run, one ? *one : *other);
  if (formats || may_repeat) return;
  const std::string_view text = node.kind == syntax::ExprKind::binary
      ? run.record().text({place.chunk,
            one ? syntax::as<syntax::BinaryExpr>(node).right->span
                : syntax::as<syntax::BinaryExpr>(node).left->span})
      : std::string_view{};
  const bool named = values::is_quotable(text) && text != what;
  interpreter::ProblemEvent* event = run.problem_at(values::ProblemKind::argument, place, &node);
  explain(*event,
      named ? why<Reason::no_operator_of>(what, sign, text, what) : why<Reason::no_operator>(what, sign));
  event->operands = {left, right};
}
// By syntax::BinaryOp.
constexpr std::string_view signs[] = {"+", "-", "*", "@", "/", "//", "%", "**", "<<", ">>", "&", "|", "^"};

}  // namespace

Value Table::binary(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
    values::Place place) const {
  const std::string_view name = binary_names[static_cast<int>(op)];
  if (!is_operand(run, left) || !is_operand(run, right)) {
    judge_operands(run, signs[static_cast<int>(op)], left, right, node, place);
    return run.heap().unseen("", place);
  }
  // `x @ w` of two values of which nothing is known: both libraries have it.
  const bool may_be_arrays = !tensor_state(run, left) && !tensor_state(run, right);
  return as_before(
      run, {left, right},
      [&] { return call_operator(run, "torch." + std::string(name), {left, right}, &node, place); },
      may_be_arrays);
}

Value Table::unary(
    Runtime& run, syntax::UnaryOp op, Value operand, const syntax::Expr& node, values::Place place) const {
  const std::string_view name = op == syntax::UnaryOp::invert ? "torch.bitwise_not"
      : op == syntax::UnaryOp::minus                          ? "torch.neg"
                                                              : "torch.positive";
  return as_before(run, {operand}, [&] { return call_operator(run, name, {operand}, &node, place); });
}

Value Table::compare(Runtime& run, syntax::CompareOp op, Value left, Value right, const syntax::Expr& node,
    values::Place place) const {
  left = run.resolve(left);
  right = run.resolve(right);
  if (left.is(Kind::choice))
    return run.over_choices(
        left, [&](Value side) { return compare(run, op, side, right, node, place); }, place);
  if (right.is(Kind::choice))
    return run.over_choices(
        right, [&](Value side) { return compare(run, op, left, side, node, place); }, place);
  // `x == None`, `x == 'a'`: not of values.
  if (!is_operand(run, left) || !is_operand(run, right)) {
    // A tensor equals no tuple, whatever it holds; an array is compared with its items.
    const bool equality = op == syntax::CompareOp::eq || op == syntax::CompareOp::ne;
    if (equality &&
        ((sure_tensor(run, left) && no_operand(right)) || (sure_tensor(run, right) && no_operand(left))))
      return run.heap().boolean(op == syntax::CompareOp::ne);
    if (static_cast<int>(op) >= 2 && static_cast<std::size_t>(op) < std::size(compare_names))
      judge_operands(run, compare_signs[static_cast<int>(op)], left, right, node, place);
    return run.compare(op, left, right);
  }
  return as_before(run, {left, right}, [&] {
    return call_operator(
        run, "torch." + std::string(compare_names[static_cast<int>(op)]), {left, right}, &node, place);
  });
}

Value Table::augment(Runtime& run, syntax::BinaryOp op, Value left, Value right, const syntax::Expr& node,
    values::Place place) const {
  const std::string path = "torch.Tensor." + std::string(binary_names[static_cast<int>(op)]) + "_";
  if (!is_operand(run, right) || !find(path)) return binary(run, op, left, right, node, place);
  return as_before(run, {left, right}, [&] { return call_operator(run, path, {left, right}, &node, place); });
}

// What `whole[index] = value` makes of the whole: what was there before, with the value in it.
static const values::Producer* stored(
    Runtime& run, Value whole, Value index, Value value, values::Place place) {
  auto* made = run.heap().make<values::Producer>();
  made->born = place;
  made->row = table().find("torch.Tensor.index_put_");
  made->calls = run.site();
  const std::size_t size = made->row->parameters.size();
  const auto arguments = run.heap().array<Value>(size);
  const auto states = run.heap().array<const TensorState*>(size);
  const Value given[] = {whole, index, value};
  for (std::size_t i = 0; i < std::min(size, std::size(given)); ++i) {
    arguments[i] = run.resolve(given[i]);
    states[i] = tensor_state(run, arguments[i]);
  }
  made->arguments = arguments;
  made->states = states;
  return made;
}

// The elements after `whole[index] = value`, where those before are known, and which of them is another now.
static std::optional<std::vector<values::Number>> replaced(
    Runtime& run, const TensorState& whole, Value index, Value value, Op& op) {
  const auto at = run.to_constant(run.resolve(index));
  const auto size = whole.shape.ndim_known && whole.shape.dims.size() == 1 && whole.shape.dims[0].size
      ? run.symbols().value(whole.shape.dims[0].size)
      : std::nullopt;
  if (!at || !size || *size < 1 || *at >= *size || *at < -*size) return std::nullopt;
  const values::Content* before = run.heap().content_of(whole);
  if (!before && *size != 1) return std::nullopt;
  const auto number = numbers_of(op, run.resolve(value), whole.dtype);
  if (!number || number->size() != 1) return std::nullopt;
  std::vector<values::Number> numbers = before ? before->numbers : std::vector<values::Number>(1);
  numbers[static_cast<std::size_t>(*at < 0 ? *at + *size : *at)] = number->front();
  return numbers;
}

void Table::store(Runtime& run, Value object, Value index, Value value, const syntax::Expr& node,
    values::Place place) const {
  const Value part = subscript(run, object, index, node, place);
  const TensorState *into = tensor_state(run, part), *from = tensor_state(run, value),
                    *whole = tensor_state(run, object);
  if (into && from && into->shape.ndim_known && from->shape.ndim_known) {
    const Row* row = find("torch.Tensor.copy_");
    Call call{run, *row, {}, {part, value}, {}, {}, {true, true}, false, nullptr, &node, place};
    Op op(call);
    // Leading dimensions of size 1 of the value are dropped, and those that may be.
    Shape given = from->shape;
    while (given.dims.size() > into->shape.dims.size() && op.equal(given.dims.front(), 1) != Answer::no)
      given.dims.erase(given.dims.begin());
    bool fits = given.dims.size() <= into->shape.dims.size();
    for (std::size_t i = 0; fits && i < given.dims.size(); ++i) {
      const Dim dim = from_right(given, i);
      fits = op.equal(dim, from_right(into->shape, i)) != Answer::no || op.equal(dim, 1) != Answer::no;
    }
    if (!fits)
      op.fail(ProblemKind::broadcast,
          interpreter::DoesNotFit{interpreter::DoesNotFit::Action::write, {}, from->shape, {}, into->shape});
  }
  if (whole && run.heap().requires_grad(*whole) == Known::yes) {
    const Row* row = find("torch.Tensor.index_put_");
    Call call{
        run, *row, {}, {object, index, value}, {}, {}, {true, true, true}, false, nullptr, &node, place};
    Op op(call);
    if (!may_be_written(op, object)) return;
    whole = tensor_state(run, object);
  }
  std::optional<std::vector<values::Number>> numbers;
  if (whole) {
    Call call{run, *find("torch.Tensor.index_put_"), {}, {object, index, value}, {}, {}, {true, true, true},
        false, nullptr, &node, place};
    Op op(call);
    numbers = replaced(run, *whole, index, value, op);
  }
  run.heap().note_write(whole);
  if (!whole) return;
  TensorState state = *whole;
  state.content = numbers ? run.heap().content(state.dtype, false, std::move(*numbers)) : nullptr;
  state.extent = nullptr;
  state.version = written_once_more(whole->version);
  state.made = from ? stored(run, object, index, value, place) : nullptr;
  state.sharing = symbolic::mix(state.sharing, run.heap().sharing(value));
  state.unseen = state.unseen || run.heap().is_unseen(value);
  if (from) {
    const TensorState both = computed(run, {object, value});
    note_grad_write(run, *whole, both);
    state.graph = both.graph;
    state.graph_complete = both.graph_complete;
    state.requires_grad = both.requires_grad;
    state.grad_writes = both.grad_writes;
    state.is_gradient = both.is_gradient;
    keep_history(run, *whole, state);
  } else if (value.is(Kind::unknown) || value.is(Kind::choice)) {
    state.graph_complete = false;
    if (state.requires_grad == Known::no) state.requires_grad = Known::unknown;
  }
  state.outcome = nullptr;
  state.mean = nullptr;
  if (state.is_gradient) run.note_gradient_written(object, place);
  set_state(run, object, state);
}

namespace {

// `a, b = value`, where as many parts are asked for as there are names. A part without a name has an empty
// one.
class Unpacking {
public:
  using Parts = std::optional<std::vector<Value>>;
  Unpacking(const Table& of, Runtime& interpreter, Value given, std::span<const std::string_view> targets,
      const syntax::Expr& written, values::Place at)
      : table(of), run(interpreter), value(interpreter.resolve(given)), names(targets), node(written),
        place(at) {}
  Parts result();

private:
  Parts of_unknown_shape();
  Dim size_named(std::size_t i, const TensorState& state);
  Parts of_tensor();
  Parts of_items(const std::vector<Value>& items);
  Parts refuse(interpreter::Refusal refusal, std::initializer_list<Dim> because = {});

  const Table& table;
  Runtime& run;
  const Value value;
  std::span<const std::string_view> names;
  const syntax::Expr& node;
  const values::Place place;
};

Unpacking::Parts Unpacking::result() {
  if (value.is(Kind::unknown) && value.as<values::Unknown>()->shape_of) return of_unknown_shape();
  if (value.is(Kind::tensor)) return of_tensor();
  // Tuples that PyTorch made: shapes, and results of several parts.
  if (value.is(Kind::tuple)) return of_items(value.as<values::Tuple>()->items);
  if (value.is(Kind::list) && !values::Heap::list_state(value)->open)
    return of_items(values::Heap::list_state(value)->items);
  return std::nullopt;
}

// What is unpacked is then not known.
Unpacking::Parts Unpacking::refuse(interpreter::Refusal refusal, std::initializer_list<Dim> because) {
  const Row* row = table.find("torch.Tensor.shape");
  Call call{run, *row, {}, {}, {}, {}, {}, false, nullptr, &node, place};
  if (value.is(Kind::tuple)) call.rest.push_back(value);
  Op op(call);
  (void)op.fail(ProblemKind::unpack, std::move(refusal), because);
  std::vector<Value> parts(names.size());
  for (Value& part : parts) part = run.heap().unseen("", place);
  return parts;
}

// The shape of a tensor of which not even the number of dimensions is known: it has one for each name.
Unpacking::Parts Unpacking::of_unknown_shape() {
  const Value tensor = value.as<values::Unknown>()->shape_of;
  // A shape does not make a tensor: arrays and sparse matrices of other libraries have one, too.
  const TensorState* before = tensor_state(run, tensor);
  const bool was_tensor = before && !before->maybe_array;
  const TensorState* state = require_tensor(run, tensor);
  if (!state) return std::nullopt;
  TensorState learned = *state;
  learned.maybe_array = !was_tensor;
  if (!learned.shape.ndim_known) {
    if (learned.shape.dims.size() > names.size()) {
      // A program that has asked for their number means other calls than this one here.
      if (value.as<values::Unknown>()->attributes.find(Name(values::UnknownState::len))) return std::nullopt;
      // What it was computed from was different on two paths, and with it perhaps the other operand: the rank
      // that this one gives it is that of one of them.
      if (state->made && std::ranges::any_of(state->made->states, [](const TensorState* from) {
            return from && from->either && !from->shape.ndim_known;
          }))
        return std::nullopt;
      return refuse(why<Reason::unpack_at_least>(learned.shape.dims.size(), names.size()));
    }
    learned.shape.ndim_known = true;
    learned.shape.dims.insert(learned.shape.dims.begin(), names.size() - learned.shape.dims.size(), Dim{});
  }
  if (learned.shape.dims.size() != names.size()) return std::nullopt;
  decide_ndim(run, learned);
  std::vector<Value> items;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Dim& dim = learned.shape.dims[i];
    if (!dim.size) dim = size_named(i, *state);
    items.push_back(Value::of(dim.size));
  }
  learned.shape_value = {};
  set_state(run, tensor, learned);
  learn_source(run, value, learned.shape);
  return items;
}

// The size is the same on every way that asks for it by this name.
Dim Unpacking::size_named(std::size_t i, const TensorState& state) {
  const Name key(values::UnknownState::unpacked +
      (std::to_string(i) + "/" + std::to_string(names.size()) + std::string(names[i])));
  values::Slot& kept = run.heap().slot_of(value.as<values::Unknown>()->attributes, key);
  if (kept.value.is(Kind::integer)) return known_dim(run, kept.value.integer(), place, "unpacked");
  symbolic::AtomInfo info;
  info.name = names[i] == "_" ? "" : std::string(names[i]);
  info.lower = 0;
  info.sharing = state.sharing == Sharing::uniform ? Sharing::uniform : Sharing::unseen;
  const Dim dim = known_dim(run, run.symbols().fresh(info), place, "unpacked");
  kept.value = Value::of(dim.size);
  return dim;
}

Unpacking::Parts Unpacking::of_tensor() {
  const TensorState* state = value.as<Tensor>()->now();
  if (!state->shape.ndim_known) return std::nullopt;
  if (state->shape.dims.empty()) return refuse(why<Reason::unpack_number>());
  const auto size = state->shape.dims.front().size;
  const auto known = size ? run.symbols().value(size) : std::nullopt;
  if (known && *known != static_cast<std::int64_t>(names.size()))
    return refuse(why<Reason::unpack_parts>(static_cast<std::size_t>(*known), names.size()),
        {state->shape.dims.front()});
  if (const auto items = run.elements(value, place); items && items->size() == names.size()) return items;
  // What only may be a tensor gives something unknown.
  std::vector<Value> parts;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Value part = run.element(value, place);
    parts.push_back(part.is(Kind::tensor)
            ? table.subscript(run, value, run.heap().integer(static_cast<std::int64_t>(i)), node, place)
            : part);
  }
  return parts;
}

Unpacking::Parts Unpacking::of_items(const std::vector<Value>& items) {
  if (items.size() == names.size()) return std::nullopt;
  // How many requests a batch of messages gives back, the backend decides: with NCCL it is one for all.
  const bool counted_elsewhere = (value.is(Kind::tuple) && value.as<values::Tuple>()->seen_through) ||
      (!items.empty() && std::ranges::all_of(items, [&](Value item) {
        return run.is_a(run.resolve(item), "torch.distributed.Work");
      }));
  if (!counted_elsewhere)
    return refuse(why<Reason::unpack_values>(items.size(), items.size() == 1, names.size()));
  std::vector<Value> parts;
  parts.reserve(names.size());
  for (std::size_t i = 0; i < names.size(); ++i)
    parts.push_back(items.size() < names.size() || value.is(Kind::tuple)
            ? run.heap().unseen(std::string(names[i]), place)
            : items[i]);
  return parts;
}

}  // namespace

std::optional<std::vector<Value>> Table::unpack(Runtime& run, Value value,
    std::span<const std::string_view> names, const syntax::Expr& node, values::Place place) const {
  return Unpacking(*this, run, value, names, node, place).result();
}

}  // namespace stepzero::libraries
