// Training frameworks: what of them tells ranks apart, and which of their calls hide communication. Read in the sources of
// accelerate, DeepSpeed, Lightning and torchmetrics.
#include "interpreter/set_on_self.hpp"
#include "torch/native.hpp"

#include <deque>

namespace stepzero::torch {

using symbolic::Role;

namespace {

Value is_first(Call& call) {
  return Value::of(call.run.symbols().compared(Compare::eq, call.run.role(Role::rank), call.run.symbols().constant(0)));
}
Value is_local_first(Call& call) {
  return Value::of(call.run.symbols().compared(Compare::eq, call.run.role(Role::local_rank), call.run.symbols().constant(0)));
}
Value gathered(Call& call) {
  TensorState state = computed(call.run, {call.at(0)});
  state.sharing = Sharing::uniform;
  state.external = false;
  return result(call, state);
}
// prepare(a, b, …) gives them back, wrapped: a model as the launcher has it, at least as DDP does.
template <const std::string_view& wrapper> Value prepare(Call& call) {
  std::vector<Value> items;
  for (const Value& argument : call.arguments)
    if (argument) items.push_back(argument);
  items.insert(items.end(), call.rest.begin(), call.rest.end());
  const bool usual = !kept(call, "$kwargs_handlers");
  // Only to be evaluated: there is nothing to average then, and it is not wrapped.
  const Value evaluated = option(call, "evaluation_mode");
  for (Value& item : items) {
    const Value given = call.run.resolve(item);
    const bool model = given.is(Kind::instance) && call.run.is_a(given, "torch.nn.Module") && !call.run.is_a(given, wrapper) && !evaluated;
    item = call.run.heap().external("", call.place);
    if (!model) continue;
    Instance* wrapped = call.run.make_native(wrapper, call.place);
    wrapped->open = true;
    call.run.set_attribute(Value::of(Kind::instance, wrapped), Name("module"), given);
    if (!usual) keep(call.run, *wrapped, "$keeps_buffers", call.run.heap().boolean(true));
    item = Value::of(Kind::instance, wrapped);
  }
  if (items.size() == 1) return items.front();
  return call.run.heap().tuple(std::move(items));
}
constexpr std::string_view by_accelerate = "accelerate.$Prepared", by_fabric = "lightning_fabric.$Prepared";
// DDP may be told not to send its buffers.
Value accelerator_init(Call& call) {
  for (const auto& [name, value] : call.options)
    if (name.text() == "kwargs_handlers") keep(call, "$kwargs_handlers", call.run.heap().boolean(true));
  if (call.spread) keep(call, "$kwargs_handlers", call.run.heap().boolean(true));
  return {};
}
// It may compute in other types than the module itself, and gives what it likes.
Value prepared_forward(Call& call) { return call.run.heap().external("", call.place); }
// The module inside may still choose its types by itself: of a prepared one nothing more is said.
Value unwrapped(Call& call) {
  const Value model = call.run.resolve(call.at(0));
  return call.run.is_a(model, by_accelerate) ? call.run.heap().external("", call.place) : call.at(0);
}
Value is_last(Call& call) {
  auto& s = call.run.symbols();
  return Value::of(s.compared(Compare::eq, call.run.role(Role::rank), s.sub(call.run.role(Role::world_size), s.constant(1))));
}
Value process_state(Call& call) { return Value::of(Kind::instance, call.run.make_native("accelerate.PartialState", call.place)); }
// An item of a dict that the program wrote; absent if it is not known.
Value item_of(Call& call, Value dict, std::string_view wanted) {
  dict = call.run.resolve(dict);
  if (!dict.is(Kind::dict)) return {};
  for (const auto& [key, value] : values::Heap::dict_state(dict)->items)
    if (key.is(Kind::string) && key.text() == wanted) return value;
  return {};
}
Value deepspeed_initialize(Call& call) {
  // Of ZeRO-3 the forward communicates, too.
  bool parted = false;
  for (const auto& [name, value] : call.options)
    if (name.text() == "config" || name.text() == "config_params")
      if (const Value zero = item_of(call, value, "zero_optimization"))
        if (const Value stage = item_of(call, zero, "stage")) parted = call.run.to_constant(stage) == 3;
  Instance* engine = call.run.make_native(parted ? "deepspeed.$ZeroThreeEngine" : "deepspeed.DeepSpeedEngine", call.place);
  return call.run.heap().tuple({Value::of(Kind::instance, engine), call.run.heap().external("optimizer", call.place),
                                call.run.heap().external("loader", call.place), call.run.heap().external("scheduler", call.place)});
}
// The trainer calls the hooks of models, data modules and callbacks: what these hold afterwards is not known.
void hand_out(Call& call, Value value, int depth = 0) {
  value = call.run.resolve(value);
  if (value.is(Kind::list) && depth < 2)
    for (const Value& item : std::vector(values::Heap::list_state(value)->items)) hand_out(call, item, depth + 1);
  if (!value.is(Kind::instance)) return;
  auto* object = value.as<Instance>();
  interpreter::lose_set_by_methods(call.run.heap(), *object);
  if (object->cls && !object->symbolic && !object->attributes.find(interpreter::handed_out))
    call.run.heap().set(call.run.heap().slot_of(object->attributes, interpreter::handed_out), call.run.heap().boolean(true));
}
void hand_out_arguments(Call& call) {
  for (const auto* part : {&call.arguments, &call.rest})
    for (const Value& argument : *part) hand_out(call, argument);
  for (const auto& [name, argument] : call.options) hand_out(call, argument);
}
Value trains(Call& call) {
  hand_out_arguments(call);
  return nothing(call);
}
Value evaluates(Call& call) {
  hand_out_arguments(call);
  return uniform(call);
}
Value predicts(Call& call) {
  hand_out_arguments(call);
  return unknown_of(call);
}
Value lightning_trainer(Call& call) { return Value::of(Kind::instance, call.run.make_native("pytorch_lightning.Trainer", call.place)); }
Value lightning_strategy(Call& call) { return Value::of(Kind::instance, call.run.make_native("pytorch_lightning.Strategy", call.place)); }

// What a metric of the program's own defines as compute() is run behind a wrapper that gathers first. With sync_on_compute=False none
// gathers.
Value metric_init(Call& call) {
  if (!call.self.is(Kind::instance)) return {};
  for (const auto& [name, value] : call.options)
    if (name.text() == "sync_on_compute" && call.run.to_constant(value) != 1) {
      keep(call, "compute", call.run.heap().external("compute", call.place));
      return {};
    }
  if (!object(call).cls) return {};
  auto* wrapped = call.run.heap().make<values::Bound>();
  wrapped->self = call.self;
  wrapped->function = call.run.library_symbol("torchmetrics.Metric.compute");
  keep(call, "compute", Value::of(Kind::bound, wrapped));
  return {};
}

struct Hidden {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  CollectiveInfo info;
  RowKind kind = RowKind::method;
  Operation operation = Operation::collective;
};

constexpr std::string_view gathers = "it gathers from all processes";
constexpr std::string_view runs_everywhere = "the ranks run it together, and meet in its steps";
constexpr std::string_view shards = "every rank holds a part of what is saved";

const std::deque<Hidden>& hidden() {
  static const std::deque<Hidden> list = {
      {"accelerate.Accelerator.gather", "tensor", gathered, {.name = "accelerator.gather", .hidden = true, .because = gathers}},
      {"accelerate.Accelerator.gather_for_metrics", "input_data, use_gather_object=False", gathered, {.name = "accelerator.gather_for_metrics", .hidden = true, .because = gathers}},
      {"accelerate.Accelerator.reduce", "tensor, reduction='sum', scale=1.0", gathered, {.name = "accelerator.reduce", .hidden = true, .because = gathers}},
      {"accelerate.Accelerator.pad_across_processes", "tensor, dim=0, pad_index=0, pad_first=False", gathered, {.name = "accelerator.pad_across_processes", .hidden = true, .because = "it gathers the sizes of all processes"}},
      {"accelerate.Accelerator.wait_for_everyone", "", nothing, {.name = "accelerator.wait_for_everyone", .hidden = true, .because = "it is a barrier"}},
      {"accelerate.Accelerator.save_state", "output_dir=None, *more, **options", nothing, {.name = "accelerator.save_state", .hidden = true, .because = shards}},
      {"accelerate.Accelerator.load_state", "input_dir=None, *more, **options", nothing, {.name = "accelerator.load_state", .hidden = true, .because = shards}},
      {"accelerate.Accelerator.get_state_dict", "model, unwrap=True", uniform, {.name = "accelerator.get_state_dict", .hidden = true, .because = "under FSDP and ZeRO-3 it gathers the parameters of all ranks", .when = values::When::sharded}},
      {"accelerate.Accelerator.save_model", "model, save_directory, *more, **options", nothing, {.name = "accelerator.save_model", .hidden = true, .because = "under FSDP and ZeRO-3 it gathers the parameters of all ranks", .when = values::When::sharded}},
      {"accelerate.utils.gather_object", "object", uniform, {.name = "gather_object", .hidden = true, .because = gathers}, RowKind::function},
      {"accelerate.utils.gather", "tensor", gathered, {.name = "accelerate.utils.gather", .hidden = true, .because = gathers}, RowKind::function},
      {"accelerate.utils.broadcast", "tensor, from_process=0", gathered, {.name = "accelerate.utils.broadcast", .root = 1, .hidden = true, .because = "the other processes receive"}, RowKind::function},
      {"accelerate.utils.reduce", "tensor, reduction='mean', scale=1.0", gathered, {.name = "accelerate.utils.reduce", .hidden = true, .because = "it sums over all processes"}, RowKind::function},
      {"accelerate.utils.pad_across_processes", "tensor, dim=0, pad_index=0, pad_first=False", gathered, {.name = "pad_across_processes", .hidden = true, .because = "it gathers the sizes of all processes"}, RowKind::function},
      {"accelerate.utils.wait_for_everyone", "", nothing, {.name = "wait_for_everyone", .hidden = true, .because = "it is a barrier"}, RowKind::function},
      {"accelerate.utils.broadcast_object_list", "object_list, from_process=0", uniform, {.name = "broadcast_object_list", .hidden = true, .because = "the other processes receive"}, RowKind::function},

      {"accelerate.Accelerator.backward", "loss, **options", nothing, {.name = "accelerator.backward", .hidden = true, .because = "it averages the gradients of all processes"}, RowKind::method, Operation::framework},
      {"accelerate.$Prepared.forward", "*arguments, **options", prepared_forward,
       {.name = "the forward of a prepared model", .when = values::When::with_buffers, .joins = true, .inside = "what accelerator.unwrap_model gives"}, RowKind::method, Operation::parallel_forward},
      {"lightning_fabric.$Prepared.forward", "*arguments, **options", prepared_forward,
       {.name = "the forward of a model that Fabric has set up", .when = values::When::with_buffers, .joins = true, .inside = "model.module"}, RowKind::method, Operation::parallel_forward},
      {"accelerate.PartialState.wait_for_everyone", "", nothing, {.name = "wait_for_everyone", .hidden = true, .because = "it is a barrier"}},
      {"accelerate.Accelerator.check_trigger", "", uniform, {.name = "accelerator.check_trigger", .hidden = true, .because = "it sums the flags of all processes"}},
      {"accelerate.Accelerator.main_process_first", "", context, {.name = "accelerator.main_process_first", .hidden = true, .because = "the other processes wait in it for the main one"}},

      {"deepspeed.initialize", "*arguments, **options", deepspeed_initialize, {.name = "deepspeed.initialize", .hidden = true, .because = "it broadcasts the parameters to all ranks"}, RowKind::function, Operation::framework},
      {"deepspeed.DeepSpeedEngine.backward", "loss, *more, **options", nothing, {.name = "engine.backward", .hidden = true, .because = "it reduces the gradients of all ranks"}, RowKind::method, Operation::framework},
      {"deepspeed.DeepSpeedEngine.save_checkpoint", "save_dir, tag=None, *more, **options", nothing, {.name = "save_checkpoint", .hidden = true, .because = shards}},
      {"deepspeed.DeepSpeedEngine.load_checkpoint", "load_dir, tag=None, *more, **options", uniform, {.name = "load_checkpoint", .hidden = true, .because = shards}},
      {"deepspeed.DeepSpeedEngine.save_16bit_model", "save_dir, *more, **options", nothing, {.name = "save_16bit_model", .hidden = true, .because = shards}},
      {"deepspeed.DeepSpeedEngine.save_fp16_model", "save_dir, *more, **options", nothing, {.name = "save_fp16_model", .hidden = true, .because = shards}},
      {"deepspeed.DeepSpeedEngine.train_batch", "data_iter=None", uniform, {.name = "engine.train_batch", .hidden = true, .because = "the stages of the pipeline send to each other"}, RowKind::method, Operation::framework},
      {"deepspeed.DeepSpeedEngine.eval_batch", "data_iter, *more, **options", uniform, {.name = "engine.eval_batch", .hidden = true, .because = "the stages of the pipeline send to each other"}, RowKind::method, Operation::framework},
      {"deepspeed.$ZeroThreeEngine.__call__", "*arguments, **options", unknown_of, {.name = "the forward of a ZeRO-3 engine", .hidden = true, .because = "the parameters of each layer are gathered from all ranks"}, RowKind::method, Operation::framework},
      {"deepspeed.zero.GatheredParameters", "params, modifier_rank=None, *more, **options", context, {.name = "GatheredParameters", .hidden = true, .because = "every rank sends its part of the parameters"}, RowKind::function},
      {"deepspeed.DeepSpeedEngine.step", "*arguments, **options", nothing, {.name = "engine.step", .hidden = true, .because = "the optimizer's state is shared among the ranks"}},

      {"pytorch_lightning.Trainer.save_checkpoint", "filepath, *more, **options", nothing, {.name = "trainer.save_checkpoint", .hidden = true, .because = "it gathers sharded states and ends in a barrier"}},
      {"pytorch_lightning.Trainer.fit", "*arguments, **options", trains, {.name = "trainer.fit", .hidden = true, .because = runs_everywhere}, RowKind::method, Operation::framework},
      {"pytorch_lightning.Trainer.validate", "*arguments, **options", evaluates, {.name = "trainer.validate", .hidden = true, .because = runs_everywhere}, RowKind::method, Operation::framework},
      {"pytorch_lightning.Trainer.test", "*arguments, **options", evaluates, {.name = "trainer.test", .hidden = true, .because = runs_everywhere}, RowKind::method, Operation::framework},
      {"pytorch_lightning.Trainer.predict", "*arguments, **options", predicts, {.name = "trainer.predict", .hidden = true, .because = runs_everywhere}, RowKind::method, Operation::framework},
      {"lightning_fabric.Fabric.barrier", "name=None", nothing, {.name = "fabric.barrier", .hidden = true, .because = "it is a barrier"}},
      {"lightning_fabric.Fabric.all_gather", "data, *more, **options", gathered, {.name = "fabric.all_gather", .hidden = true, .because = gathers}},
      {"lightning_fabric.Fabric.all_reduce", "data, *more, **options", gathered, {.name = "fabric.all_reduce", .hidden = true, .because = "it reduces over all ranks"}},
      {"lightning_fabric.Fabric.broadcast", "obj, src=0", uniform, {.name = "fabric.broadcast", .root = 1, .hidden = true, .because = "the other ranks receive"}},
      {"lightning_fabric.Fabric.backward", "tensor, *more, **options", nothing, {.name = "fabric.backward", .hidden = true, .because = "it averages the gradients of all ranks"}, RowKind::method, Operation::framework},
      {"lightning_fabric.Fabric.save", "path, state, *more, **options", nothing, {.name = "fabric.save", .hidden = true, .because = "it gathers sharded states and ends in a barrier"}},
      {"lightning_fabric.Fabric.load", "path, *more, **options", uniform, {.name = "fabric.load", .hidden = true, .because = "it begins with a barrier"}},
      {"pytorch_lightning.Trainer.log_dir", "", uniform, {.name = "trainer.log_dir", .hidden = true, .because = "reading it broadcasts the path from rank 0"}, RowKind::property},
      {"pytorch_lightning.LightningModule.log", "name, value, prog_bar=False, logger=None, on_step=None, on_epoch=None, reduce_fx='mean', enable_graph=False, sync_dist=False, **options", nothing,
       {.name = "self.log with sync_dist", .hidden = true, .because = "it reduces the value over all ranks", .only_if = 8}},
      {"pytorch_lightning.LightningModule.log_dict", "dictionary, prog_bar=False, logger=None, on_step=None, on_epoch=None, reduce_fx='mean', enable_graph=False, sync_dist=False, **options", nothing,
       {.name = "self.log_dict with sync_dist", .hidden = true, .because = "it reduces the values over all ranks", .only_if = 7}},
      {"pytorch_lightning.Strategy.broadcast", "obj, src=0", uniform, {.name = "strategy.broadcast", .root = 1, .hidden = true, .because = "the other ranks receive"}},
      {"pytorch_lightning.Strategy.reduce", "tensor, group=None, reduce_op='mean'", gathered, {.name = "strategy.reduce", .hidden = true, .because = "it reduces over all ranks"}},
      {"pytorch_lightning.Strategy.all_gather", "tensor, group=None, sync_grads=False", gathered, {.name = "strategy.all_gather", .hidden = true, .because = gathers}},
      {"pytorch_lightning.Strategy.barrier", "name=None", nothing, {.name = "strategy.barrier", .hidden = true, .because = "it is a barrier"}},
      {"pytorch_lightning.LightningModule.all_gather", "data, *more, **options", gathered, {.name = "self.all_gather", .hidden = true, .because = gathers}},

      {"torchmetrics.Metric.compute", "", uniform, {.name = "metric.compute", .hidden = true, .because = "it gathers the metric's state from all ranks"}},
  };
  return list;
}

} // namespace

std::vector<Row> framework_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("accelerate.Accelerator", class_, "*arguments, **options", accelerator_init, {}, Operation::framework),
      row(by_accelerate, class_, "", nullptr, "torch.nn.parallel.DistributedDataParallel"),
      row("accelerate.Accelerator.is_main_process", property, "", is_first),
      row("accelerate.Accelerator.is_local_main_process", property, "", is_local_first),
      row("accelerate.Accelerator.is_last_process", property, "", is_last),
      row("accelerate.Accelerator.state", property, "", process_state),
      row("accelerate.Accelerator.on_main_process", method, "function=None", is_first),
      row("accelerate.Accelerator.on_local_main_process", method, "function=None", is_local_first),
      row("accelerate.Accelerator.on_last_process", method, "function=None", is_last),
      row("accelerate.Accelerator.process_index", property, "", role_value<Role::rank>),
      row("accelerate.Accelerator.local_process_index", property, "", role_value<Role::local_rank>),
      row("accelerate.Accelerator.num_processes", property, "", role_value<Role::world_size>),
      row("accelerate.Accelerator.prepare", method, "*arguments, **options", prepare<by_accelerate>, {}, Operation::framework),
      row("accelerate.Accelerator.prepare_model", method, "model, *more, **options", prepare<by_accelerate>),
      row("accelerate.Accelerator.unwrap_model", method, "model, *more, **options", unwrapped),
      row("accelerate.utils.extract_model_from_parallel", function, "model, *more, **options", unwrapped),
      row("accelerate.Accelerator.local_main_process_first", method, "", context),
      row("accelerate.Accelerator.accumulate", method, "*models", context, {}, Operation::framework),
      row("accelerate.Accelerator.autocast", method, "*arguments, **options", context),
      row("accelerate.Accelerator.print", method, "*arguments, **options", nothing),
      row("accelerate.Accelerator.save", method, "obj, f, *more, **options", nothing),
      row("accelerate.Accelerator.clip_grad_norm_", method, "parameters, max_norm, norm_type=2", uniform),

