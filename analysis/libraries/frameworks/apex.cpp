// NVIDIA's apex, as training code before torch.amp used it: mixed precision by initialize() and scale_loss(),
// and its wrapper for several processes. Read in the source of apex 0.1 (apex/amp, apex/parallel). Its losses
// are scaled and its gradients unscaled within the block, so that what stands around it is a training in one
// precision.
#include "libraries/frameworks/frameworks.hpp"

namespace stepzero::libraries {

namespace {

// The models and optimizers that it was given, patched where they are.
Value initialize(Call& call) {
  const Value models = call.at(0), optimizers = call.run.resolve(call.at(1));
  if (!optimizers || optimizers.is(Kind::none)) return models;
  return call.run.heap().tuple({models, call.at(1)});
}

Value scale_loss(Call& call) {
  Instance* made = call.run.make_native("contextlib.context", call.place);
  keep(call.run, *made, values::ContextState::value, call.at(0));
  return Value::of(Kind::instance, made);
}

Value wrap(Call& call) {
  const Value wrapper = call.run.library_symbol("torch.nn.parallel.DistributedDataParallel");
  return call.run.call(wrapper, {{call.at(0)}, {}, false}, call.place);
}

Value same_module(Call& call) { return call.at(0); }

}  // namespace

std::vector<Row> apex_rows() {
  using enum RowKind;
  return {
      row("apex.amp.initialize", function, "models, optimizers=None, *more, **options", initialize),
      row("apex.amp.scale_loss", function, "loss, optimizers, *more, **options", scale_loss),
      row("apex.amp.master_params", function, "optimizer", nullptr),
      row("apex.amp.state_dict", function, "destination=None", nullptr),
      row("apex.amp.load_state_dict", function, "state_dict", nothing),
      row("apex.parallel.DistributedDataParallel", function, "module, *more, **options", wrap),
      row("apex.parallel.convert_syncbn_model", function, "module, process_group=None, channel_last=False",
          same_module),
  };
}

}  // namespace stepzero::libraries
