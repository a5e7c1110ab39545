// Optimizers, gradient scaling, autocast, schedulers and data loaders. Semantics as in the documentation of torch.optim and
// torch.amp ("Automatic Mixed Precision examples").
#include "torch/native.hpp"

#include <deque>

namespace stepzero::torch {

namespace {

Value optimizer_init(Call& call) {
  keep(call, "$parameters", call.at(0));
  return {};
}
// step(closure) computes the loss again and runs the backward inside.
Value optimizer_step(Call& call) {
  call.run.heap().note_write(nullptr);
  const Value closure = call.run.resolve(call.at(0));
  if (closure.is(Kind::function) || closure.is(Kind::bound)) return call.run.call(closure, {}, call.place);
  return Value::none();
}

Value scaler_init(Call& call) {
  Value enabled = call.run.heap().boolean(true);
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == "enabled" && call.given[i]) enabled = call.at(i);
  keep(call, "$enabled", Value::of(call.run.truth(enabled)));
  return {};
}
// The loss times the scale: its backward leaves scaled gradients, unless the scaler is disabled.
Value scaler_scale(Call& call) {
  const Value loss = call.run.resolve(call.at(0));
  if (loss.is(Kind::tuple) || loss.is(Kind::list)) return call.run.heap().external("", call.place);
  TensorState state = computed(call.run, {loss});
  if (const TensorState* from = tensor_state(call.run, loss)) state = *from;
  state.content = nullptr;
  if (call.self.is(Kind::instance)) {
    const Instance* scaler = call.self.as<Instance>();
    const values::Slot* enabled = scaler->attributes.find(Name("$enabled"));
    const bool off = enabled && enabled->value.is(Kind::boolean) &&
                     call.run.symbols().decide(enabled->value.condition()) == Answer::no;
    if (!off) state.scaled_by = scaler;
  }
  return result(call, state);
}
Value scaler_get_scale(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }
Value scaler_step(Call& call) { return call.run.heap().unknown("", Sharing::local, call.place); }
Value scaler_is_enabled(Call& call) {
  if (call.self.is(Kind::instance)) {
    const auto& scaler = *call.self.as<Instance>();
    if (const values::Slot* enabled = scaler.attributes.find(Name("$enabled")); enabled && enabled->value) return enabled->value;
    if (scaler.symbolic) return Value::of(call.run.named_condition(std::string(scaler.name) + ".is_enabled()", Sharing::uniform));
  }
  return call.run.heap().unknown("", Sharing::uniform, call.place);
}

Value decorator_or_context(Call& call) {
  // @torch.no_grad() and `with torch.no_grad():` alike
  return Value::of(Kind::instance, call.run.make_native("torch.context", call.place));
}
Value autocast(Call& call) {
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == "enabled" && call.run.symbols().decide(call.run.truth(call.at(i))) == Answer::no) return decorator_or_context(call);
  return Value::of(Kind::instance, call.run.make_native("$casts", call.place));
}
Value device_made(Call& call) {
  const Value text = call.run.resolve(call.at(0));
  if (text.is(Kind::string)) return call.run.heap().device(text.text());
  if (text.is(Kind::device)) return text;
  return call.run.heap().unknown("", call.run.heap().sharing(text), call.place);
}
template <Dtype dtype> Value dtype_value(Call&) { return Value::of(dtype); }
Value available(Call& call) { return Value::of(call.run.named_condition(call.row.path, Sharing::uniform)); }
Value device_count(Call& call) { return call.run.heap().unknown("device_count", Sharing::uniform, call.place); }
Value loaded(Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }

} // namespace

