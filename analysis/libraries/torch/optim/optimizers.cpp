// The optimizers: what each takes, and which parameters it steps. As the constructors of PyTorch 2.13 answer.
#include "libraries/torch/optim/optimizers.hpp"

#include "libraries/torch/nn/modules.hpp"
#include "libraries/torch/optim/optimizer_checks.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

// The groups of an optimizer that the program writes itself: of each parameter in them it is known that it is
// trained, as those are of which it finds a gradient.
void give_groups(Call& call) {
  values::TensorState state;
  state.sharing = symbolic::Sharing::unseen;
  state.requires_grad = values::Known::yes;
  state.grad_writes = trained_for_certain;
  const Value parameter = call.run.heap().tensor(state, call.place);
  parameter.as<Tensor>()->role = values::TensorRole::parameter;
  parameter.as<Tensor>()->now()->graph = {parameter.as<Tensor>()};
  const auto any_of = [&](Value rest) {
    const Value list = call.run.heap().list({});
    values::ListState all;
    all.open = true;
    all.rest = rest;
    call.run.heap().set_list(list, std::move(all));
    return list;
  };
  const Value group = call.run.heap().dict(
      {{call.run.heap().string("params"), any_of(parameter)}}, true, call.run.heap().unseen("", call.place));
  call.run.set_attribute(call.self, Name("param_groups"), any_of(group));
}

// Whether its step may be captured in a CUDA graph: then nothing that it steps lies on the CPU.
constexpr values::KeptKey capturable = values::OptimizerState::capturable;
void keep_capturable(Call& call) {
  for (std::size_t i = 0; i < call.row.parameters.size() && i < call.arguments.size(); ++i)
    if (call.row.parameters[i].text() == "capturable" && call.given[i]) keep(call, capturable, call.at(i));
}
void judge_captured(Call& call) {
  if (!call.self.is(Kind::instance)) return;
  const Value asked = kept(call, capturable), tensors = kept(call, values::LoaderState::tensors);
  if (!asked || call.run.symbols().decide(call.run.truth(asked)) != Answer::yes || !tensors.is(Kind::tuple))
    return;
  for (const Value& each : tensors.as<values::Tuple>()->items) {
    const TensorState* state = tensor_state(call.run, each);
    if (!state || !state->device || state->device->text != "cpu") continue;
    refuse_optimizer(call, why<Reason::capturable_on_cpu>());
    return;
  }
}

// Its methods may put settings into the groups; what the groups hold of parameters stays.
Value seen_to(Call& call) {
  if (call.self.is(Kind::instance) && object(call).cls && object(call).attributes.find(Name("param_groups")))
    give_groups(call);
  return Value::none();
}

constexpr values::KeptKey state_on =
    values::OptimizerState::state_on;  // where the parameters lay when the optimizer got its state; False:
                                       // nothing says where

const TensorState* first_parameter(Call& call) {
  const Value taken =
      call.self.is(Kind::instance) ? call.run.resolve(kept(call, values::LoaderState::tensors)) : Value{};
  return taken.is(Kind::tuple) && !taken.as<values::Tuple>()->items.empty()
      ? tensor_state(call.run, taken.as<values::Tuple>()->items.front())
      : nullptr;
}
void note_state(Call& call) {
  if (const TensorState* parameter = first_parameter(call))
    keep(call, state_on,
        parameter->device ? Value::of(Kind::device, parameter->device) : call.run.heap().boolean(false));
}
bool keeps_state(const Call& call) {
  return call.self.is(Kind::instance) && libraries::keeps_state(object(call));
}
// load_state_dict(): its tensors go to where the parameters are.
Value put_state(Call& call) {
  if (keeps_state(call)) note_state(call);
  return Value::none();
}
// A state that stayed where the parameters were is of no use to them where they are now.
void judge_state(Call& call) {
  const Value on = call.self.is(Kind::instance) ? kept(call, state_on) : Value{};
  const TensorState* parameter = on ? first_parameter(call) : nullptr;
  // On some way alone it has a state: nothing is known of that.
  if (!on.is(Kind::device) && !on.is(Kind::boolean)) return;
  if (!parameter || !parameter->device || !parameter->device->text.starts_with("cuda")) return;
  const std::string_view text = on.is(Kind::device) ? on.as<values::Device>()->text : std::string_view{};
  if (text.starts_with("cuda")) return;
  const bool known = text == "cpu";  // else it is the default device, whatever that is
  interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::device, call);
  explain(*event, why<Reason::state_left>(known, parameter->device->text));
  event->overridable = !known;
}

// The first step makes the state, beside the parameters. One that comes before all gradients makes none.
void note_first_step(Call& call) {
  if (call.self.is(Kind::instance) && !kept(call, state_on) && keeps_state(call) && call.run.own_gradients())
    note_state(call);
}

Value argument_called(Call& call, std::string_view name) {
  for (std::size_t i = 0; i < call.row.parameters.size() && i < call.arguments.size(); ++i)
    if (call.row.parameters[i].text() == name) return call.at(i);
  return {};
}

