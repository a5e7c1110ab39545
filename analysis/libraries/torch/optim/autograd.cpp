// What programs call to decide themselves how gradients are computed: functions with a backward of their own,
// activations that are computed again, gradients as values.
#include "libraries/torch/optim/autograd.hpp"

#include "libraries/table/native.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "syntax/walk.hpp"
#include "values/kept.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

using interpreter::Arguments;

constexpr std::string_view function_class = "torch.autograd.Function",
                           context_class = "torch.autograd.function.FunctionCtx";

// What the context of a function of the program's own holds: what `save_for_backward` was given, and tensors
// that were set on it. Nullopt: it is not known.
std::optional<std::vector<const TensorState*>> held_by_context(Call& call, const Instance* context) {
  if (!context) return std::nullopt;
  std::vector<const TensorState*> found;
  for (const auto& [name, slot] : context->attributes.entries()) {
    const Value value = slot->value ? call.run.resolve(slot->value) : Value{};
    const std::vector<Value> items = value.is(Kind::tuple) ? value.as<values::Tuple>()->items
                                                           : std::vector{value};
    for (const Value& item : items) {
      const Value one = item ? call.run.resolve(item) : item;
      if (const TensorState* state = tensor_state(call.run, one))
        found.push_back(state);
      else if (one.is(Kind::choice) || one.is(Kind::list) || (one.is(Kind::unknown) && value.is(Kind::tuple)))
        return std::nullopt;
    }
  }
  return found;
}

// The call of such a function: its operands, and as `listed` what it keeps for its backward; null stands for
// what it gives back. Without arguments where that is not known.
const values::Producer* called_with(Call& call, const TensorState& result, const Arguments& given,
    const std::optional<std::vector<const TensorState*>>& keeps) {
  auto* made = call.run.heap().make<values::Producer>();
  made->born = call.place;
  made->row = &call.row;
  made->calls = call.run.site();
  std::vector<const TensorState*> inputs;
  for (const Value& argument : given.positional)
    if (const TensorState* state = tensor_state(call.run, argument)) inputs.push_back(state);
  const auto states = call.run.heap().array<const TensorState*>(inputs.size()),
             listed = call.run.heap().array<const TensorState*>(keeps ? keeps->size() : 0);
  std::ranges::copy(inputs, states.begin());
  if (keeps)
    std::ranges::transform(
        *keeps, listed.begin(), [&](const TensorState* each) { return each == &result ? nullptr : each; });
  made->states = states;
  made->listed = listed;
  if (keeps) made->arguments = call.run.heap().array<Value>(1);
  return made;
}

// The same tensors, of which it is not known how gradients come through to what they were computed from.
Value with_own_gradient(Call& call, Value value, const Arguments& given,
    const std::optional<std::vector<const TensorState*>>& keeps) {
  value = call.run.resolve(value);
  if (value.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& item : value.as<values::Tuple>()->items)
      items.push_back(with_own_gradient(call, item, given, keeps));
    return call.run.heap().tuple(std::move(items));
  }
  if (value.is(Kind::choice)) {
    const auto* choice = value.as<values::Choice>();
    return call.run.heap().choose(choice->condition, with_own_gradient(call, choice->yes, given, keeps),
        with_own_gradient(call, choice->no, given, keeps));
  }
  const TensorState* state = tensor_state(call.run, value);
  if (!state) return value;
  TensorState made = *state;
  made.made = called_with(call, *state, given, keeps);
  made.content = nullptr;
  made.extent = nullptr;
  made.requires_grad = values::Known::unknown;
  made.graph_complete = false;
  for (const Value& argument : given.positional)
    if (const TensorState* from = tensor_state(call.run, argument))
      for (const values::Object* source : from->graph)
        if (!made.graph.contains(source)) made.graph.push_back(source);
  return result(call, std::move(made));
}

// As many gradients as inputs: what `backward` returns, where each of its returns writes them out. Fewer, or
// more that are not None, make it fail whenever it runs.
void judge_gradients(Call& call, const values::Class& cls, std::size_t inputs) {
  const Value backward = call.run.find_in_order(cls.order, Name("backward"));
  const auto* function = backward.is(Kind::function) ? backward.as<values::Function>() : nullptr;
  if (!function || !function->stmt || !function->is_static || function->stmt->scope.is_generator) return;
  for (const syntax::Stmt* stmt : function->stmt->body) {
    // Nothing comes to what follows it.
    if (stmt->kind == syntax::StmtKind::raise) break;
    syntax::for_each_statement(*stmt, [&](const syntax::Stmt& each) {
      const auto* value = each.kind == syntax::StmtKind::return_ ? syntax::as<syntax::ReturnStmt>(each).value
                                                                 : nullptr;
      if (!value || value->kind != syntax::ExprKind::tuple) return;
      const auto& items = syntax::as<syntax::TupleExpr>(*value).elements;
      const auto is = [](syntax::ExprKind kind) {
        return [kind](const syntax::Expr* item) { return item->kind == kind; };
      };
      if (std::ranges::any_of(items, is(syntax::ExprKind::starred)) ||
          (items.size() >= inputs &&
              std::all_of(items.begin() + static_cast<std::ptrdiff_t>(inputs), items.end(),
                  is(syntax::ExprKind::none))))
        return;
      auto* problem = call.run.problem(values::ProblemKind::argument, call);
      problem->place = {function->chunk, each.span};
      explain(*problem, why<Reason::gradients_returned>(items.size(), inputs));
    });
  }
}

