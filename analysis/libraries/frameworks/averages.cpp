// Moving averages of parameters beside the trained ones: torch_ema 0.3 keeps those of the parameters that it
// is given, ema_pytorch 0.8 a copy of the model. Read in their sources.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

namespace {

constexpr std::string_view averaged = "ema_model", trained = "online_model";

Value of_model(Call& call, std::string_view method) {
  const Value model = call.run.attribute(call.self, Name(averaged), call.place);
  interpreter::Arguments arguments;
  arguments.positional.assign(call.rest.begin(), call.rest.end());
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  return call.run.call(method.empty() ? model : call.run.attribute(model, Name(method), call.place),
      std::move(arguments), call.place, call.expr);
}
// A copy of the model, unless another is given for it.
Value ema_init(Call& call) {
  const Value given = call.run.resolve(call.at(1));
  const bool copies = !given || given.is(Kind::none);
  call.run.set_attribute(call.self, Name(averaged),
      copies ? call.run.call(call.run.library_symbol("copy.deepcopy"), {{call.at(0)}, {}, false}, call.place)
             : call.at(1));
  call.run.set_attribute(call.self, Name(trained), call.at(0));
  return {};
}
Value ema_forward(Call& call) { return of_model(call, {}); }
Value ema_eval(Call& call) { return of_model(call, "eval"); }
Value ema_model(Call& call) { return call.run.attribute(call.self, Name(trained), call.place); }

}  // namespace

// torch_ema holds the parameters weakly and changes them only in copy_to and restore, to numbers of their own
// shapes.
std::vector<Row> average_rows() {
  using enum RowKind;
#define EMA "torch_ema.ExponentialMovingAverage"
#define COPY "ema_pytorch.EMA"
  return {
      row(EMA, class_, "parameters, decay, use_num_updates=True", nullptr),
      row(EMA ".update", method, "parameters=None", nothing),
      row(EMA ".copy_to", method, "parameters=None", nothing),
      row(EMA ".store", method, "parameters=None", nothing),
      row(EMA ".restore", method, "parameters=None", nothing),
      row(EMA ".average_parameters", method, "parameters=None", context),
      row(EMA ".to", method, "device=None, dtype=None", nothing),
      row(EMA ".state_dict", method, "", nullptr, {}, Operation::state_taken),
      row(EMA ".load_state_dict", method, "state_dict", nothing, {}, Operation::state_put),
      row(COPY, class_, "model, ema_model=None, beta=0.9999, *more, **options", ema_init, "torch.nn.Module"),
      row(COPY ".forward", method, "*arguments, **options", ema_forward),
      row(COPY ".forward_eval", method, "*arguments, **options", ema_forward),
      row(COPY ".eval", method, "", ema_eval),
      row(COPY ".model", property, "", ema_model),
      row(COPY ".update", method, "", nothing),
      row(COPY ".update_moving_average", method, "ma_model, current_model, current_decay=None", nothing),
      row(COPY ".update_model_with_ema", method, "decay=None", nothing),
      row(COPY ".copy_params_from_model_to_ema", method, "", nothing),
      row(COPY ".copy_params_from_ema_to_model", method, "", nothing),
      row(COPY ".restore_ema_model_device", method, "", nothing),
      row(COPY ".add_to_optimizer_post_step_hook", method, "optimizer", nothing),
      row(COPY ".get_current_decay", method, "", nullptr),
  };
#undef COPY
#undef EMA
}

}  // namespace stepzero::libraries
