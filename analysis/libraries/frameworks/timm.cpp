// timm's helper that makes the backward and the step of mixed precision, and those that take a model aside.
// Read in the source of timm 1.0 (timm/utils/cuda.py).
#include "libraries/frameworks/frameworks.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

using symbolic::Answer;

namespace {

constexpr values::KeptKey scaler = values::OptimizerState::scaler;

Value call_function(Call& call, Value function, std::vector<Value> arguments) {
  return call.run.call(function, {std::move(arguments), {}, false}, call.place);
}
Value method_at(Call& call, Value object, std::string_view path) {
  auto* bound = call.run.heap().make<values::Bound>();
  bound->self = object;
  bound->function = call.run.library_symbol(path);
  return Value::of(Kind::bound, bound);
}

Value native_scaler_init(Call& call) {
  keep(call, scaler, call_function(call, call.run.library_symbol("torch.amp.GradScaler"), {}));
  return {};
}

// loss, optimizer, clip_grad, clip_mode, parameters, create_graph, need_update
Value native_scaler_call(Call& call) {
  const Value own = kept(call, scaler), update = call.at(6), limit = call.run.resolve(call.at(2)),
              parameters = call.at(4);
  // Whether this round steps, nobody decides here.
  if (!own || call.spread || (update && call.run.symbols().decide(call.run.truth(update)) != Answer::yes)) {
    call_row(call, call.self, "timm.utils.NativeScaler.$accumulate");
    return Value::none();
  }
  const Value scaled = call_function(call, method_at(call, own, "torch.amp.GradScaler.scale"), {call.at(0)});
  call_row(call, scaled, "torch.Tensor.backward");
  if (limit && !limit.is(Kind::none)) {
    call_function(call, method_at(call, own, "torch.amp.GradScaler.unscale_"), {call.at(1)});
    if (parameters)
      call_function(call, call.run.library_symbol("torch.nn.utils.clip_grad_norm_"), {parameters, limit});
  }
  call_function(call, method_at(call, own, "torch.amp.GradScaler.step"), {call.at(1)});
  call_row(call, own, "torch.amp.GradScaler.update");
  return Value::none();
}

constexpr Hidden timm_hidden[] = {
    {"timm.utils.distribute_bn", "model, world_size, reduce=False", nothing,
        {.name = "distribute_bn",
            .hidden = true,
            .because = "it averages or broadcasts the statistics of batch norms"},
        RowKind::function},
};

}  // namespace

std::vector<Row> timm_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("timm.utils.NativeScaler", class_, "device='cuda'", native_scaler_init),
      row("timm.utils.NativeScaler.__call__", method,
          "loss, optimizer, clip_grad=None, clip_mode='norm', parameters=None, create_graph=False, need_update=True",
          native_scaler_call),
      row("timm.utils.NativeScaler.$accumulate", method, "", nothing, {}, Operation::framework),
      // They read the model, or write its statistics, and leave it in its mode.
      row("timm.utils.get_state_dict", function, "model, unwrap_fn=None", nullptr),
      row("timm.utils.unwrap_model", function, "model", nullptr),
      row("timm.utils.ModelEma", class_, "model, decay=0.9999, device='', resume=''", nullptr),
      row("timm.utils.ModelEma.update", method, "model", nothing),
      row("timm.utils.ModelEmaV2", class_, "model, decay=0.9999, device=None", nullptr, "torch.nn.Module"),
      row("timm.utils.ModelEmaV2.update", method, "model", nothing),
      row("timm.utils.ModelEmaV2.set", method, "model", nothing),
      row("timm.utils.NativeScaler.state_dict", method, "", nullptr, {}, Operation::state_taken),
      row("timm.utils.NativeScaler.load_state_dict", method, "state_dict", nothing, {}, Operation::state_put),
  };
  add_hidden(rows, timm_hidden);
  return rows;
}

}  // namespace stepzero::libraries