// Function.apply(x, …): runs forward(ctx, x, …), or forward(x, …) where setup_context is there.
Value apply(Call& call) {
  // A forward that is not known may do with what it is given what it likes.
  const auto not_known = [&] {
    return call.run.call(call.run.heap().unseen("apply"), {call.rest, call.options, call.spread}, call.place);
  };
  if (!call.self.is(Kind::class_)) return not_known();
  const auto& cls = *call.self.as<values::Class>();
  const Value forward = call.run.find_in_order(cls.order, Name("forward"));
  if (!forward.is(Kind::function) || !forward.as<values::Function>()->is_static) return not_known();
  Arguments arguments;
  const Instance* context = nullptr;
  if (!call.run.find_in_order(cls.order, Name("setup_context"))) {
    context = call.run.make_native(context_class, call.place);
    arguments.positional.push_back(Value::of(Kind::instance, context));
  }
  arguments.positional.insert(arguments.positional.end(), call.rest.begin(), call.rest.end());
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  arguments.after = call.after;
  if (!call.spread && !call.after) judge_gradients(call, cls, call.rest.size());
  const Arguments given = arguments;
  const Value made = call.run.call(forward, std::move(arguments), call.place);
  return with_own_gradient(call, made, given, held_by_context(call, context));
}

Value save_for_backward(Call& call) {
  keep(call, values::FunctionState::saved, call.run.heap().tuple(call.rest));
  return Value::none();
}
Value saved_tensors(Call& call) {
  const Value saved = kept(call, values::FunctionState::saved);
  return saved ? saved : call.run.heap().unseen("", call.place);
}

// What a checkpointed region gave back came from the checkpoint: from the region's inputs, by operations that
// `listed` leads to.
Value from_region(Call& call, Value value, const std::vector<Value>& given) {
  value = call.run.resolve(value);
  if (value.is(Kind::tuple)) {
    std::vector<Value> items;
    for (const Value& item : value.as<values::Tuple>()->items)
      items.push_back(from_region(call, item, given));
    return call.run.heap().tuple(std::move(items));
  }
  const TensorState* state = value.is(Kind::tensor) ? tensor_state(call.run, value) : nullptr;
  if (!state || !state->made || value.as<Tensor>()->role != values::TensorRole::plain) return value;
  std::vector<const TensorState*> inputs;
  for (const Value& argument : given)
    if (const TensorState* input = tensor_state(call.run, argument)) inputs.push_back(input);
  if (std::find(inputs.begin(), inputs.end(), state) != inputs.end()) return value;
  auto* made = call.run.heap().make<values::Producer>();
  made->born = call.place;
  made->row = &call.row;
  made->calls = call.run.site();
  const auto states = call.run.heap().array<const TensorState*>(inputs.size()),
             listed = call.run.heap().array<const TensorState*>(1);
  std::copy(inputs.begin(), inputs.end(), states.begin());
  listed[0] = state;
  made->arguments = call.run.heap().array<Value>(call.row.parameters.size());
  made->states = states;
  made->listed = listed;
  TensorState result_state = *state;
  result_state.made = made;
  return result(call, std::move(result_state));
}

// Of what nobody knows how it is computed again.
Value without_source(Call& call, Value value) {
  const TensorState* state = tensor_state(call.run, value);
  if (!state || !value.is(Kind::tensor)) return value;
  TensorState made = *state;
  made.made = nullptr;
  return result(call, std::move(made));
}

// checkpoint(function, x, …): function(x, …).
Value checkpoint(Call& call) {
  Arguments arguments;
  arguments.positional = call.rest;
  arguments.spread = call.spread;
  arguments.after = call.after;
  constexpr std::string_view own[] = {
      "use_reentrant", "preserve_rng_state", "context_fn", "determinism_check", "debug", "early_stop"};
  for (const auto& option_given : call.options)
    if (std::find(std::begin(own), std::end(own), option_given.first.text()) == std::end(own))
      arguments.keywords.push_back(option_given);
  const std::vector<Value> given = arguments.positional;
  return from_region(call, call.run.call(call.at(0), std::move(arguments), call.place), given);
}
// checkpoint_sequential(functions, segments, x): each segment is a region, but for the last one.
Value checkpoint_sequential(Call& call) {
  const Value functions = call.run.resolve(call.at(0));
  std::optional<std::vector<Value>> all;
  if (functions.is(Kind::instance) && !functions.as<Instance>()->cls) {
    const Parts parts = parts_of(call.run, *functions.as<Instance>());
    if (parts.complete) {
      all.emplace();
      for (const Part& part : parts.list) all->push_back(part.module);
    }
  } else {
    all = call.run.elements(functions, call.place);
  }
  if (!all && functions.is(Kind::instance) && !functions.as<Instance>()->cls) {
    const Value made = call.run.call(functions, {{call.at(2)}, {}, call.spread}, call.place);
    return without_source(call, made);
  }
  if (!all || call.spread) return unknown_of(call);
  const auto segments = call.run.to_constant(call.at(1));
  const std::size_t each = segments && *segments > 0 ? all->size() / static_cast<std::size_t>(*segments) : 0;
  Value value = call.at(2);
  for (std::size_t i = 0; i < all->size();) {
    const Value given = value;
    const bool is_region = each > 0 && i / each + 1 < static_cast<std::size_t>(*segments);
    const std::size_t end = is_region ? i + each : all->size();
    for (; i < end; ++i) value = call.run.call((*all)[i], {{value}, {}, false}, call.place);
    if (is_region) value = from_region(call, value, {given});
  }
  return segments ? value : without_source(call, value);
}

