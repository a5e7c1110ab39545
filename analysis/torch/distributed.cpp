// torch.distributed: who is who, the collectives, process groups, and the wrappers that communicate (DDP, FSDP). Semantics
// as in the documentation of torch.distributed, torch.nn.parallel and torch.distributed.fsdp.
#include "torch/native.hpp"

#include <deque>

namespace stepzero::torch {

using symbolic::Role;

namespace {

// ---------------------------------------------------------------- who is who

// With a group that is not the default one, a rank is one of that group.
bool default_group(Value group) { return !group || group.is(Kind::none); }

Value get_rank(Call& call) {
  if (default_group(call.run.resolve(call.at(0)))) return Value::of(call.run.role(Role::rank));
  return call.run.heap().external("group rank", call.place);
}
Value get_world_size(Call& call) {
  if (default_group(call.run.resolve(call.at(0)))) return Value::of(call.run.role(Role::world_size));
  return call.run.heap().unknown("group size", Sharing::uniform, call.place);
}
Value is_available(Call& call) { return call.run.heap().boolean(true); }
Value is_initialized(Call& call) { return Value::of(call.run.named_condition(call.row.path, Sharing::uniform)); }
Value unknown_group(Call& call) { return call.run.heap().external("group", call.place); }
Value reduce_op(Call& call) { return call.run.heap().unknown(call.row.path, Sharing::uniform, call.place); }

// ---------------------------------------------------------------- collectives

// The tensor holds the same on every rank afterwards.
void agree(Call& call, Value tensor) {
  tensor = call.run.resolve(tensor);
  const TensorState* state = require_tensor(call.run, tensor);
  if (!state) return;
  TensorState agreed = *state;
  agreed.sharing = Sharing::uniform;
  agreed.external = false;
  agreed.content = nullptr;
  call.run.heap().note_write(state);
  set_state(call.run, tensor, agreed);
}
void agree_list(Call& call, Value list) {
  list = call.run.resolve(list);
  if (!list.is(Kind::list)) return;
  values::ListState state = *values::Heap::list_state(list);
  const auto fresh = [&](Value item) {
    if (tensor_state(call.run, item)) {
      agree(call, item);
      return item;
    }
    return call.run.heap().unknown("", Sharing::uniform, call.place);
  };
  for (Value& item : state.items) item = fresh(item);
  if (state.open) state.rest = fresh(state.rest);
  call.run.heap().set_list(list, std::move(state));
}
void differ_by_rank(Call& call, Value tensor) {
  tensor = call.run.resolve(tensor);
  if (const TensorState* state = require_tensor(call.run, tensor)) {
    TensorState changed = *state;
    changed.sharing = Sharing::local;
    changed.content = nullptr;
    call.run.heap().note_write(state);
    set_state(call.run, tensor, changed);
  }
}
Value handle(Call& call) { return call.run.heap().unknown("", Sharing::uniform, call.place); }

Value first_agrees(Call& call) {
  agree(call, call.at(0));
  return handle(call);
}
Value first_list_agrees(Call& call) {
  agree_list(call, call.at(0));
  return handle(call);
}
Value first_differs(Call& call) {
  differ_by_rank(call, call.at(0));
  return handle(call);
}
Value objects_gathered(Call& call) {
  agree_list(call, call.at(0));
  return Value::none();
}
Value new_group(Call& call) {
  const Value ranks = call.run.resolve(call.at(0));
  if (!ranks || ranks.is(Kind::none)) {
    Instance* group = call.run.make_native("torch.distributed.ProcessGroup", call.place);
    call.run.heap().set(call.run.heap().slot_of(group->attributes, Name("$all")), call.run.heap().boolean(true));
    return Value::of(Kind::instance, group);
  }
  return Value::of(Kind::instance, call.run.make_native("torch.distributed.ProcessGroup", call.place));
}

// ---------------------------------------------------------------- wrappers

Value wrapped_init(Call& call) {
  call.run.set_attribute(call.self, Name("module"), call.at(0));
  return {};
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
  return call.run.call(module, std::move(arguments), call.place, call.expr);
}
Value state_dict(Call& call) {
  return call.run.heap().dict({}, true, call.run.heap().unknown("", Sharing::uniform, call.place));
}

struct Collective {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  CollectiveInfo info;
  RowKind kind = RowKind::function;
  std::string_view base = {};
};

constexpr std::string_view all_make_group = "process groups are made by all ranks together, members or not";
constexpr std::string_view sharded_state = "the shards of all ranks are gathered to build the state";

const std::deque<Collective>& collectives() {
  static const std::deque<Collective> list = {
      {"torch.distributed.barrier", "group=None, async_op=False, device_ids=None", handle, {"barrier", -1, -1, 0}},
      {"torch.distributed.monitored_barrier", "group=None, timeout=None, wait_all_ranks=False", handle, {"monitored_barrier", -1, -1, 0}},
      {"torch.distributed.broadcast", "tensor, src=None, group=None, async_op=False, group_src=None", first_agrees, {"broadcast", 0, 1, 2, true}},
      {"torch.distributed.all_reduce", "tensor, op=None, group=None, async_op=False", first_agrees, {"all_reduce", 0, -1, 2}},
      {"torch.distributed.all_reduce_coalesced", "tensors, op=None, group=None, async_op=False", first_list_agrees, {"all_reduce_coalesced", -1, -1, 2}},
      {"torch.distributed.reduce", "tensor, dst, op=None, group=None, async_op=False", first_differs, {"reduce", 0, 1, 3}},
      {"torch.distributed.all_gather", "tensor_list, tensor, group=None, async_op=False", first_list_agrees, {"all_gather", 1, -1, 2}},
      {"torch.distributed.all_gather_into_tensor", "output_tensor, input_tensor, group=None, async_op=False", first_agrees, {"all_gather_into_tensor", 1, -1, 2}},
      {"torch.distributed.all_gather_object", "object_list, obj, group=None", objects_gathered, {"all_gather_object", -1, -1, 2}},
      {"torch.distributed.gather", "tensor, gather_list=None, dst=0, group=None, async_op=False", handle, {"gather", 0, 2, 3}},
      {"torch.distributed.gather_object", "obj, object_gather_list=None, dst=0, group=None", handle, {"gather_object", -1, 2, 3}},
      {"torch.distributed.scatter", "tensor, scatter_list=None, src=0, group=None, async_op=False", first_differs, {"scatter", 0, 2, 3}},
      {"torch.distributed.scatter_object_list", "scatter_object_output_list, scatter_object_input_list, src=0, group=None", handle, {"scatter_object_list", -1, 2, 3}},
      {"torch.distributed.reduce_scatter", "output, input_list, op=None, group=None, async_op=False", first_differs, {"reduce_scatter", 0, -1, 3}},
      {"torch.distributed.reduce_scatter_tensor", "output, input, op=None, group=None, async_op=False", first_differs, {"reduce_scatter_tensor", 0, -1, 3}},
      {"torch.distributed.all_to_all", "output_tensor_list, input_tensor_list, group=None, async_op=False", handle, {"all_to_all", -1, -1, 2}},
      {"torch.distributed.all_to_all_single", "output, input, output_split_sizes=None, input_split_sizes=None, group=None, async_op=False", first_differs, {"all_to_all_single", 0, -1, 4}},
      {"torch.distributed.broadcast_object_list", "object_list, src=0, group=None, device=None", objects_gathered, {"broadcast_object_list", -1, 1, 2}},

      {"torch.distributed.new_group", "ranks=None, timeout=None, backend=None, pg_options=None, use_local_synchronization=False", new_group,
       {"new_group", -1, -1, -1, false, true, all_make_group}},
      {"torch.distributed.new_subgroups", "group_size=None, group=None, timeout=None, backend=None", handle, {"new_subgroups", -1, -1, -1, false, true, all_make_group}},
      {"torch.distributed.device_mesh.init_device_mesh", "device_type, mesh_shape, *, mesh_dim_names=None", unknown_group, {"init_device_mesh", -1, -1, -1, false, true, all_make_group}},
      {"torch.distributed.checkpoint.save", "state_dict, *more, **options", nothing, {"torch.distributed.checkpoint.save", -1, -1, -1, false, true, "each rank writes its shards, and the ranks agree on the plan"}},
      {"torch.distributed.checkpoint.load", "state_dict, *more, **options", nothing, {"torch.distributed.checkpoint.load", -1, -1, -1, false, true, "each rank reads its shards, and the ranks agree on the plan"}},

      {"torch.nn.parallel.DistributedDataParallel", "module, device_ids=None, output_device=None, dim=0, broadcast_buffers=True, process_group=None, *, find_unused_parameters=False, **options",
       wrapped_init, {"DistributedDataParallel", -1, -1, 5, false, true, "wrapping compares and broadcasts the parameters among the ranks"}, RowKind::class_, "torch.nn.Module"},
      {"torch.distributed.fsdp.FullyShardedDataParallel", "module, process_group=None, *more, **options", wrapped_init,
       {"FullyShardedDataParallel", -1, -1, 1, false, true, "wrapping shards the parameters among the ranks"}, RowKind::class_, "torch.nn.Module"},
      {"torch.distributed.fsdp.FullyShardedDataParallel.state_dict", "*arguments, **options", state_dict, {"FSDP state_dict", -1, -1, -1, false, true, sharded_state}, RowKind::method},
      {"torch.distributed.fsdp.FullyShardedDataParallel.forward", "*arguments, **options", wrapped_forward, {"the forward of an FSDP module", -1, -1, -1, false, true, "each layer's parameters are gathered from all ranks"}, RowKind::method},
      {"torch.distributed.fsdp.FullyShardedDataParallel.clip_grad_norm_", "max_norm, norm_type=2.0", handle, {"FSDP clip_grad_norm_", -1, -1, -1, false, true, "the norm is summed over the shards of all ranks"}, RowKind::method},
      {"torch.distributed.fsdp.FullyShardedDataParallel.summon_full_params", "module=None, *more, **options", context, {"summon_full_params", -1, -1, -1, false, true, sharded_state}, RowKind::method},
      {"torch.distributed.fsdp.FullyShardedDataParallel.optim_state_dict", "*arguments, **options", state_dict, {"FSDP optim_state_dict", -1, -1, -1, false, true, sharded_state}, RowKind::method},
      {"torch.distributed.fsdp.FullyShardedDataParallel.full_optim_state_dict", "*arguments, **options", state_dict, {"FSDP full_optim_state_dict", -1, -1, -1, false, true, sharded_state}, RowKind::method},
  };
  return list;
}

} // namespace

std::vector<Row> distributed_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("torch.distributed.get_rank", function, "group=None", get_rank),
      row("torch.distributed.get_world_size", function, "group=None", get_world_size),
      row("torch.distributed.get_node_local_rank", function, "fallback_rank=None", role_value<Role::local_rank>),
      row("torch.distributed.is_available", function, "", is_available),
      row("torch.distributed.is_initialized", function, "", is_initialized),
      row("torch.distributed.init_process_group", function, "backend=None, *more, **options", nothing),
      row("torch.distributed.destroy_process_group", function, "group=None", nothing),
      row("torch.distributed.group.WORLD", constant, "", nothing),
      row("torch.distributed.GroupMember.WORLD", constant, "", nothing),
      row("torch.distributed.ProcessGroup", class_, "*arguments", nullptr),
      row("torch.distributed.ReduceOp.SUM", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.MAX", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.MIN", constant, "", reduce_op),
      row("torch.distributed.ReduceOp.AVG", constant, "", reduce_op),
      row("torch.nn.parallel.DistributedDataParallel.forward", method, "*arguments, **options", wrapped_forward, {}, Operation::parallel_forward),
      row("torch.nn.parallel.DistributedDataParallel.no_sync", method, "", context),
      row("torch.nn.parallel.DistributedDataParallel.join", method, "*arguments, **options", context),
      row("torch.nn.parallel.DataParallel", class_, "module, *more, **options", wrapped_init, "torch.nn.Module"),
      row("torch.nn.parallel.DataParallel.forward", method, "*arguments, **options", wrapped_forward),
      row("torch.distributed.fsdp.FullyShardedDataParallel.state_dict_type", method, "*arguments, **options", context),
      row("torch.multiprocessing.spawn", function, "fn, args=(), nprocs=1, join=True, daemon=False, start_method='spawn'",
          [](Call& call) {
            // Every process runs the function with its rank in front.
            interpreter::Arguments arguments;
            arguments.positional.push_back(Value::of(call.run.role(Role::rank)));
            const Value rest = call.run.resolve(call.at(1));
            if (rest.is(Kind::tuple) || rest.is(Kind::list)) {
              if (const auto items = call.run.elements(rest, call.place)) arguments.positional.insert(arguments.positional.end(), items->begin(), items->end());
              else arguments.spread = true;
            }
            call.run.call(call.at(0), std::move(arguments), call.place);
            return Value::none();
          }),
  };
  for (const Collective& collective : collectives()) {
    Row made = row(collective.path, collective.kind, collective.signature, collective.run, collective.base, Operation::collective);
    made.collective = &collective.info;
    rows.push_back(made);
  }
  return rows;
}

} // namespace stepzero::torch