std::vector<Row> training_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.Tensor.backward", method, "gradient=None, retain_graph=None, create_graph=False, inputs=None", nothing, {}, Operation::backward),

      row("torch.optim.Optimizer", class_, "params, *more, **options", optimizer_init),
      row("torch.optim.Optimizer.step", method, "closure=None", optimizer_step, {}, Operation::optimizer_step),
      row("torch.optim.Optimizer.zero_grad", method, "set_to_none=True", nothing, {}, Operation::zero_grad),
      row("torch.optim.Optimizer.state_dict", method, "", nullptr),
      row("torch.optim.Optimizer.load_state_dict", method, "state_dict", nothing),
      row("torch.optim.Optimizer.add_param_group", method, "param_group", nothing),

      row("torch.amp.GradScaler", class_, "device='cuda', init_scale=65536.0, growth_factor=2.0, backoff_factor=0.5, growth_interval=2000, enabled=True", scaler_init),
      row("torch.amp.GradScaler.scale", method, "outputs", scaler_scale, {}, Operation::scale),
      row("torch.amp.GradScaler.unscale_", method, "optimizer", nothing, {}, Operation::unscale),
      row("torch.amp.GradScaler.step", method, "optimizer, *arguments, **options", scaler_step, {}, Operation::scaler_step),
      row("torch.amp.GradScaler.update", method, "new_scale=None", nothing, {}, Operation::scaler_update),
      row("torch.amp.GradScaler.get_scale", method, "", scaler_get_scale),
      row("torch.amp.GradScaler.is_enabled", method, "", scaler_is_enabled),
      row("torch.amp.GradScaler.load_state_dict", method, "state_dict", nothing),
      row("torch.distributed.fsdp.sharded_grad_scaler.ShardedGradScaler", class_, "*arguments, enabled=True, **options", scaler_init, "torch.amp.GradScaler"),

      row("torch.nn.utils.clip_grad_norm_", function, "parameters, max_norm, norm_type=2.0", nullptr, {}, Operation::clip_gradients),
      row("torch.nn.utils.clip_grad_value_", function, "parameters, clip_value", nullptr, {}, Operation::clip_gradients),

      row("torch.amp.autocast", function, "device_type='cuda', dtype=None, enabled=True, cache_enabled=None", autocast),
      row("torch.cuda.amp.autocast", function, "enabled=True, dtype=None, cache_enabled=True", autocast),
      row("torch.no_grad", function, "function=None", decorator_or_context),
      row("torch.inference_mode", function, "mode=True", decorator_or_context),
      row("torch.enable_grad", function, "function=None", decorator_or_context),
      row("torch.set_grad_enabled", function, "mode", decorator_or_context),
      row("torch.context", class_, "", nullptr),
      row("$casts", class_, "", nullptr, "torch.context"),

      row("torch.utils.data.distributed.DistributedSampler", class_, "dataset, *arguments, **options", nullptr),
      row("torch.utils.data.DistributedSampler", class_, "dataset, *arguments, **options", nullptr),
      row("torch.utils.data.distributed.DistributedSampler.set_epoch", method, "epoch", nothing),
      row("torch.utils.data.DistributedSampler.set_epoch", method, "epoch", nothing),

      row("torch.device", function, "device, index=None", device_made),
      row("torch.cuda.is_available", function, "", available),
      row("torch.backends.mps.is_available", function, "", available),
      row("torch.cuda.is_bf16_supported", function, "", available),
      row("torch.cuda.device_count", function, "", device_count),
      row("torch.cuda.set_device", function, "device", nothing),
      row("torch.cuda.synchronize", function, "device=None", nothing),
      row("torch.cuda.empty_cache", function, "", nothing),
      row("torch.manual_seed", function, "seed", nothing),
      row("torch.save", function, "obj, f", nothing),
      row("torch.load", function, "f, map_location=None, **options", loaded),
      row("torch.float64", constant, "", dtype_value<Dtype::float64>),
      row("torch.double", constant, "", dtype_value<Dtype::float64>),
      row("torch.float32", constant, "", dtype_value<Dtype::float32>),
      row("torch.float", constant, "", dtype_value<Dtype::float32>),
      row("torch.float16", constant, "", dtype_value<Dtype::float16>),
      row("torch.half", constant, "", dtype_value<Dtype::float16>),
      row("torch.bfloat16", constant, "", dtype_value<Dtype::bfloat16>),
      row("torch.int64", constant, "", dtype_value<Dtype::int64>),
      row("torch.long", constant, "", dtype_value<Dtype::int64>),
      row("torch.int32", constant, "", dtype_value<Dtype::int32>),
      row("torch.int", constant, "", dtype_value<Dtype::int32>),
      row("torch.int16", constant, "", dtype_value<Dtype::int16>),
      row("torch.short", constant, "", dtype_value<Dtype::int16>),
      row("torch.complex64", constant, "", dtype_value<Dtype::complex64>),
      row("torch.cfloat", constant, "", dtype_value<Dtype::complex64>),
      row("torch.complex128", constant, "", dtype_value<Dtype::complex128>),
      row("torch.cdouble", constant, "", dtype_value<Dtype::complex128>),
      row("torch.int8", constant, "", dtype_value<Dtype::int8>),
      row("torch.uint8", constant, "", dtype_value<Dtype::uint8>),
      row("torch.bool", constant, "", dtype_value<Dtype::boolean>),
  };
  for (const std::string_view name : {"torch.optim.SGD", "torch.optim.Adam", "torch.optim.AdamW", "torch.optim.RMSprop", "torch.optim.Adagrad",
                                      "torch.optim.Adadelta", "torch.optim.Adamax", "torch.optim.NAdam", "torch.optim.RAdam", "torch.optim.ASGD",
                                      "torch.optim.LBFGS", "torch.optim.Rprop", "torch.optim.SparseAdam",
                                      "torch.distributed.optim.ZeroRedundancyOptimizer"})
    rows.push_back(row(name, class_, "params, *more, **options", optimizer_init, "torch.optim.Optimizer"));
  return rows;
}

} // namespace stepzero::torch
