// What sharding makes of a module, and what its forward and backward communicate. Semantics as in the
// documentation of torch.distributed.fsdp.
#include "libraries/torch/distributed/sharded_modules.hpp"

#include "libraries/table/hidden.hpp"
#include "libraries/table/op.hpp"
#include "libraries/torch/distributed/sharded_states.hpp"
#include "libraries/torch/distributed/sharded_units.hpp"
#include "libraries/torch/distributed/wrapping.hpp"
#include "libraries/torch/nn/modules.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

constexpr values::KeptKey mixed_precision = values::WrapperState::mixed_precision,
                          flat = values::WrapperState::flat, left_on_cpu = values::WrapperState::left_on_cpu;

// Of FullyShardedDataParallel: gradients that are not reduced are not sharded either.
Value unsharded_gradients(Call& call) {
  const Value strategy = kept(call, values::WrapperState::sharding_strategy);
  const bool is_sharded = !strategy || strategy.is(Kind::none) ||
      (strategy.is(Kind::library) && !strategy.as<values::LibrarySymbol>()->path.ends_with(".NO_SHARD"));
  if (is_sharded)
    explain(*call.run.problem(values::ProblemKind::truth_of_text, call), why<Reason::sharded_no_sync>());
  return context(call);
}

// FullyShardedDataParallel(module): one flat parameter for the module, less the parts that are wrapped
// already.
Value sharded_init(Call& call) {
  const auto classes = unit_classes(call.run, argument_named(call, "auto_wrap_policy"), call.place);
  Flattened flattened;
  flattened.classes = classes ? &*classes : nullptr;
  flattened.add(call.run, call.at(0));
  if (const Value policy = call.run.resolve(argument_named(call, "mixed_precision"));
      policy && !policy.is(Kind::none))
    keep(call, mixed_precision, policy);
  // The wrapper is new: the marks stay with it when the run of its function is taken back.
  const auto mark = [&](std::string_view name, bool holds) {
    if (holds && call.self.is(Kind::instance))
      call.run.heap().slot_of(object(call).attributes, Name(name)).value = call.run.heap().boolean(true);
  };
  const auto is_left_out = [&](std::string_view name) {
    const Value given = call.run.resolve(argument_named(call, name));
    return !given || given.is(Kind::none);
  };
  const Value keeps = argument_named(call, "use_orig_params");
  const bool flattens = !call.spread &&
      (!keeps || call.run.symbols().decide(call.run.truth(keeps)) == Answer::no);
  mark(values::WrapperState::mixed, classes && flattened.is_mixed());
  mark(values::WrapperState::on_cpu, flattened.on_cpu);
  const bool is_moved = call.spread || !is_left_out("device_id") || !is_left_out("cpu_offload") ||
      !is_left_out("param_init_fn");
  mark(left_on_cpu, flattened.on_cpu && !is_moved);
  // To the device that is named, or there and back in each forward.
  if (const Value module = call.run.resolve(call.at(0)); is_moved && module.is(Kind::instance))
    lose_devices(call.run, module);
  mark(flat,
      flattens && flattened.is_one_unit && classes && is_left_out("ignored_modules") &&
          is_left_out("ignored_states"));
  return wrapped_init(call);
}
// What lay on the CPU when it was sharded, and was not moved since, is not where it is to be computed with.
Value sharded_forward(Call& call) {
  if (call.self.is(Kind::instance) && kept(call, left_on_cpu)) {
    Flattened now;
    now.add(call.run, kept(call, "module"));
    if (now.on_cpu)
      explain(*call.run.problem(values::ProblemKind::device, call), why<Reason::sharded_on_cpu>());
  }
  return wrapped_forward(call);
}
// One parameter stands for all of them, and its name is none of theirs, but where they are summoned.
Value flat_parameters(Call& call) {
  if (call.self.is(Kind::instance) && kept(call, flat) && !call.run.around()) {
    const auto classes = unit_classes(
        call.run, kept(call, values::WrapperState::auto_wrap_policy), call.place);
    Flattened flattened;
    flattened.classes = classes ? &*classes : nullptr;
    flattened.add(call.run, kept(call, "module"));
    std::vector<Value> named;
    const auto add = [&](const std::string& unit) {
      named.push_back(
          call.run.heap().tuple({call.run.heap().string("_fsdp_wrapped_module." + unit + "_flat_param"),
              call.run.heap().unseen("", call.place)}));
    };
    if (flattened.trained || flattened.frozen) add("");
    for (const std::string& unit : flattened.units) add(unit + "._fsdp_wrapped_module.");
    return call.run.heap().list(std::move(named));
  }
  const Row* usual = call.run.library().find("torch.nn.Module.named_parameters");
  Call inner{call.run, *usual, call.self, call.arguments, call.rest, call.options, call.given, call.spread,
      call.expr, call.node, call.place, call.after};
  return usual->run(inner);
}

