// Accelerate. Read in the source of 1.15 and asked: tests/frameworks.
#include "libraries/frameworks/frameworks.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

using symbolic::Role;

namespace {

constexpr std::string_view by_accelerate = "accelerate.$Prepared",
                           sharded_by_accelerate = "accelerate.$Sharded",
                           shuffled_by_accelerate = "accelerate.$Shuffled";
constexpr Wrappers accelerate_wrappers{by_accelerate, sharded_by_accelerate, shuffled_by_accelerate};
// What shards the model, where the program says so: what the launcher is told is not seen. `$saves_together`:
// states are saved by all processes; `$fsdp`; `$shards`: the parameters are sharded; `$whole`: they are not,
// for certain.
Value accelerator_init(Call& call) {
  const auto set = [&](std::string_view name, symbolic::Answer answer) {
    if (answer == symbolic::Answer::yes) keep(call, name, call.run.heap().boolean(true));
  };
  const symbolic::Answer fsdp = is_given(call, option(call, "fsdp_plugin"));
  const Value deepspeed = option(call, "deepspeed_plugin");
  set(values::AcceleratorState::fsdp, fsdp);
  set(values::AcceleratorState::shards, fsdp);
  set(values::AcceleratorState::saves_together, fsdp);
  set(values::AcceleratorState::saves_together, is_given(call, deepspeed));
  if (deepspeed.is(Kind::instance))
    if (const Value stage = kept(call.run, *deepspeed.as<Instance>(), "zero_stage")) {
      if (call.run.to_constant(stage) == 3)
        keep(call, values::AcceleratorState::shards, call.run.heap().boolean(true));
      else if (call.run.to_constant(stage))
        keep(call, values::AcceleratorState::whole, call.run.heap().boolean(true));
    }
  if (const Value project = option(call, "project_config"); project.is(Kind::instance))
    if (const Value named = kept(call.run, *project.as<Instance>(), "automatic_checkpoint_naming"))
      set(values::AcceleratorState::waits_for_names, call.run.symbols().decide(call.run.truth(named)));
  // Which random states are sent, and who loads the data, may be told.
  if (call.spread || option(call, "rng_types") || option(call, "dataloader_config") ||
      option(call, "split_batches") || option(call, "dispatch_batches"))
    keep(call, values::AcceleratorState::loads_otherwise, call.run.heap().boolean(true));
  if (is_given(call, option(call, "mixed_precision")) != symbolic::Answer::no || call.spread)
    keep(call, told_precision, call.run.heap().boolean(true));
  // DDP may be told not to send its buffers.
  if (option(call, "kwargs_handlers") || call.spread)
    keep(call, values::AcceleratorState::kwargs_handlers, call.run.heap().boolean(true));
  return {};
}
bool keeps(const Call& call, std::string_view name) { return static_cast<bool>(kept(call, name)); }
// The last argument says whether the processes meet in the call.
Value saves_state(Call& call) {
  call.arguments.back() = call.run.heap().boolean(keeps(call, values::AcceleratorState::saves_together) ||
      keeps(call, values::AcceleratorState::waits_for_names));
  return Value::none();
}
Value loads_state(Call& call) {
  call.arguments.back() = call.run.heap().boolean(keeps(call, values::AcceleratorState::fsdp));
  return Value::none();
}
// Of parameters that are whole nothing is gathered. Where nothing is said, the launcher may shard them: that
// is left open.
Value gathers_parameters(Call& call) {
  if (keeps(call, values::AcceleratorState::shards))
    call.arguments.back() = call.run.heap().boolean(true);
  else if (keeps(call, values::AcceleratorState::whole))
    call.arguments.back() = call.run.heap().boolean(false);
  else
    call.arguments.back() = call.run.heap().unseen("sharded", call.place);
  return uniform(call);
}
// The norm is summed over the shards.
Value clips(Call& call) {
  call.arguments.back() = call.run.heap().boolean(keeps(call, values::AcceleratorState::fsdp));
  return uniform(call);
}
// The module inside, which still computes in the types that Accelerate chose. Of a sharded one each process
// has a part.
Value unwrapped(Call& call) {
  const Value model = call.run.resolve(call.at(0));
  if (call.run.is_a(model, sharded_by_accelerate)) return call.run.heap().unseen("", call.place);
  return call.run.is_a(model, by_accelerate) ? call.run.attribute(model, Name("module"), call.place)
                                             : call.at(0);
}
Value is_last(Call& call) {
  auto& s = call.run.symbols();
  return Value::of(s.compared(
      Compare::eq, call.run.role(Role::rank), s.sub(call.run.role(Role::world_size), s.constant(1))));
}
Value process_state(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("accelerate.PartialState", call.place));
}