      row("accelerate.PartialState", class_, "*arguments, **options", nullptr),
      row("accelerate.PartialState.is_main_process", property, "", is_first),
      row("accelerate.PartialState.is_local_main_process", property, "", is_local_first),
      row("accelerate.PartialState.is_last_process", property, "", is_last),
      row("accelerate.PartialState.on_main_process", method, "function=None", is_first),
      row("accelerate.PartialState.on_local_main_process", method, "function=None", is_local_first),
      row("accelerate.PartialState.on_last_process", method, "function=None", is_last),
      row("accelerate.AcceleratorState", class_, "*arguments, **options", nullptr, "accelerate.PartialState"),
      row("accelerate.PartialState.process_index", property, "", role_value<Role::rank>),
      row("accelerate.PartialState.local_process_index", property, "", role_value<Role::local_rank>),
      row("accelerate.PartialState.num_processes", property, "", role_value<Role::world_size>),

      row("deepspeed.DeepSpeedEngine", class_, "*arguments, **options", nullptr),
      row("deepspeed.DeepSpeedEngine.global_rank", property, "", role_value<Role::rank>),
      row("deepspeed.DeepSpeedEngine.local_rank", property, "", role_value<Role::local_rank>),
      row("deepspeed.DeepSpeedEngine.world_size", property, "", role_value<Role::world_size>),
      row("deepspeed.$ZeroThreeEngine", class_, "*arguments, **options", nullptr, "deepspeed.DeepSpeedEngine"),
      row("deepspeed.init_distributed", function, "dist_backend=None, *more, timeout=None, **options", nothing, {}, Operation::group_settings),