// fully_shard(module): in place. Each forward of it gathers, and so does the backward.
Value fully_sharded(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  if (!module.is(Kind::instance)) return module;
  Instance& object = *module.as<Instance>();
  if (const Value mesh = call.run.resolve(argument_named(call, "mesh")); mesh && !mesh.is(Kind::none))
    keep(call.run, object, values::GroupState::group, mesh);
  Instance* marker = call.run.make_native(values::InternalRow::fully_sharded, call.place);
  if (const Value group = kept(call.run, object, values::GroupState::group))
    keep(call.run, *marker, values::GroupState::group, group);
  keep(call.run, *marker, held_back, no_sync(call));
  keep(call.run, *marker, values::WrapperState::wrapped, module);
  keep(call.run, object, values::WrapperState::sharded, Value::of(Kind::instance, marker));
  if (const Value policy = call.run.resolve(argument_named(call, "mp_policy"));
      policy && !policy.is(Kind::none))
    keep(call.run, *marker, mixed_precision, policy);
  for (const auto& [hooks, hook] :
      {std::pair{values::ModuleState::pre_hooks, values::InternalRow::before_sharded},
          std::pair{values::ModuleState::hooks, values::InternalRow::after_sharded}}) {
    const Value present = kept(call.run, object, hooks);
    std::vector<Value> items;
    if (present.is(Kind::list)) items = values::Heap::list_state(present)->items;
    items.push_back(call.run.library_symbol(hook));
    keep(call.run, object, hooks, call.run.heap().list(std::move(items)));
  }
  return module;
}
Value before_sharded(Call& call) {
  if (const Value given = call.run.resolve(call.at(1)); given.is(Kind::tuple))
    table().hand_on(call.run, given.as<values::Tuple>()->items);
  if (const Value module = call.run.resolve(call.at(0)); module.is(Kind::instance))
    call.arguments[2] = kept(call.run, *module.as<Instance>(), values::GroupState::group);
  return Value::none();
}
Value after_sharded(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  if (!module.is(Kind::instance)) return Value::none();
  if (const Value marker = kept(call.run, *module.as<Instance>(), values::WrapperState::sharded);
      marker.is(Kind::instance)) {
    const Value results = in_precision(call, *marker.as<Instance>(), call.at(2));
    carries_backward(call, results, *marker.as<Instance>());
    return results;
  }
  return Value::none();
}
// Of a module that was not sharded there is nothing to gather.
Value unshard(Call& call) {
  call.arguments.back() = call.run.heap().boolean(
      call.self.is(Kind::instance) && kept(call, values::WrapperState::sharded).is(Kind::instance));
  return call.run.heap().unseen("handle", call.place);
}
Value state_dict(Call& call) {
  return call.run.heap().dict({}, true, call.run.heap().unknown("", Sharing::uniform, call.place));
}

constexpr std::string_view gathers_layers = "the parameters of each layer are gathered from all ranks";