// `$parameters` is what it was given, as that is now; `$tensors` are those that it then took, if all are
// known.
template <bool matrices> Value made(Call& call) {
  judge_names(call);
  keep(call, values::OptimizerState::parameters, call.at(0));
  if (!call.self.is(Kind::instance)) return {};
  for (const auto& [name, value] : call.options)
    if (name.text() == "process_group" && !call.run.resolve(value).is(Kind::none))
      keep(call, values::GroupState::group, value);
  if (!call.spread) judge_settings(call);
  judge_trained(call, call.run.resolve(call.at(0)));
  if (object(call).cls && call.row.path == "torch.optim.Optimizer") give_groups(call);
  judge_groups(call);
  keep_capturable(call);
  if (const auto momentum = optimizer_number(call, argument_called(call, "momentum"));
      call.row.path == "torch.optim.SGD" && momentum && *momentum > 0)
    keep(call, values::OptimizerState::momentum, call.run.heap().boolean(true));
  std::vector<Value> taken;
  if (!optimized_tensors(call, call.at(0), taken)) return {};
  // Groups may be empty.
  const Value given = call.run.resolve(call.at(0));
  const auto groups = given.is(Kind::list) ? call.run.elements(given, call.place) : std::nullopt;
  if (taken.empty() && (!groups || groups->empty()))
    refuse_optimizer(call, why<Reason::no_parameters>(optimizer_title(call)));
  if (matrices) judge_matrices(call, taken);
  judge_leaves(call, taken);
  judge_shared(call);
  keep(call, values::LoaderState::tensors, call.run.heap().tuple(std::move(taken)));
  // It makes its sums when it is made.
  if (call.row.path == "torch.optim.Adagrad") note_state(call);
  return {};
}
// Nothing is known any more of what it steps.
Value add_param_group(Call& call) {
  keep(call, values::OptimizerState::parameters, call.run.heap().unseen("", call.place));
  keep(call, values::LoaderState::tensors, Value::none());
  return Value::none();
}

// ---------------------------------------------------------------- hooks

// hook(optimizer, args, kwargs) runs before or after each step(): the optimizer's own `step` is one from here
// on that runs them, too.
template <bool before> Value register_step_hook(Call& call) {
  if (!call.self.is(Kind::instance)) return unknown_of(call);
  auto* step = call.run.heap().make<values::Partial>();
  step->function = call.run.library_symbol("torch.optim.$hooked_step");
  step->arguments = {call.self};
  call.run.set_attribute(call.self, Name("step"), Value::of(Kind::partial, step));
  return add_hook(call, before ? values::ModuleState::pre_hooks : values::ModuleState::hooks);
}
void run_step_hooks(Call& call, const Instance& optimizer, std::string_view which) {
  const Value hooks = kept(call.run, optimizer, which);
  if (!hooks.is(Kind::list)) return;
  const Value closure = call.run.resolve(call.at(1));
  std::vector<Value> arguments;
  if (closure && !closure.is(Kind::none)) arguments.push_back(closure);
  for (const Value& hook : std::vector(values::Heap::list_state(hooks)->items))
    call.run.call(hook,
        {{call.run.resolve(call.at(0)), call.run.heap().tuple(arguments), call.run.heap().dict({})}, {},
            false},
        call.place);
}
Value hooked_step(Call& call) {
  const Value optimizer = call.run.resolve(call.at(0));
  if (!optimizer.is(Kind::instance)) return unknown_of(call);
  const Instance& object = *optimizer.as<Instance>();
  run_step_hooks(call, object, values::ModuleState::pre_hooks);
  std::vector<Value> arguments = {optimizer};
  if (call.at(1)) arguments.push_back(call.at(1));
  const Value made = call.run.call(call.run.library_symbol("torch.optim.Optimizer.step"),
      {std::move(arguments), {}, false}, call.place, call.expr);
  run_step_hooks(call, object, values::ModuleState::hooks);
  return made;
}