      row("pytorch_lightning.Trainer", class_, "*arguments, devices='auto', num_nodes=1, **options", nullptr, {}, Operation::framework),
      row("pytorch_lightning.Trainer.is_global_zero", property, "", is_first),
      row("pytorch_lightning.Trainer.global_rank", property, "", role_value<Role::rank>),
      row("pytorch_lightning.Trainer.local_rank", property, "", role_value<Role::local_rank>),
      row("pytorch_lightning.Trainer.world_size", property, "", role_value<Role::world_size>),
      row("pytorch_lightning.Trainer.strategy", property, "", lightning_strategy),
      row("pytorch_lightning.Strategy", class_, "", nullptr),
      row("pytorch_lightning.LightningModule", class_, "*arguments, **options", nullptr, "torch.nn.Module"),
      row("pytorch_lightning.LightningModule.trainer", property, "", lightning_trainer),
      row("pytorch_lightning.LightningModule.global_rank", property, "", role_value<Role::rank>),
      row("pytorch_lightning.LightningModule.local_rank", property, "", role_value<Role::local_rank>),
      row("pytorch_lightning.utilities.rank_zero_only", function, "fn", is_first),
      row("pytorch_lightning.utilities.rank_zero_only.rank", constant, "", role_value<Role::rank>),

      row("lightning_fabric.Fabric", class_, "*arguments, devices='auto', num_nodes=1, **options", nullptr, {}, Operation::framework),
      row("lightning_fabric.Fabric.is_global_zero", property, "", is_first),
      row("lightning_fabric.Fabric.global_rank", property, "", role_value<Role::rank>),
      row("lightning_fabric.Fabric.local_rank", property, "", role_value<Role::local_rank>),
      row("lightning_fabric.Fabric.node_rank", property, "", role_value<Role::node_rank>),
      row("lightning_fabric.Fabric.world_size", property, "", role_value<Role::world_size>),
      row("lightning_fabric.Fabric.launch", method, "*arguments, **options", nothing),
      row("lightning_fabric.Fabric.print", method, "*arguments, **options", nothing),
      row(by_fabric, class_, "", nullptr, "torch.nn.parallel.DistributedDataParallel"),
      row("lightning_fabric.Fabric.setup", method, "*arguments, **options", prepare<by_fabric>, {}, Operation::framework),
      row("lightning_fabric.Fabric.setup_module", method, "module, *more, **options", prepare<by_fabric>, {}, Operation::framework),
      row("lightning_fabric.Fabric.setup_dataloaders", method, "*arguments, **options", prepare<by_fabric>),
      row("lightning_fabric.Fabric.rank_zero_first", method, "local=False", context),