constexpr std::string_view others_wait = "the other processes wait in it for the main one";

constexpr Hidden accelerate_hidden[] = {
    {"accelerate.Accelerator.gather", "tensor", gathered,
        {.name = "accelerator.gather", .hidden = true, .because = gathers}},
    {"accelerate.Accelerator.gather_for_metrics", "input_data, use_gather_object=False", gathered,
        {.name = "accelerator.gather_for_metrics", .hidden = true, .because = gathers}},
    {"accelerate.Accelerator.reduce", "tensor, reduction='sum', scale=1.0", gathered,
        {.name = "accelerator.reduce", .hidden = true, .because = gathers, .reduces = true}},
    {"accelerate.Accelerator.pad_across_processes", "tensor, dim=0, pad_index=0, pad_first=False", gathered,
        {.name = "accelerator.pad_across_processes",
            .hidden = true,
            .because = "it gathers the sizes of all processes"}},
    {"accelerate.Accelerator.wait_for_everyone", "", nothing,
        {.name = "accelerator.wait_for_everyone", .hidden = true, .because = is_barrier}},
    {"accelerate.Accelerator.save_state", "output_dir=None, *more, meets=False, **options", saves_state,
        {.name = "accelerator.save_state",
            .hidden = true,
            .because = "every process holds a part of what is saved, or waits for the name of the folder",
            .only_if = 1}},
    {"accelerate.Accelerator.load_state", "input_dir=None, *more, meets=False, **options", loads_state,
        {.name = "accelerator.load_state",
            .hidden = true,
            .because = "under FSDP each process gets its part",
            .only_if = 1}},
    {"accelerate.Accelerator.get_state_dict", "model, unwrap=True, *, meets=False", gathers_parameters,
        {.name = "accelerator.get_state_dict",
            .hidden = true,
            .because = "under FSDP and ZeRO-3 it gathers the parameters of all ranks",
            .when = values::When::sharded,
            .only_if = 2}},
    {"accelerate.Accelerator.save_model", "model, save_directory, *more, meets=False, **options",
        gathers_parameters,
        {.name = "accelerator.save_model",
            .hidden = true,
            .because = "under FSDP and ZeRO-3 it gathers the parameters of all ranks",
            .when = values::When::sharded,
            .only_if = 2}},
    {"accelerate.utils.gather_object", "object", uniform,
        {.name = "gather_object", .hidden = true, .because = gathers}, RowKind::function},
    {"accelerate.utils.gather", "tensor", gathered,
        {.name = "accelerate.utils.gather", .hidden = true, .because = gathers}, RowKind::function},
    {"accelerate.utils.broadcast", "tensor, from_process=0", gathered,
        {.name = "accelerate.utils.broadcast",
            .root = 1,
            .hidden = true,
            .because = "the other processes receive"},
        RowKind::function},
    {"accelerate.utils.reduce", "tensor, reduction='mean', scale=1.0", gathered,
        {.name = "accelerate.utils.reduce",
            .hidden = true,
            .because = "it sums over all processes",
            .reduces = true},
        RowKind::function},
    {"accelerate.utils.pad_across_processes", "tensor, dim=0, pad_index=0, pad_first=False", gathered,
        {.name = "pad_across_processes", .hidden = true, .because = "it gathers the sizes of all processes"},
        RowKind::function},
    {"accelerate.utils.wait_for_everyone", "", nothing,
        {.name = "wait_for_everyone", .hidden = true, .because = is_barrier}, RowKind::function},
    {"accelerate.utils.broadcast_object_list", "object_list, from_process=0", uniform,
        {.name = "broadcast_object_list",
            .hidden = true,
            .because = "the other processes receive",
            .objects = 0},
        RowKind::function},
    {"accelerate.Accelerator.backward", "loss, **options", backward_of_first,
        {.name = "accelerator.backward",
            .hidden = true,
            .because = "it averages the gradients of all processes"},
        RowKind::method, Operation::framework},
    {"accelerate.$Prepared.forward", "*arguments, **options", prepared_forward,
        {.name = "the forward of a prepared model",
            .when = values::When::with_buffers,
            .joins = true,
            .inside = "what `accelerator.unwrap_model` gives"},
        RowKind::method, Operation::parallel_forward},
    {"accelerate.$Sharded.forward", "*arguments, **options", nothing_learned,
        {.name = "the forward of a sharded model",
            .hidden = true,
            .because = "the parameters of each layer are gathered from all processes"}},
    {"accelerate.Accelerator.prepare", "*arguments, meets=False, **options", prepare<accelerate_wrappers>,
        {.name = "accelerator.prepare", .hidden = true, .because = wraps_model, .only_if = 0},
        RowKind::method, Operation::framework},
    {"accelerate.Accelerator.prepare_model", "model, *more, meets=False, **options",
        prepare<accelerate_wrappers>,
        {.name = "accelerator.prepare_model", .hidden = true, .because = wraps_model, .only_if = 1},
        RowKind::method, Operation::framework},
    {"accelerate.$Shuffled.__iter__", "", nothing_learned,
        {.name = "the iteration over a shuffled loader",
            .hidden = true,
            .because = "the main process sends the state of its shuffling first"}},
    {"accelerate.Accelerator.clip_grad_norm_", "parameters, max_norm, norm_type=2, *, meets=False", clips,
        {.name = "accelerator.clip_grad_norm_",
            .hidden = true,
            .because = "under FSDP the norm is summed over the shards of all processes",
            .only_if = 3},
        RowKind::method, Operation::clip_gradients},
    {"accelerate.Accelerator.local_main_process_first", "", context,
        {.name = "accelerator.local_main_process_first", .hidden = true, .because = others_wait}},
    {"accelerate.PartialState.main_process_first", "", context,
        {.name = "main_process_first", .hidden = true, .because = others_wait}},
    {"accelerate.PartialState.local_main_process_first", "", context,
        {.name = "local_main_process_first", .hidden = true, .because = others_wait}},
    {"accelerate.utils.synchronize_rng_states", "rng_types, generator=None", nothing,
        {.name = "synchronize_rng_states",
            .hidden = true,
            .because = "the main process sends its random states"},
        RowKind::function},
    {"accelerate.PartialState.wait_for_everyone", "", nothing,
        {.name = "wait_for_everyone", .hidden = true, .because = is_barrier}},
    {"accelerate.Accelerator.check_trigger", "", uniform,
        {.name = "accelerator.check_trigger",
            .hidden = true,
            .because = "it sums the flags of all processes"}},
    {"accelerate.Accelerator.main_process_first", "", context,
        {.name = "accelerator.main_process_first", .hidden = true, .because = others_wait}},
};

}  // namespace