struct Construction {
  std::string_view path, signature;
  Value (*run)(Call&) = made<false>;
};
constexpr Construction optimizers[] = {
    {"torch.optim.SGD",
        "params, lr=0.001, momentum=0, dampening=0, weight_decay=0, nesterov=False, *, maximize=False, foreach=None, differentiable=False, fused=None"},
    {"torch.optim.Adam",
        "params, lr=0.001, betas=None, eps=1e-08, weight_decay=0, amsgrad=False, *, foreach=None, maximize=False, capturable=False, differentiable=False, fused=None, decoupled_weight_decay=False"},
    {"torch.optim.AdamW",
        "params, lr=0.001, betas=None, eps=1e-08, weight_decay=0.01, amsgrad=False, *, maximize=False, foreach=None, capturable=False, differentiable=False, fused=None"},
    {"torch.optim.RMSprop",
        "params, lr=0.01, alpha=0.99, eps=1e-08, weight_decay=0, momentum=0, centered=False, capturable=False, foreach=None, maximize=False, differentiable=False"},
    {"torch.optim.Adagrad",
        "params, lr=0.01, lr_decay=0, weight_decay=0, initial_accumulator_value=0, eps=1e-10, foreach=None, *, maximize=False, differentiable=False, fused=None"},
    {"torch.optim.Adadelta",
        "params, lr=1.0, rho=0.9, eps=1e-06, weight_decay=0, foreach=None, *, capturable=False, maximize=False, differentiable=False"},
    {"torch.optim.Adamax",
        "params, lr=0.002, betas=None, eps=1e-08, weight_decay=0, foreach=None, *, maximize=False, differentiable=False, capturable=False"},
    {"torch.optim.NAdam",
        "params, lr=0.002, betas=None, eps=1e-08, weight_decay=0, momentum_decay=0.004, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False"},
    {"torch.optim.RAdam",
        "params, lr=0.001, betas=None, eps=1e-08, weight_decay=0, decoupled_weight_decay=False, *, foreach=None, maximize=False, capturable=False, differentiable=False"},
    {"torch.optim.ASGD",
        "params, lr=0.01, lambd=0.0001, alpha=0.75, t0=1000000.0, weight_decay=0, foreach=None, maximize=False, differentiable=False, capturable=False"},
    {"torch.optim.LBFGS",
        "params, lr=1, max_iter=20, max_eval=None, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=100, line_search_fn=None"},
    {"torch.optim.Rprop",
        "params, lr=0.01, etas=None, step_sizes=None, *, capturable=False, foreach=None, maximize=False, differentiable=False"},
    {"torch.optim.SparseAdam", "params, lr=0.001, betas=None, eps=1e-08, maximize=False"},
    {"torch.optim.Adafactor",
        "params, lr=0.01, beta2_decay=-0.8, eps=None, d=1.0, weight_decay=0.0, *, foreach=None, maximize=False"},
    {"torch.optim.Muon",
        "params, lr=0.001, weight_decay=0.1, momentum=0.95, nesterov=True, ns_coefficients=None, eps=1e-07, ns_steps=5, adjust_lr_fn=None",
        made<true>},
    {"torch.distributed.optim.ZeroRedundancyOptimizer",
        "params, optimizer_class, process_group=None, parameters_as_bucket_view=False, overlap_with_ddp=False, **options"},
};

}  // namespace

// step(closure) computes the loss again and runs the backward inside.
Value optimizer_step(Call& call) {
  call.run.heap().note_write(nullptr);
  judge_captured(call);
  judge_state(call);
  note_first_step(call);
  const Value closure = call.run.resolve(call.at(0));
  if (closure.is(Kind::function) || closure.is(Kind::bound)) return call.run.call(closure, {}, call.place);
  return Value::none();
}

bool has_step_hooks(Runtime& run, const Instance& optimizer) {
  return kept(run, optimizer, values::ModuleState::pre_hooks) ||
      kept(run, optimizer, values::ModuleState::hooks);
}

std::vector<Row> optimizer_rows() {
  using enum RowKind;
  using values::Operation;
  std::vector<Row> rows = {
      row("torch.optim.Optimizer", class_, "params, *more, **options", made<false>, {},
          Operation::optimizer_made),
      row("torch.optim.Optimizer.step", method, "closure=None", optimizer_step, {},
          Operation::optimizer_step),
      row("torch.optim.LBFGS.step", method, "closure", optimizer_step, {}, Operation::optimizer_step),
      row("torch.optim.$hooked_step", function, "optimizer, closure=None", hooked_step),
      row("torch.optim.Optimizer.register_step_pre_hook", method, "hook", register_step_hook<true>),
      row("torch.optim.Optimizer.register_step_post_hook", method, "hook", register_step_hook<false>),
      row("torch.optim.Optimizer.$seen_to", method, "", seen_to),
      row("torch.optim.Optimizer.zero_grad", method, "set_to_none=True", nothing, {}, Operation::zero_grad),
      row("torch.optim.Optimizer.state_dict", method, "", nullptr, {}, Operation::state_taken),
      row("torch.optim.Optimizer.load_state_dict", method, "state_dict", put_state, {}, Operation::state_put),
      row("torch.optim.Optimizer.add_param_group", method, "param_group", add_param_group),
  };
  for (Row& each : rows) each.of_optimizer = each.operation == Operation::state_put;
  for (const Construction& each : optimizers)
    rows.push_back(
        row(each.path, class_, each.signature, each.run, "torch.optim.Optimizer", Operation::optimizer_made));
  for (const PackageOptimizer& each : package_optimizers())
    rows.push_back(row(
        each.path, class_, each.signature, made<false>, "torch.optim.Optimizer", Operation::optimizer_made));
  static constexpr values::CollectiveInfo sends_updates = {.name = "ZeroRedundancyOptimizer.step",
      .hidden = true,
      .because = "every rank updates a part of the parameters and sends it to the others"};
  Row zero = row("torch.distributed.optim.ZeroRedundancyOptimizer.step", method, "closure=None",
      optimizer_step, {}, Operation::optimizer_step);
  zero.collective = &sends_updates;
  rows.push_back(zero);
  return rows;
}

bool keeps_state(const Instance& optimizer) {
  return optimizer.native && !optimizer.cls &&
      (optimizer.native->path != "torch.optim.SGD" ||
          optimizer.attributes.value(Name(values::OptimizerState::momentum)));
}

}  // namespace stepzero::libraries