      row("torchmetrics.Metric", class_, "*arguments, **options", metric_init, "torch.nn.Module"),
  };
  for (const std::string_view metric : {
           "torchmetrics.Accuracy", "torchmetrics.AUROC", "torchmetrics.AveragePrecision", "torchmetrics.CalibrationError",
           "torchmetrics.CohenKappa", "torchmetrics.ConfusionMatrix", "torchmetrics.Dice", "torchmetrics.ExactMatch",
           "torchmetrics.F1Score", "torchmetrics.FBetaScore", "torchmetrics.HammingDistance", "torchmetrics.HingeLoss",
           "torchmetrics.JaccardIndex", "torchmetrics.LogAUC", "torchmetrics.MatthewsCorrCoef",
           "torchmetrics.NegativePredictiveValue", "torchmetrics.Precision", "torchmetrics.PrecisionRecallCurve",
           "torchmetrics.ROC", "torchmetrics.Recall", "torchmetrics.Specificity", "torchmetrics.StatScores",
           "torchmetrics.BinaryAccuracy", "torchmetrics.MulticlassAccuracy", "torchmetrics.MultilabelAccuracy",
           "torchmetrics.BinaryAUROC", "torchmetrics.MulticlassAUROC", "torchmetrics.MultilabelAUROC",
           "torchmetrics.BinaryAveragePrecision", "torchmetrics.MulticlassAveragePrecision",
           "torchmetrics.MultilabelAveragePrecision", "torchmetrics.BinaryConfusionMatrix",
           "torchmetrics.MulticlassConfusionMatrix", "torchmetrics.MultilabelConfusionMatrix", "torchmetrics.BinaryF1Score",
           "torchmetrics.MulticlassF1Score", "torchmetrics.MultilabelF1Score", "torchmetrics.BinaryPrecision",
           "torchmetrics.MulticlassPrecision", "torchmetrics.MultilabelPrecision", "torchmetrics.BinaryRecall",
           "torchmetrics.MulticlassRecall", "torchmetrics.MultilabelRecall", "torchmetrics.BinarySpecificity",
           "torchmetrics.MulticlassSpecificity", "torchmetrics.BinaryJaccardIndex", "torchmetrics.MulticlassJaccardIndex",
           "torchmetrics.MultilabelJaccardIndex", "torchmetrics.BinaryStatScores", "torchmetrics.MulticlassStatScores",
           "torchmetrics.MultilabelStatScores", "torchmetrics.BinaryCalibrationError", "torchmetrics.MulticlassCalibrationError",
           "torchmetrics.BinaryMatthewsCorrCoef", "torchmetrics.MulticlassMatthewsCorrCoef", "torchmetrics.BinaryCohenKappa",
           "torchmetrics.MulticlassCohenKappa", "torchmetrics.CatMetric", "torchmetrics.MaxMetric", "torchmetrics.MeanMetric",
           "torchmetrics.MinMetric", "torchmetrics.RunningMean", "torchmetrics.RunningSum", "torchmetrics.SumMetric",
           "torchmetrics.MetricCollection", "torchmetrics.BootStrapper", "torchmetrics.ClasswiseWrapper",
           "torchmetrics.MetricTracker", "torchmetrics.MinMaxMetric", "torchmetrics.MultioutputWrapper",
           "torchmetrics.ConcordanceCorrCoef", "torchmetrics.CosineSimilarity", "torchmetrics.ExplainedVariance",
           "torchmetrics.KLDivergence", "torchmetrics.KendallRankCorrCoef", "torchmetrics.LogCoshError",
           "torchmetrics.MeanAbsoluteError", "torchmetrics.MeanAbsolutePercentageError", "torchmetrics.MeanSquaredError",
           "torchmetrics.MeanSquaredLogError", "torchmetrics.PearsonCorrCoef", "torchmetrics.R2Score",
           "torchmetrics.SpearmanCorrCoef", "torchmetrics.BLEUScore", "torchmetrics.CharErrorRate", "torchmetrics.CHRFScore",
           "torchmetrics.MatchErrorRate", "torchmetrics.Perplexity", "torchmetrics.ROUGEScore", "torchmetrics.SacreBLEUScore",
           "torchmetrics.WordErrorRate", "torchmetrics.WordInfoLost", "torchmetrics.BERTScore",
           "torchmetrics.FrechetInceptionDistance", "torchmetrics.InceptionScore", "torchmetrics.KernelInceptionDistance",
           "torchmetrics.LearnedPerceptualImagePatchSimilarity", "torchmetrics.MultiScaleStructuralSimilarityIndexMeasure",
           "torchmetrics.PeakSignalNoiseRatio", "torchmetrics.StructuralSimilarityIndexMeasure",
           "torchmetrics.UniversalImageQualityIndex", "torchmetrics.TotalVariation", "torchmetrics.SignalNoiseRatio",
           "torchmetrics.ScaleInvariantSignalDistortionRatio", "torchmetrics.ScaleInvariantSignalNoiseRatio",
           "torchmetrics.SignalDistortionRatio", "torchmetrics.MeanAveragePrecision", "torchmetrics.IntersectionOverUnion",
           "torchmetrics.GeneralizedIntersectionOverUnion", "torchmetrics.MeanIoU", "torchmetrics.DiceScore",
           "torchmetrics.RetrievalMAP", "torchmetrics.RetrievalMRR", "torchmetrics.RetrievalPrecision",
           "torchmetrics.RetrievalRecall", "torchmetrics.RetrievalNormalizedDCG", "torchmetrics.RetrievalHitRate"})
    rows.push_back(row(metric, class_, "*arguments, **options", metric_init, "torchmetrics.Metric"));
  for (const Hidden& call : hidden()) {
    Row made = row(call.path, call.kind, call.signature, call.run, {}, call.operation);
    made.collective = &call.info;
    rows.push_back(made);
  }
  return rows;
}

} // namespace stepzero::torch
