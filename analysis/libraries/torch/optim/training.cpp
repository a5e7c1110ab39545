// Gradient scaling, autocast, schedulers and data loaders. Semantics as in the documentation of torch.optim
// and torch.amp ("Automatic Mixed Precision examples").
#include "interpreter/calls/unseen.hpp"
#include "interpreter/record.hpp"
#include "libraries/torch/meaning/saved.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "libraries/torch/optim/devices.hpp"
#include "libraries/torch/optim/optimizers.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

#include <algorithm>

#include <deque>

namespace stepzero::libraries {

namespace {

// What unseen code computed is a tensor if it has a backward of its own. An engine is given the loss.
Value backward(Call& call) {
  const Value self = call.run.resolve(call.self);
  if (self.is(Kind::unknown) && interpreter::comes_from_unseen(*self.as<values::Unknown>()) &&
      (!call.at(0) || call.run.resolve(call.at(0)).is(Kind::none)))
    require_tensor(call.run, self);
  // Modules that keep gradients to themselves leave each process its own. One process by itself cannot tell
  // what the others have.
  const TensorState* loss = tensor_state(call.run, self);
  bool own = loss && !loss->unseen && loss->graph_complete && !loss->graph.empty() &&
      loss->sharing != Sharing::unseen;
  if (own)
    for (const values::Object* source : loss->graph) {
      const auto* module = dynamic_cast<const Instance*>(source);
      own = own && (!module || !module->native || !module->native->row || !module->native->row->backward);
    }
  judge_backward(call);
  call.run.note_gradients(
      own ? std::optional(call.run.as_rank() ? Sharing::local : loss->sharing) : std::nullopt);
  return Value::none();
}
Value norm_of_gradients(Call& call) {
  const auto own = call.run.own_gradients();
  TensorState state;
  state.shape.ndim_known = true;
  state.sharing = own.value_or(Sharing::unseen);
  state.unseen = !own;
  call.run.heap().set_no_grad(state);
  return result(call, std::move(state));
}
Value scaler_init(Call& call) {
  Value enabled = call.run.heap().boolean(true);
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == "enabled" && call.given[i]) enabled = call.at(i);
  keep(call, values::ContextState::enabled, Value::of(call.run.truth(enabled)));
  return {};
}
// The loss times the scale: its backward leaves scaled gradients, unless the scaler is disabled.
Value scaler_scale(Call& call) {
  const Value loss = call.run.resolve(call.at(0));
  if (loss.is(Kind::tuple) || loss.is(Kind::list)) return call.run.heap().unseen("", call.place);
  TensorState state = computed(call.run, {loss});
  if (const TensorState* from = tensor_state(call.run, loss)) state = *from;
  state.content = nullptr;
  state.extent = nullptr;
  if (call.self.is(Kind::instance)) {
    const Instance* scaler = call.self.as<Instance>();
    const values::Slot* enabled = scaler->attributes.find(Name(values::ContextState::enabled));
    const bool off = enabled && enabled->value.is(Kind::boolean) &&
        call.run.symbols().decide(enabled->value.condition()) == Answer::no;
    if (!off) state.scaled_by = scaler;
  }
  return result(call, state);
}
Value scaler_get_scale(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }
Value scaler_step(Call& call) {
  // Hooks of the step run inside; what they do is not followed.
  if (const Value optimizer = call.run.resolve(call.at(0));
      optimizer.is(Kind::instance) && has_step_hooks(call.run, *optimizer.as<Instance>()))
    call.run.call(call.run.heap().unseen("", call.place), {{optimizer}, {}, false}, call.place);
  return call.run.heap().unknown("", Sharing::local, call.place);
}
Value scaler_is_enabled(Call& call) {
  if (call.self.is(Kind::instance)) {
    const auto& scaler = *call.self.as<Instance>();
    if (const values::Slot* enabled = scaler.attributes.find(Name(values::ContextState::enabled));
        enabled && enabled->value)
      return enabled->value;
    if (scaler.symbolic)
      return Value::of(
          call.run.named_condition(std::string(scaler.name) + ".is_enabled()", Sharing::uniform));
  }
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}

// One for each input; what they are computed from is not followed.
Value gradients_asked(Call& call) {
  const Value inputs = call.run.resolve(call.at(1));
  const auto gradient = [&] { return call.run.heap().unseen("", call.place); };
  if (inputs.is(Kind::tensor)) return call.run.heap().tuple({gradient()});
  const auto known = inputs.is(Kind::list) || inputs.is(Kind::tuple) ? call.run.elements(inputs, call.place)
                                                                     : std::nullopt;
  if (!known) return gradient();
  std::vector<Value> made;
  made.reserve(known->size());
  for (std::size_t i = 0; i < known->size(); ++i) made.push_back(gradient());
  return call.run.heap().tuple(std::move(made));
}

Value autocast_on(Call& call, std::string_view device) {
  bool off = false;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    off = off ||
        (call.row.parameters[i].text() == "enabled" &&
            call.run.symbols().decide(call.run.truth(call.at(i))) == Answer::no);
  Instance* made = call.run.make_native(
      off ? values::InternalRow::casts_off : values::InternalRow::casts, call.place);
  keep(call.run, *made, values::ContextState::device_type, call.run.heap().string(device));
  struct Kept {
    std::string_view parameter;
    values::KeptKey key;
  };
  constexpr Kept what[] = {{"device_type", values::ContextState::device_type},
      {"dtype", values::ContextState::dtype}, {"enabled", values::ContextState::enabled}};
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    for (const Kept& each : what)
      if (call.at(i) && call.row.parameters[i].text() == each.parameter)
        keep(call.run, *made, each.key, call.at(i));
  if (off) keep(call.run, *made, values::ContextState::enabled, call.run.heap().boolean(false));
  return Value::of(Kind::instance, made);
}
Value autocast(Call& call) { return autocast_on(call, "cuda"); }
Value autocast_of_cpu(Call& call) { return autocast_on(call, "cpu"); }
Value seen_through(Call& call) {
  return call.at(0) && !call.run.resolve(call.at(0)).is(Kind::none)
      ? call.at(0)
      : call.run.library_symbol(values::InternalRow::same);
}
// `mode` says whether gradients are recorded inside.
Value grad_mode(Call& call) {
  Value on = call.run.heap().boolean(call.row.path == "torch.enable_grad");
  if (call.row.path == "torch.set_grad_enabled") on = Value::of(call.run.truth(call.at(0)));
  if (call.row.path == "torch.inference_mode" && call.run.resolve(call.at(0)).is(Kind::boolean))
    on = Value::of(call.run.symbols().logical_not(call.at(0).condition()));
  Instance* made = call.run.make_native(values::InternalRow::grad_mode, call.place);
  keep(call.run, *made, values::ContextState::on, on);
  // It switches when it is made, not when it is entered.
  if (call.row.path == "torch.set_grad_enabled") call.run.note_gradient_switch(made);
  return Value::of(Kind::instance, made);
}
// Of one cycle it has to be told how long it is.
constexpr std::string_view one_cycle = "torch.optim.lr_scheduler.OneCycleLR";
void judge_cycle(Call& call) {
  const auto given = [&](std::size_t i) {
    return call.given[i] && !call.run.resolve(call.at(i)).is(Kind::none);
  };
  if (call.spread || given(2) || (given(3) && given(4))) return;
  explain(*call.run.problem(values::ProblemKind::argument, call), why<Reason::cycle_without_steps>());
}
Value scheduler_init(Call& call) {
  keep(call, values::OptimizerState::optimizer, call.at(0));
  if (const Value given = call.run.resolve(call.at(0)); given.is(Kind::instance) &&
      call.row.parameters[0].text() == "optimizer" && call.run.is_a(given, module_class))
    explain(*call.run.problem(ProblemKind::argument, call), why<Reason::scheduler_of_module>());
  if (call.row.path == one_cycle) judge_cycle(call);
  // The program's own function of the step: it runs for any of them, which is kept beside.
  for (std::size_t i = 0; i < call.row.parameters.size() && call.self.is(Kind::instance); ++i) {
    if (call.row.parameters[i].text() != "lr_lambda") continue;
    symbolic::AtomInfo info;
    info.name = "step";
    info.lower = 0;
    const Value step = Value::of(call.run.symbols().fresh(info)), given = call.run.resolve(call.at(i));
    keep(call, values::OptimizerState::step, step);
    const auto functions = given.is(Kind::list) ? call.run.elements(given, call.place)
                                                : std::optional(std::vector{given});
    if (!functions) continue;
    for (const Value& function : *functions)
      if (function.is(Kind::function) || function.is(Kind::bound) || function.is(Kind::partial))
        call.run.call(function, {{step}, {}, false}, call.place);
  }
  return {};
}
// Where the program itself runs, outside of every region, autocast is off; a function that nobody calls here
// may be called inside of one.
Value autocast_enabled(Call& call) {
  return !call.run.in_roots() && !call.run.casting() ? call.run.heap().boolean(false) : uniform(call);
}
// Scaling, clipping, autocast, and who records gradients.
std::vector<Row> step_rows() {
  using enum RowKind;
  return {
      row("torch.Tensor.backward", method,
          "gradient=None, retain_graph=None, create_graph=False, inputs=None", backward, {},
          Operation::backward),

      row("torch.is_autocast_enabled", function, "device_type=None", autocast_enabled),
      row("torch.OutOfMemoryError", class_, "*arguments", nullptr, "builtins.RuntimeError"),
      row("torch.cuda.OutOfMemoryError", class_, "*arguments", nullptr, "builtins.RuntimeError"),

      row("torch.amp.GradScaler", class_,
          "device='cuda', init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True",
          scaler_init, {}, Operation::scaler_made),
      row("torch.amp.GradScaler.scale", method, "outputs", scaler_scale, {}, Operation::scale),
      row("torch.amp.GradScaler.unscale_", method, "optimizer", nothing, {}, Operation::unscale),
      row("torch.amp.GradScaler.step", method, "optimizer, *arguments, **options", scaler_step, {},
          Operation::scaler_step),
      row("torch.amp.GradScaler.update", method, "new_scale=None", nothing, {}, Operation::scaler_update),
      row("torch.amp.GradScaler.get_scale", method, "", scaler_get_scale, {}, Operation::scale_asked),
      row("torch.amp.GradScaler.is_enabled", method, "", scaler_is_enabled),
      row("torch.amp.GradScaler.state_dict", method, "", nullptr, {}, Operation::state_taken),
      row("torch.amp.GradScaler.load_state_dict", method, "state_dict", nothing, {}, Operation::state_put),
      row("torch.cuda.amp.GradScaler", class_,
          "init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True",
          scaler_init, "torch.amp.GradScaler", Operation::scaler_made),
      row("torch.cpu.amp.GradScaler", class_,
          "init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True",
          scaler_init, "torch.amp.GradScaler", Operation::scaler_made),
      row("torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler", class_,
          "*arguments, enabled=True, **options", scaler_init, "torch.amp.GradScaler", Operation::scaler_made),

      row("torch.nn.utils.clip_grad_norm_", function,
          "parameters, max_norm, norm_type=2.0, error_if_nonfinite=False, foreach=None", norm_of_gradients,
          {}, Operation::clip_gradients),
      row("torch.nn.utils.clip_grads_with_norm_", function, "parameters, max_norm, total_norm, foreach=None",
          nullptr, {}, Operation::clip_gradients),
      row("torch.nn.utils.get_total_norm", function,
          "tensors, norm_type=2.0, error_if_nonfinite=False, foreach=None", norm_of_gradients),
      row("torch.nn.utils.clip_grad_value_", function, "parameters, clip_value", nullptr, {},
          Operation::clip_gradients),

      row("torch.amp.autocast", function, "device_type, dtype=None, enabled=True, cache_enabled=None",
          autocast),
      row("torch.cuda.amp.autocast", function, "enabled=True, dtype=None, cache_enabled=True", autocast, {},
          Operation::old_name),
      row("torch.cpu.amp.autocast", function, "enabled=True, dtype=None, cache_enabled=True", autocast_of_cpu,
          {}, Operation::old_name),
      row("torch.cuda.amp.custom_fwd", function, "fwd=None, **options", seen_through, {},
          Operation::old_name),
      row("torch.cuda.amp.custom_bwd", function, "bwd", first_argument, {}, Operation::old_name),
      row("torch.nn.attention.sdpa_kernel", function, "backends, set_priority=False", context),
      row("torch.no_grad", function, "function=None", grad_mode),
      row("torch.inference_mode", function, "mode=True", grad_mode),
      row("torch.enable_grad", function, "function=None", grad_mode),
      row("torch.set_grad_enabled", function, "mode", grad_mode),
      row("torch.autograd.set_detect_anomaly", class_, "mode, check_nan=True", nullptr, "torch.context"),
      row("torch.autograd.detect_anomaly", class_, "check_nan=True", nullptr, "torch.context"),
      row("torch.autograd.backward", function, "tensors, *more, **options", nothing, {},
          Operation::gradient_asked),
      row("torch.autograd.functional.jacobian", function, "func, inputs, **options", gradients_asked, {},
          Operation::gradient_asked),
      row("torch.autograd.functional.hessian", function, "func, inputs, **options", gradients_asked, {},
          Operation::gradient_asked),
      row("torch.context", class_, "", nullptr),
      row(values::InternalRow::casts, class_, "", nullptr, "torch.context", Operation::autocast_region),
      row(values::InternalRow::casts_off, class_, "", nullptr, "torch.context", Operation::autocast_region),
      row(values::InternalRow::grad_mode, class_, "", nullptr, "torch.context", Operation::grad_region),
      row(values::InternalRow::unseen, function, "handed", nullptr, {}, Operation::unseen),
      row(values::InternalRow::unseen_communication, function, "", nullptr, {},
          Operation::unseen_communication),
  };
}
std::vector<Row> scheduler_method_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.optim.lr_scheduler.LRScheduler", class_, "optimizer, *more, **options", scheduler_init),
      row("torch.optim.lr_scheduler.LRScheduler.step", method, "epoch=None, *more, **options", nothing, {},
          Operation::scheduler_step),
      row("torch.optim.lr_scheduler.ReduceLROnPlateau.step", method, "metrics, epoch=None", nothing, {},
          Operation::scheduler_step),
      row("torch.optim.lr_scheduler.LRScheduler.get_last_lr", method, "", uniform),
      row("torch.optim.lr_scheduler.LRScheduler.get_lr", method, "", uniform),
      row("torch.optim.lr_scheduler.LRScheduler.state_dict", method, "", nullptr, {}, Operation::state_taken),
      row("torch.optim.lr_scheduler.LRScheduler.load_state_dict", method, "state_dict", nothing, {},
          Operation::state_put),
      row("torch.optim.lr_scheduler._LRScheduler", class_, "optimizer, *more, **options", scheduler_init,
          "torch.optim.lr_scheduler.LRScheduler"),
  };
  for (Row& each : rows) each.of_optimizer = each.operation == Operation::state_put;
  return rows;
}
std::vector<Row> scheduler_rows() {
  using enum RowKind;
  std::vector<Row> rows;
  struct Construction {
    std::string_view path, signature;
  };
  for (const Construction& scheduler :
      {
          Construction{
              "torch.optim.lr_scheduler.StepLR", "optimizer, step_size, gamma=0.1, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.MultiStepLR",
              "optimizer, milestones, gamma=0.1, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.ConstantLR",
              "optimizer, factor=0.333, total_iters=5, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.LinearLR",
              "optimizer, start_factor=0.333, end_factor=1.0, total_iters=5, last_epoch=-1, **options"},
          Construction{
              "torch.optim.lr_scheduler.ExponentialLR", "optimizer, gamma, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.PolynomialLR",
              "optimizer, total_iters=5, power=1.0, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.CosineAnnealingLR",
              "optimizer, T_max, eta_min=0.0, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.CosineAnnealingWarmRestarts",
              "optimizer, T_0, T_mult=1, eta_min=0.0, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.LambdaLR", "optimizer, lr_lambda, last_epoch=-1, **options"},
          Construction{
              "torch.optim.lr_scheduler.MultiplicativeLR", "optimizer, lr_lambda, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.SequentialLR",
              "optimizer, schedulers, milestones, last_epoch=-1, **options"},
          Construction{"torch.optim.lr_scheduler.ChainedScheduler", "schedulers, optimizer=None"},
          Construction{"torch.optim.lr_scheduler.CyclicLR", "optimizer, base_lr, max_lr, *more, **options"},
          Construction{"torch.optim.lr_scheduler.OneCycleLR",
              "optimizer, max_lr, total_steps=None, epochs=None, steps_per_epoch=None, *more, **options"},
          Construction{
              "torch.optim.lr_scheduler.ReduceLROnPlateau", "optimizer, mode='min', *more, **options"},
      })
    rows.push_back(row(scheduler.path, class_, scheduler.signature, scheduler_init,
        "torch.optim.lr_scheduler.LRScheduler", Operation::scheduler_made));
  return rows;
}

}  // namespace

std::vector<Row> training_rows() {
  std::vector<Row> rows;
  for (const auto family :
      {step_rows, scheduler_method_rows, device_rows, dtype_rows, optimizer_rows, scheduler_rows})
    for (Row& each : family()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
