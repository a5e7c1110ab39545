// Runs operators and layers of the table: the call is held against the signature, the shape function answers,
// and in-place forms, out= and failures are carried out.
#include "libraries/table/op_run.hpp"
#include "interpreter/paths/speculation.hpp"

#include "libraries/table/names.hpp"
#include "libraries/table/presumption.hpp"
#include "libraries/torch/meaning/history.hpp"
#include "libraries/torch/ops/operators.hpp"

#include "libraries/torch/distributed/spread.hpp"
#include "libraries/torch/meaning/ranks.hpp"
#include "libraries/torch/meaning/saved.hpp"
#include "libraries/torch/meaning/shown_weights.hpp"
#include "syntax/spelling.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <charconv>

namespace stepzero::libraries {

using symbolic::Answer;
using values::Dtype;
using values::Kind;
using values::ProblemKind;

namespace {

// Is it meant for the other, but for a slip of the hand?
bool is_typo_of(std::string_view written, std::string_view meant) {
  if (written == meant || written.size() < 3 || meant.size() < 3) return false;
  return syntax::letters_between(written, meant) <= (std::min(written.size(), meant.size()) > 4 ? 2u : 1u);
}

// Python's operators make of the arrays of another library such arrays: `scores @ values` is no more a tensor
// than both of these.
bool is_of_python(const values::Row& row) {
  constexpr std::string_view paths[] = {"torch.add", "torch.sub", "torch.mul", "torch.matmul", "torch.div",
      "torch.floor_divide", "torch.remainder", "torch.pow", "torch.neg", "torch.positive"};
  return std::ranges::find(paths, row.path) != std::end(paths);
}

// Is it a tensor because methods were called on it, or an annotation says so? Others have some of these
// methods, too: a TensorDict. What was computed from such alone is as much as they are; where the way back is
// too long, nothing is sure.
bool presumed_within(const TensorState* state, int& steps) {
  while (state && state->made && state->made->row && steps-- > 0) {
    const values::Producer& made = *state->made;
    if (is_of_python(*made.row)) {
      return std::ranges::all_of(made.states,
          [&](const TensorState* operand) { return !operand || presumed_within(operand, steps); });
    }
    if (!made.row->self_first) break;
    state = made.states.empty() ? nullptr : made.states[0];
  }
  return steps < 0 || !state || (state->unseen && !state->made);
}

}  // namespace

bool is_fraction(Value value) {
  return value.is(Kind::real) ||
      (value.is(Kind::unknown) && value.as<values::Unknown>()->is_real &&
          !value.as<values::Unknown>()->integer && !value.as<values::Unknown>()->unseen);
}

bool is_presumed(const TensorState* state) {
  int steps = 64;
  return presumed_within(state, steps);
}

bool fits(Op& op) {
  const Call& call = op.call;
  if (call.spread) return true;
  // A method of something that was only presumed to be a tensor: that it does not fit says that it is none.
  const bool presumed = call.row.self_first && is_presumed(op.tensor(call.at(0)));
  const auto& parameters = call.row.parameters;
  // So says a tensor in the place of a dimension: `lib.softmax(x, -1)` is a function of a module.
  constexpr std::string_view no_tensors[] = {
      "dim", "dims", "dim0", "dim1", "axis", "dtype", "keepdim", "diagonal"};
  for (std::size_t i = 1; presumed && i < parameters.size(); ++i)
    if (call.given[i] && std::ranges::find(no_tensors, parameters[i].text()) != std::end(no_tensors) &&
        op.tensor(call.at(i)))
      return false;
  // `torch.Tensor.shape` names the property itself.
  if (call.row.kind == RowKind::property && !call.at(0)) return false;
  if (!call.options.empty() && !call.row.takes_options) {
    const std::string_view written = call.options.front().first.text();
    const auto meant = std::find_if(parameters.begin(), parameters.end(),
        [&](syntax::Name name) { return is_typo_of(written, name.text()); });
    const bool is_typo = meant != parameters.end();
    // An operator that goes element by element has nothing to do with dimensions, in any version.
    constexpr std::string_view of_dimensions[] = {"dim", "dims", "axis", "keepdim"};
    const bool elementwise = call.row.op &&
        (call.row.op->shape == same || call.row.op->shape == broadcasting) &&
        call.row.path.starts_with("torch.") &&
        std::ranges::find(of_dimensions, written) != std::end(of_dimensions);
    if (!presumed && (call.row.kind == RowKind::class_ || is_typo || elementwise))
      op.raising("TypeError")
          .fail(ProblemKind::argument,
              interpreter::NoSuchArgument{
                  op.taker(), std::string(written), is_typo ? std::string(meant->text()) : std::string()});
    return false;
  }
  // Nothing that is spread is nothing that somebody forgot: versions differ in what they say to it.
  const bool spreads = call.expr && std::ranges::any_of(call.expr->arguments, [](const syntax::Expr* each) {
    return each->kind == syntax::ExprKind::starred;
  });
  for (std::size_t i = 0; i < parameters.size(); ++i)
    if (!call.given[i] && call.row.defaults[i].kind == Kind::absent) {
      if (!presumed && !spreads)
        op.raising("TypeError")
            .fail(ProblemKind::argument, interpreter::MissingArgument{op.taker(), parameters[i].text()});
      return false;
    }
  if (!call.rest.empty() && !call.row.takes_rest) {
    if (!presumed)
      op.raising("TypeError")
          .fail(ProblemKind::argument,
              interpreter::TooManyArguments{op.taker(),
                  static_cast<std::size_t>(call.row.positional - call.row.self_first),
                  static_cast<std::size_t>(call.row.positional - call.row.self_first) + call.rest.size()});
    return false;
  }
  return true;
}

namespace {

bool is_gradient(const Op& op, Value value) {
  value = op.run.resolve(value);
  const TensorState* state = op.tensor(value);
  return state ? state->is_gradient : value.is(Kind::unknown) && value.as<values::Unknown>()->is_gradient;
}

void write_into(Op& op, Value target, Value made, bool keeps_shape) {
  if (is_gradient(op, target) || is_gradient(op, made))
    op.run.note_gradient_written(target, op.call.place, &op.call.row);
  const TensorState *into = op.tensor(target), *from = op.tensor(made);
  if (!into || !from) return;
  // A view of the tensor, or the tensor that it is a view of, holds other numbers from here on.
  const values::Content* const content =
      keeps_shape && into->dtype == from->dtype ? op.run.heap().content_of(*from) : nullptr;
  op.run.heap().note_write(into);
  note_grad_write(op.run, *into, *from);
  TensorState state = *from;
  keep_history(op.run, *into, state);
  state.content = nullptr;
  state.extent = nullptr;
  state.mean = nullptr;
  if (keeps_shape) {
    state.shape = into->shape;
    state.first = into->first;
    state.dtype = into->dtype;
    state.strides = into->strides;
  }
  state.device = into->device;
  state.extent = nullptr;
  state.version = keeps_shape ? written_once_more(into->version) : into->version;
  set_state(op.run, target, state);
  if (content) op.hold_numbers(target, content->numbers);
}

// What `out=` names gets what was made, and its shape. Answers whether it is the tensor that was made.
bool write_out(Op& op, Value out, Value made) {
  out = op.run.resolve(out);
  made = op.run.resolve(made);
  if (out.is(Kind::tuple) || out.is(Kind::list)) {
    const auto into = op.run.elements(out, op.call.place);
    const auto from = made.is(Kind::tuple) || made.is(Kind::list) ? op.run.elements(made, op.call.place)
                                                                  : std::nullopt;
    for (std::size_t i = 0; into && i < into->size(); ++i)
      write_out(op, (*into)[i], from && i < from->size() ? (*from)[i] : Value{});
    return false;
  }
  const TensorState* into = op.tensor(out);
  if (!into) return false;
  if (op.tensor(made)) {
    write_into(op, out, made, false);
    return true;
  }
  TensorState state = *into;
  state.shape = {};
  state.first.clear();
  state.strides.clear();
  state.content = nullptr;
  state.extent = nullptr;
  state.mean = nullptr;
  set_state(op.run, out, state);
  return false;
}

const values::Producer* describe(Op& op, int part) {
  auto* made = op.run.heap().make<values::Producer>();
  made->born = op.call.place;
  made->row = &op.call.row;
  made->self = op.call.self;
  made->calls = op.call.run.site();
  made->part = part;
  const std::size_t size = op.call.row.parameters.size();
  // Of a layer its mode follows: it may have another one later.
  const bool of_layer = op.call.self.is(Kind::instance);
  // After them what `*more` takes: `x.permute(0, 2, 1)`.
  const bool has_more = !op.call.rest.empty();
  const auto arguments = op.run.heap().array<Value>(size + of_layer + has_more);
  if (of_layer) arguments[size] = op.kept(values::ModuleState::training);
  if (has_more) arguments[size + of_layer] = op.run.heap().tuple(std::vector(op.call.rest));
  const auto states = op.run.heap().array<const TensorState*>(size);
  std::size_t own = 0;
  for (std::size_t i = 0; i < size; ++i) {
    arguments[i] = op.call.run.resolve(op.call.at(i));
    states[i] = tensor_state(op.run, arguments[i]);
    own += states[i] != nullptr;
  }
  made->arguments = arguments;
  made->states = states;
  if (const auto& tensors = op.tensors(); tensors.size() > own) {
    const auto listed = op.run.heap().array<const TensorState*>(tensors.size());
    std::transform(
        tensors.begin(), tensors.end(), listed.begin(), [&](const Value& value) { return op.tensor(value); });
    made->listed = listed;
  }
  return made;
}

// The tensors that the operator made are told where they came from. What it gives back as it got it, and what
// was kept somewhere, came from elsewhere.
void describe_results(Op& op, Value result, const std::vector<const TensorState*>& given) {
  const auto tell = [&](Value value, int part) {
    if (!value.is(Kind::tensor) || value.as<values::Tensor>()->role != values::TensorRole::plain) return;
    TensorState* state = value.as<values::Tensor>()->now();
    if (std::find(given.begin(), given.end(), state) != given.end() ||
        std::find(op.tensors().begin(), op.tensors().end(), value) != op.tensors().end())
      return;
    state->made = describe(op, part);
  };
  constexpr std::size_t most_results =
      16;  // each remembers the call: torch.unbind of a long tensor gives many
  if (result.is(Kind::tuple) && result.as<values::Tuple>()->items.size() <= most_results) {
    const auto& items = result.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < items.size(); ++i) tell(items[i], static_cast<int>(i));
  } else if (result.is(Kind::list) && values::Heap::list_state(result)->items.size() <= most_results) {
    const auto& items = values::Heap::list_state(result)->items;
    for (std::size_t i = 0; i < items.size(); ++i) tell(items[i], static_cast<int>(i));
    // Parts of which not even the number is known.
    if (values::Heap::list_state(result)->rest) tell(values::Heap::list_state(result)->rest, 0);
  } else {
    tell(result, -1);
  }
}

Value run_shape_function(Call& call, Op& op);

// What is computed is not written into a tensor of a lower kind: no float into integers. Some operators
// convert nothing at all. False after fail().
bool fits_out(Op& op, Value out, Value made) {
  constexpr std::string_view exact[] = {"mm", "bmm", "matmul", "mv", "addmm", "baddbmm", "addmv", "softmax",
      "log_softmax", "argmax", "argmin", "gather", "index_select", "where", "argsort"};
  out = op.run.resolve(out);
  made = op.run.resolve(made);
  if (out.is(Kind::tuple) && made.is(Kind::tuple)) {
    const auto &into = out.as<values::Tuple>()->items, &from = made.as<values::Tuple>()->items;
    for (std::size_t i = 0; i < into.size() && i < from.size(); ++i)
      if (const TensorState* part = op.tensor(op.run.resolve(from[i])); part && part->dtype == Dtype::int64)
        if (const TensorState* target = op.tensor(op.run.resolve(into[i]));
            target && target->dtype != Dtype::unknown && values::is_floating(target->dtype)) {
          op.fail(ProblemKind::dtype, why<Reason::indices_dtype>(target->dtype));
          return false;
        }
    return true;
  }
  const TensorState *into = op.tensor(out), *from = op.tensor(made);
  if (!into || !from || into == from || into->dtype == Dtype::unknown || from->dtype == Dtype::unknown ||
      into->dtype == from->dtype || op.run.casting())
    return true;
  const bool converts = std::ranges::find(exact, operator_name(op.call.row)) == std::end(exact);
  if (converts && category(from->dtype) <= category(into->dtype)) return true;
  op.fail(ProblemKind::dtype,
      interpreter::ResultDtype{op.taker(), from->dtype, into->dtype, "the tensor that `out` names"});
  return false;
}

// An object of a class of the program may take the operator over, and do with it what it likes.
bool is_taken_over(const Call& call) {
  static const syntax::Name hook("__torch_function__");
  return std::any_of(call.arguments.begin(), call.arguments.end(), [&](const Value& argument) {
    const Value object = call.run.resolve(argument);
    const values::Class* cls =
        object.is(Kind::instance) && !(object == call.self) ? object.as<values::Instance>()->cls : nullptr;
    return cls && (cls->open || call.run.find_in_order(cls->order, hook));
  });
}

}  // namespace