// Where such a gradient came from: the call, with all that it was told.
const values::Producer* asked_for(Call& call, const TensorState& input) {
  auto* made = call.run.heap().make<values::Producer>();
  made->born = call.place;
  made->row = &call.row;
  made->calls = call.run.site();
  const auto arguments = call.run.heap().array<Value>(call.row.parameters.size());
  for (std::size_t i = 0; i < arguments.size(); ++i) arguments[i] = call.run.resolve(call.at(i));
  made->arguments = arguments;
  const auto states = call.run.heap().array<const TensorState*>(1);
  states[0] = &input;
  made->states = states;
  return made;
}

// torch.autograd.grad(outputs, inputs): a tensor for each of the inputs, of its shape.
Value gradients(Call& call) {
  const Value inputs = call.run.resolve(call.at(1));
  const Value unused = call.run.resolve(call.at(6));
  const bool may_lack = !(unused.is(Kind::none) ||
      (unused.is(Kind::boolean) && call.run.symbols().decide(unused.condition()) == symbolic::Answer::no));
  const Value kept = call.run.resolve(call.at(4));
  const bool has_history = !(
      kept.is(Kind::boolean) && call.run.symbols().decide(kept.condition()) == symbolic::Answer::no);
  bool refused = false;
  const auto one = [&](Value input) {
    const TensorState* given = tensor_state(call.run, input);
    if (given && !refused && !given->unseen && call.run.heap().requires_grad(*given) == values::Known::no) {
      refused = true;
      explain(*call.run.problem(values::ProblemKind::argument, call), why<Reason::gradient_not_required>());
    }
    const TensorState* state = may_lack ? nullptr : tensor_state(call.run, input);
    if (!state) return call.run.heap().unknown_from({input}, call.place);
    TensorState made = *state;
    made.content = nullptr;
    made.extent = nullptr;
    made.requires_grad = has_history ? values::Known::unknown : values::Known::no;
    made.graph.clear();
    made.graph_complete = false;
    made.made = asked_for(call, *state);
    return result(call, std::move(made));
  };
  std::vector<Value> made;
  if (inputs.is(Kind::tuple) || inputs.is(Kind::list)) {
    const auto all = call.run.elements(inputs, call.place);
    if (!all) return unknown_of(call);
    made.reserve(all->size());
    for (const Value& input : *all) made.push_back(one(input));
  } else if (tensor_state(call.run, inputs)) {
    made.push_back(one(inputs));
  } else {
    return unknown_of(call);
  }
  return call.run.heap().tuple(std::move(made));
}

}  // namespace

std::vector<Row> autograd_rows() {
  using enum RowKind;
  return {
      row(function_class, class_, "*arguments, **options", nullptr),
      row("torch.autograd.Function.apply", class_method, "*arguments, **options", apply),
      row(context_class, class_, "", nullptr),
      row("torch.autograd.function.FunctionCtx.save_for_backward", method, "*tensors", save_for_backward),
      row("torch.autograd.function.FunctionCtx.save_for_forward", method, "*tensors", nothing),
      row("torch.autograd.function.FunctionCtx.saved_tensors", property, "", saved_tensors),
      row("torch.autograd.function.FunctionCtx.mark_dirty", method, "*tensors", nothing),
      row("torch.autograd.function.FunctionCtx.mark_non_differentiable", method, "*tensors", nothing),
      row("torch.autograd.function.FunctionCtx.set_materialize_grads", method, "value", nothing),
      row("torch.autograd.grad", function,
          "outputs, inputs, grad_outputs=None, retain_graph=None, create_graph=False, only_inputs=True, allow_unused=None, is_grads_batched=False, materialize_grads=False",
          gradients, {}, values::Operation::gradient_asked),
      row("torch.utils.checkpoint.checkpoint", function, "function, *arguments, **options", checkpoint, {},
          values::Operation::recomputed),
      row("torch.utils.checkpoint.CheckpointFunction.apply", function,
          "function, preserve_rng_state, *arguments", checkpoint),
      row("torch.utils.checkpoint.checkpoint_sequential", function, "functions, segments, input, **options",
          checkpoint_sequential),
  };
}

}  // namespace stepzero::libraries