const CollectiveInfo backward_of_sharded = {.name = "the backward of a fully sharded module",
    .hidden = true,
    .because = "it gathers the parameters and scatters the gradients"};

constexpr Hidden hidden_sharded[] = {
    {"torch.distributed.fsdp.FullyShardedDataParallel",
        "module, process_group=None, sharding_strategy=None, cpu_offload=None, auto_wrap_policy=None, backward_prefetch=None, mixed_precision=None, ignored_modules=None, param_init_fn=None, "
        "device_id=None, sync_module_states=False, forward_prefetch=False, limit_all_gathers=True, use_orig_params=False, ignored_states=None, device_mesh=None, **options",
        sharded_init,
        {.name = "FullyShardedDataParallel",
            .group = 1,
            .hidden = true,
            .because = "wrapping shards the parameters among the ranks"},
        RowKind::class_, Operation::collective, "torch.nn.Module", &backward_of_fsdp},
    {"torch.distributed.fsdp.FullyShardedDataParallel.forward", "*arguments, **options", sharded_forward,
        {.name = "the forward of an FSDP module",
            .hidden = true,
            .because = "each layer's parameters are gathered from all ranks"}},
    {"torch.distributed.fsdp.FullyShardedDataParallel.state_dict", "*arguments, **options", state_dict,
        {.name = "`state_dict` of an FSDP module", .hidden = true, .because = sharded_state}},
    {"torch.distributed.fsdp.FullyShardedDataParallel.clip_grad_norm_", "max_norm, norm_type=2.0", uniform,
        {.name = "`clip_grad_norm_` of an FSDP module",
            .hidden = true,
            .because = "the norm is summed over the shards of all ranks"}},
    {"torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params", "module=None, *more, **options",
        context, {.name = "summon_full_params", .hidden = true, .because = sharded_state}},
    {"torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict", "*arguments, **options", state_dict,
        {.name = "`optim_state_dict` of FSDP", .hidden = true, .because = sharded_state}},
    {"torch.distributed.fsdp.FullyShardedDataParallel.full_optim_state_dict", "*arguments, **options",
        state_dict, {.name = "FSDP full_optim_state_dict", .hidden = true, .because = sharded_state}},

    {values::InternalRow::before_sharded, "module, given, group=None", before_sharded,
        {.name = "the forward of a fully sharded module",
            .group = 2,
            .hidden = true,
            .because = gathers_layers},
        RowKind::function},
    {"torch.nn.Module.unshard", "async_op=False, sharded=False", unshard,
        {.name = "unshard",
            .hidden = true,
            .because = "the parameters are gathered from all ranks",
            .only_if = 1}},
};

}  // namespace

std::vector<Row> sharded_module_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row(values::InternalRow::fully_sharded, class_, "", nullptr),
      row(values::InternalRow::after_sharded, function, "module, given, results", after_sharded),
      row("torch.distributed.fsdp.fully_shard", function,
          "module, *more, mesh=None, reshard_after_forward=None, shard_placement_fn=None, mp_policy=None, offload_policy=None, ignored_params=None, **options",
          fully_sharded, {}, Operation::sharded),
      wrap_policy_row(),
      row("torch.distributed.fsdp.MixedPrecision", class_, "**options", keep_options),
      row("torch.distributed.fsdp.MixedPrecisionPolicy", class_, "**options", keep_options),
      row("torch.distributed.fsdp.FullyShardedDataParallel.named_parameters", method,
          "prefix='', recurse=True, remove_duplicate=True", flat_parameters),
      row("torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type", method, "*arguments, **options",
          context),
      row("torch.distributed.fsdp.FullyShardedDataParallel.no_sync", method, "", unsharded_gradients),
  };
  rows.front().backward = &backward_of_sharded;
  add_hidden(rows, hidden_sharded);
  return rows;
}

}  // namespace stepzero::libraries