Value run_operator(Call& call) {
  Op op(call);
  if (is_taken_over(call)) return call.run.heap().unseen("", call.place);
  if (call.self.is(Kind::instance) && op.kept(values::ModuleState::failed)) {  // its constructor raised
    op.poison();
    return op.unknown();
  }
  if (!fits(op)) return op.unknown();
  if (call.spread && !call.row.op->takes_spread) return op.unknown();  // any argument may have been given
  const bool writes = call.row.variant != values::Variant::plain || call.row.op->writes;
  std::vector<const TensorState*> given;
  for (const Value& value : op.tensors()) given.push_back(op.tensor(value));
  // Before it is written into.
  const values::Producer* source = writes ? describe(op, -1) : nullptr;
  const Value result = run_shape_function(call, op);
  if (op.failed()) return result;
  if (!writes) {
    describe_results(op, result, given);
  } else if (const Value subject = call.run.resolve(call.at(0));
      const TensorState* state = op.tensor(subject)) {
    TensorState written = *state;
    written.made = source;
    set_state(call.run, subject, written);
    if (const values::Tensor* weights = averages(semantics_of(call.row)) ? shown_weights(subject) : nullptr)
      call.run.note_weights_written(Value::of(Kind::tensor, weights), subject, call.place);
  }
  return result;
}

