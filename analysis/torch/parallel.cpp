// What wraps modules and optimizers and communicates out of sight: DDP, FSDP, ZeRO, Join, distributed checkpoints. Semantics as in
// the documentation of torch.nn.parallel, torch.distributed.fsdp, .optim, .algorithms and .checkpoint.
#include "torch/native.hpp"

#include <deque>

namespace stepzero::torch {

namespace {

// Makes `module` the wrapped one. The group, and what is set against the usual, stay with it.
Value wrapped_init(Call& call) {
  call.run.set_attribute(call.self, Name("module"), call.at(0));
  // What its state_dict() puts in front of each name.
  if (call.row.path.starts_with("torch.nn.parallel.")) keep(call, "$prefix", call.run.heap().string("module."));
  if (call.row.collective && call.row.collective->group >= 0)
    if (const Value group = call.run.resolve(call.at(static_cast<std::size_t>(call.row.collective->group))); group && !group.is(Kind::none)) keep(call, "$group", group);
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i)
    if (call.row.parameters[i].text() == "broadcast_buffers" && call.given[i] && call.run.symbols().decide(call.run.truth(call.at(i))) != Answer::yes)
      keep(call, "$keeps_buffers", call.run.heap().boolean(true));
  return {};
}

// What the results were computed by.
void carries(Interpreter& run, Value value, const Instance& wrapper, int depth = 0) {
  value = run.resolve(value);
  if (depth > 2) return;
  switch (value.kind) {
  case Kind::tensor: {
    TensorState state = *value.as<Tensor>()->now();
    if (std::find(state.graph.begin(), state.graph.end(), &wrapper) != state.graph.end()) return;
    state.graph.insert(state.graph.begin(), &wrapper);
    set_state(run, value, state);
    return;
  }
  case Kind::tuple:
    for (const Value& item : value.as<values::Tuple>()->items) carries(run, item, wrapper, depth + 1);
    return;
  case Kind::list:
    for (const Value& item : std::vector<Value>(values::Heap::list_state(value)->items)) carries(run, item, wrapper, depth + 1);
    return;
  case Kind::dict:
    for (const auto& [key, item] : std::vector<std::pair<Value, Value>>(values::Heap::dict_state(value)->items)) carries(run, item, wrapper, depth + 1);
    return;
  default: return;
  }
}

// Is the backward of this forward one that all ranks take part in? Inside managers that are not known it is not said to be.
bool synchronises(Call& call, const Instance& wrapper) {
  for (const interpreter::Around* around = call.run.around(); around; around = around->outer) {
    if (!around->manager.is(Kind::instance)) return false;
    const auto& manager = *around->manager.as<Instance>();
    const Row* row = manager.native ? manager.native->row : nullptr;
    if (!row) return false;
    if (row->covers == values::Covers::join) return false;
    if (row->covers == values::Covers::no_sync && kept(call.run, manager, "$module").object() == &wrapper) return false;
  }
  return true;
}

Value wrapped_forward(Call& call) {
  interpreter::Arguments arguments;
  for (const Value& argument : call.arguments)
    if (argument) arguments.positional.push_back(argument);
  arguments.positional.insert(arguments.positional.end(), call.rest.begin(), call.rest.end());
  arguments.keywords = call.options;
  arguments.spread = call.spread;
  // Wrappers move what they are given to the devices of their modules.
  for (const Value& argument : arguments.positional)
    if (const TensorState* state = tensor_state(call.run, argument); state && state->device) {
      TensorState moved = *state;
      moved.device = nullptr;
      set_state(call.run, argument, moved);
    }
  const Value module = call.run.attribute(call.self, Name("module"), call.place);
  const Value results = call.run.call(module, std::move(arguments), call.place, call.expr);
  if (call.self.is(Kind::instance)) {
    const Instance& wrapper = object(call);
    if (wrapper.native && wrapper.native->row && wrapper.native->row->backward && synchronises(call, wrapper)) carries(call.run, results, wrapper);
  }
  return results;
}
Value state_dict(Call& call) {
  return call.run.heap().dict({}, true, call.run.heap().unknown("", Sharing::uniform, call.place));
}
Value no_sync(Call& call) {
  Instance* made = call.run.make_native("$no_sync", call.place);
  keep(call.run, *made, "$module", call.self);
  return Value::of(Kind::instance, made);
}
Value join(Call& call) { return Value::of(Kind::instance, call.run.make_native("$join", call.place)); }

struct Hidden {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  CollectiveInfo info;
  RowKind kind = RowKind::method;
  std::string_view base = {};
  Operation operation = Operation::collective;
  const CollectiveInfo* backward = nullptr;
};

constexpr std::string_view sharded_state = "the shards of all ranks are gathered to build the state";
constexpr std::string_view one_plan = "the ranks agree on who writes or reads what";

const std::deque<Hidden>& hidden() {
  static const CollectiveInfo backward_of_ddp = {.name = "the backward of a DDP module", .hidden = true, .because = "it averages the gradients of all ranks"};
  static const CollectiveInfo backward_of_fsdp = {.name = "the backward of an FSDP module", .hidden = true, .because = "it gathers the parameters and scatters the gradients"};
  static const std::deque<Hidden> list = {
      {"torch.nn.parallel.DistributedDataParallel",
       "module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, process_group=None, *, find_unused_parameters=False, **options", wrapped_init,
       {.name = "DistributedDataParallel", .group = 5, .hidden = true, .because = "wrapping compares and broadcasts the parameters among the ranks"}, RowKind::class_, "torch.nn.Module",
       Operation::collective, &backward_of_ddp},
      {"torch.nn.parallel.DistributedDataParallel.forward", "*arguments, **options", wrapped_forward,
       {.name = "the forward of a DDP module", .when = values::When::with_buffers, .joins = true}, RowKind::method, {}, Operation::parallel_forward},

      {"torch.distributed.fsdp.FullyShardedDataParallel", "module, process_group=None, *more, **options", wrapped_init,
       {.name = "FullyShardedDataParallel", .group = 1, .hidden = true, .because = "wrapping shards the parameters among the ranks"}, RowKind::class_, "torch.nn.Module", Operation::collective, &backward_of_fsdp},
      {"torch.distributed.fsdp.FullyShardedDataParallel.forward", "*arguments, **options", wrapped_forward,
       {.name = "the forward of an FSDP module", .hidden = true, .because = "each layer's parameters are gathered from all ranks"}},
      {"torch.distributed.fsdp.FullyShardedDataParallel.state_dict", "*arguments, **options", state_dict, {.name = "FSDP state_dict", .hidden = true, .because = sharded_state}},
      {"torch.distributed.fsdp.FullyShardedDataParallel.clip_grad_norm_", "max_norm, norm_type=2.0", uniform,
       {.name = "FSDP clip_grad_norm_", .hidden = true, .because = "the norm is summed over the shards of all ranks"}},
      {"torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params", "module=None, *more, **options", context, {.name = "summon_full_params", .hidden = true, .because = sharded_state}},
      {"torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict", "*arguments, **options", state_dict, {.name = "FSDP optim_state_dict", .hidden = true, .because = sharded_state}},
      {"torch.distributed.fsdp.FullyShardedDataParallel.full_optim_state_dict", "*arguments, **options", state_dict, {.name = "FSDP full_optim_state_dict", .hidden = true, .because = sharded_state}},

      {"torch.distributed.optim.ZeroRedundancyOptimizer.consolidate_state_dict", "to=0", nothing,
       {.name = "consolidate_state_dict", .hidden = true, .because = "every rank sends its part of the optimizer's state"}},

      {"torch.distributed.checkpoint.save", "state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, no_dist=False, **options", nothing,
       {.name = "torch.distributed.checkpoint.save", .group = 4, .hidden = true, .because = one_plan, .local = 5}, RowKind::function},
      {"torch.distributed.checkpoint.load", "state_dict, *, checkpoint_id=None, storage_reader=None, planner=None, process_group=None, no_dist=False, **options", nothing,
       {.name = "torch.distributed.checkpoint.load", .group = 4, .hidden = true, .because = one_plan, .local = 5}, RowKind::function},
      {"torch.distributed.checkpoint.async_save", "state_dict, *, checkpoint_id=None, storage_writer=None, planner=None, process_group=None, **options", unknown_of,
       {.name = "torch.distributed.checkpoint.async_save", .group = 4, .hidden = true, .because = one_plan}, RowKind::function},
  };
  return list;
}

} // namespace

std::vector<Row> parallel_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("$no_sync", class_, "", nullptr, "torch.context"),
      row("$join", class_, "", nullptr, "torch.context"),
      row("torch.nn.parallel.DistributedDataParallel.no_sync", method, "", no_sync),
      row("torch.nn.parallel.DistributedDataParallel.join", method, "*arguments, **options", join),
      row("torch.distributed.algorithms.join.Join", function, "joinables, *more, **options", join),
      row("torch.distributed.algorithms.Join", function, "joinables, *more, **options", join),
      row("torch.nn.parallel.DataParallel", class_, "module, *more, **options", wrapped_init, "torch.nn.Module"),
      row("torch.nn.parallel.DataParallel.forward", method, "*arguments, **options", wrapped_forward),
      row("torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type", method, "*arguments, **options", context),
  };
  rows[0].covers = values::Covers::no_sync;
  rows[1].covers = values::Covers::join;
  for (const Hidden& call : hidden()) {
    Row made = row(call.path, call.kind, call.signature, call.run, call.base, call.operation);
    made.collective = &call.info;
    made.backward = call.backward;
    rows.push_back(made);
  }
  return rows;
}

} // namespace stepzero::torch