std::vector<Row> accelerate_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("accelerate.Accelerator", class_, "*arguments, **options", accelerator_init, {},
          Operation::framework),
      row(by_accelerate, class_, "", nullptr, "torch.nn.parallel.DistributedDataParallel"),
      row(sharded_by_accelerate, class_, "", nullptr, "torch.nn.Module"),
      row(shuffled_by_accelerate, class_, "", nullptr),
      row("accelerate.Accelerator.prepare_data_loader", method, "data_loader, *more, meets=False, **options",
          prepare<accelerate_wrappers>),
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
      row("accelerate.Accelerator.prepare_optimizer", method, "optimizer, *more, meets=False, **options",
          prepare<accelerate_wrappers>, {}, Operation::framework),
      row("accelerate.Accelerator.unwrap_model", method, "model, *more, **options", unwrapped),
      row("accelerate.utils.extract_model_from_parallel", function, "model, *more, **options", unwrapped),
      row("accelerate.Accelerator.accumulate", method, "*models", context, {}, Operation::framework),
      row("accelerate.Accelerator.autocast", method, "*arguments, **options", context),
      row("accelerate.Accelerator.print", method, "*arguments, **options", nothing),
      row("accelerate.Accelerator.save", method, "obj, f, *more, **options", nothing),
      row("accelerate.Accelerator.clip_grad_value_", method, "parameters, clip_value", nothing, {},
          Operation::clip_gradients),
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
  };
  for (const std::string_view settings : {"accelerate.FullyShardedDataParallelPlugin",
           "accelerate.utils.FullyShardedDataParallelPlugin", "accelerate.DeepSpeedPlugin",
           "accelerate.utils.DeepSpeedPlugin", "accelerate.utils.ProjectConfiguration"})
    rows.push_back(row(settings, class_, "*arguments, **options", keep_options));
  add_hidden(rows, accelerate_hidden);
  return rows;
}

}  // namespace stepzero::libraries