namespace {
// A layer computes where its weight lies, whatever is known of its input. Where the two may be apart that is
// told, and no more of what follows.
void lies_with_weight(Op& op, Value made) {
  const TensorState *weight = op.tensor(op.kept("weight")),
                    *state = made.is(Kind::tensor) ? op.tensor(made) : nullptr;
  const bool apart = op.told() && op.told()->problem == ProblemKind::device;
  if (!state || !weight || !weight->device || (!apart && state->device)) return;
  TensorState placed = *state;
  placed.device = apart ? nullptr : weight->device;
  set_state(op.run, made, placed);
}

// What goes by the name of the input is a tensor in every function and layer, and nothing else; only
// `atleast_1d` and its kind take several. Who gives back None or a tuple for one kind of input, and a tensor
// for another, is asked by those who know what they give.
bool gets_tensors(Op& op) {
  if ((op.call.row.takes_rest && op.call.row.positional < 2) || op.run.assumption()) return true;
  for (std::size_t i = op.call.row.self_first ? 1 : 0; i < op.call.row.parameters.size(); ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if (name != "input" || !op.given(name)) continue;
    if (op.call.run.resolve(op.call.at(i)).is(Kind::none)) {
      // What may be left out, and is, is given by those who call it.
      if (op.run.with_defaults()) continue;
      op.fail(ProblemKind::argument,
          interpreter::WrongKind{interpreter::WrongKind::Need::tensor, interpreter::WrongKind::Has::none,
              op.taker(), op.name(name), {}});
      return false;
    }
    const Value value = op.argument(name);
    if ((value.is(Kind::list) || value.is(Kind::tuple) || value.is(Kind::dict) || value.is(Kind::string)) &&
        !op.must_be_tensor(name))
      return false;
  }
  return true;
}

std::string float_text(double value) {
  char text[32];
  std::string found(text, std::to_chars(std::begin(text), std::end(text), value).ptr);
  return found.find_first_of(".en") == std::string::npos ? found + ".0" : found;
}
// A size that is a float: `x.shape[1] / 2`.
bool gets_sizes(Op& op) {
  for (std::size_t i = 0; i < op.call.row.parameters.size(); ++i) {
    const std::string_view name = op.call.row.parameters[i].text();
    if ((name != "size" && name != "shape") || !op.given(name)) continue;
    std::vector<Value> items{op.argument(name)};
    if (const auto listed = op.sequence(name)) items = *listed;
    if (op.call.row.takes_rest && i + 1 >= op.call.row.positional)
      items.insert(items.end(), op.call.rest.begin(), op.call.rest.end());
    for (const Value& raw : items) {
      const Value item = op.call.run.resolve(raw);
      if (!is_fraction(item)) continue;
      op.fail(ProblemKind::argument,
          interpreter::WrongKind{interpreter::WrongKind::Need::whole_sizes, interpreter::WrongKind::Has::real,
              op.taker(), {}, item.is(Kind::real) ? float_text(item.real()) : std::string()});
      return false;
    }
  }
  return true;
}

Value run_shape_function(Call& call, Op& op) {
  // What only changes how a tensor is looked at writes no number.
  constexpr std::string_view no_numbers[] = {
      "torch.Tensor.requires_grad_", "torch.Tensor.detach_", "torch.Tensor.share_memory_", "torch.detach_"};
  if (call.row.op->writes && call.row.self_first &&
      std::ranges::find(no_numbers, call.row.path) == std::end(no_numbers) && !may_be_written(op, call.at(0)))
    return call.at(0);
  interpreter::Speculation attempt(call.run);
  const Value made = !gets_tensors(op) || !gets_sizes(op)                      ? Value{}
      : !call.row.one_device || (op.on_one_device() && all_spread_or_none(op)) ? call.row.op->shape(op)
                                                                               : Value{};
  // What was learned of the operands on the way holds only where the call succeeds.
  if (op.failed()) attempt.rewind();
  attempt.commit();
  if (op.failed()) {
    if (op.certain()) call.run.poison(call);
    // What would have come of it is not known, so that nothing is said of what is made of it.
    if (call.row.variant == values::Variant::in_place) return call.at(0);
    const Value made_up = call.run.heap().unknown_from(op.tensors(), call.place);
    made_up.as<values::Unknown>()->poisoned = true;
    return made_up;
  }
  if (made.is(Kind::unknown) && std::any_of(op.tensors().begin(), op.tensors().end(), [&](Value value) {
        return call.run.heap().is_poisoned(value);
      }))
    made.as<values::Unknown>()->poisoned = true;
  if (call.row.one_device) lies_with_weight(op, made);
  follow_rank(op, made);
  if (call.row.op->writes)
    for (const Value& value : op.tensors()) {
      call.run.heap().note_write(op.tensor(value));
      if (is_gradient(op, value)) call.run.note_gradient_written(value, call.place, &call.row);
      break;
    }
  if (call.row.op->content && !call.spread && (op.tensor(made) || made.is(Kind::tuple)))
    call.row.op->content(op, made);
  if (call.row.op->column_role != ColumnRole::none) watch_column(op, call.row.op->column_role, made);
  if (call.row.op->trace != OutcomeEffect::none) watch_outcome(op, call.row.op->trace, made);
  if (call.row.variant == values::Variant::in_shape) {
    write_into(op, call.at(0), made, false);
    return call.at(0);
  }
  if (call.row.variant == values::Variant::in_place) {
    const Value subject = call.at(0);
    if (!may_be_written(op, subject)) return subject;
    const TensorState *into = op.tensor(subject), *from = op.tensor(made);
    if (into && from && into->shape.ndim_known && from->shape.ndim_known) {
      bool same = into->shape.dims.size() == from->shape.dims.size();
      for (std::size_t i = 0; same && i < into->shape.dims.size(); ++i)
        same = op.equal(into->shape.dims[i], from->shape.dims[i]) != Answer::no;
      if (!same)
        return op.fail(ProblemKind::broadcast,
            interpreter::DoesNotFit{interpreter::DoesNotFit::Action::write_result, {}, from->shape,
                op.name(call.row.parameters[0].text()), into->shape});
    }
    if (into && from && into->dtype != Dtype::unknown && from->dtype != Dtype::unknown &&
        category(from->dtype) > category(into->dtype))
      return op.fail(ProblemKind::dtype,
          interpreter::ResultDtype{{}, from->dtype, into->dtype, op.name(call.row.parameters[0].text())});
    write_into(op, subject, made, true);
    return subject;
  }
  const Value out = op.argument("out");
  if (out && !fits_out(op, out, made)) return op.unknown();
  return out && write_out(op, out, made) ? out : made;
}
}  // namespace

Value call_operator(Runtime& run, std::string_view path, std::vector<Value> arguments,
    const syntax::Expr* node, values::Place place) {
  const Row* row = table().find(path);
  Call call{run, *row, {}, std::move(arguments), {}, {}, {}, false, nullptr, node, place};
  call.arguments.resize(row->parameters.size());
  call.given.resize(row->parameters.size());
  for (std::size_t i = 0; i < call.arguments.size(); ++i)
    call.given[i] = static_cast<bool>(call.arguments[i]);
  return row->run(call);
}

}  // namespace stepzero::libraries
