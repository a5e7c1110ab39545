// The `dist` modules of mmengine and composer, which wrap torch.distributed. Read in the sources of mmengine
// 0.11 (mmengine/dist) and composer 0.33 (composer/utils/dist.py). That of nanotron 0.4 gives
// torch.distributed itself (`table/homes.cpp`).
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/table/class_roles.hpp"
#include "libraries/table/hidden.hpp"

namespace stepzero::libraries {

namespace {

using symbolic::Role;

// Both have it mean the same: the tensor, and where it comes from.
Value by_torch(Call& call, std::string_view path, bool has_root) {
  interpreter::Arguments arguments;
  if (call.at(0)) arguments.positional.push_back(call.at(0));
  if (has_root) arguments.positional.push_back(call.at(1) ? call.at(1) : call.run.heap().integer(0));
  const Value group = call.at(2);
  if (group) arguments.keywords.emplace_back(Name("group"), group);
  return call.run.call(call.run.library_symbol(path), arguments, call.place);
}
Value reduced(Call& call) { return by_torch(call, "torch.distributed.all_reduce", false); }
Value broadcast(Call& call) { return by_torch(call, "torch.distributed.broadcast", true); }

// (rank, number of processes)
Value rank_and_world(Call& call) {
  return call.run.heap().tuple(
      {Value::of(call.run.role(Role::rank)), Value::of(call.run.role(Role::world_size))});
}
Value initialized(Call& call) {
  return Value::of(call.run.named_condition(group_condition, symbolic::Sharing::uniform));
}

// Makes the default process group, in whatever way the launcher wants it.
Value connected(Call& call) {
  return call.run.call(call.run.library_symbol("torch.distributed.init_process_group"), {}, call.place);
}
// A sampler of each rank's share, which does not shuffle unless it is told to.
Value share(Call& call) {
  interpreter::Arguments arguments;
  arguments.positional.push_back(call.at(0));
  for (std::size_t i = 1; i < call.arguments.size(); ++i)
    if (call.at(i)) arguments.keywords.emplace_back(Name(call.row.parameters[i]), call.at(i));
  if (!call.at(2)) arguments.keywords.emplace_back(Name("shuffle"), call.run.heap().boolean(false));
  return call.run.call(
      call.run.library_symbol("torch.utils.data.distributed.DistributedSampler"), arguments, call.place);
}

constexpr auto function = RowKind::function;
constexpr Hidden dist_hidden[] = {
    {"mmengine.dist.barrier", "group=None", nothing, {.name = "barrier", .group = 0}, function},
    {"mmengine.dist.all_gather", "data, group=None", uniform, {.name = "all_gather", .tensor = 0, .group = 1},
        function},
    {"mmengine.dist.gather", "data, dst=0, group=None", unknown_of,
        {.name = "gather", .tensor = 0, .root = 1, .group = 2}, function},
    {"mmengine.dist.all_gather_object", "data, group=None", uniform,
        {.name = "all_gather_object", .group = 1}, function},
    {"mmengine.dist.gather_object", "data, dst=0, group=None", unknown_of,
        {.name = "gather_object", .root = 1, .group = 2}, function},
    {"mmengine.dist.broadcast_object_list", "data, src=0, group=None", nothing,
        {.name = "broadcast_object_list", .root = 1, .group = 2}, function},
    {"mmengine.dist.sync_random_seed", "group=None", uniform,
        {.name = "sync_random_seed", .group = 0, .hidden = true, .because = "it broadcasts a seed"},
        function},
    {"mmengine.dist.all_reduce_dict", "data, op='sum', group=None", nothing,
        {.name = "all_reduce_dict", .group = 2, .reduces = true}, function},
    {"mmengine.dist.all_reduce_params", "params, coalesce=True, bucket_size_mb=-1, op='sum', group=None",
        nothing, {.name = "all_reduce_params", .group = 4, .reduces = true}, function},
    {"mmengine.dist.collect_results", "results, size, device='cpu', tmpdir=None", unknown_of,
        {.name = "collect_results", .hidden = true, .because = gathers}, function},
    {"mmengine.dist.collect_results_cpu", "result_part, size, tmpdir=None", unknown_of,
        {.name = "collect_results_cpu", .hidden = true, .because = gathers}, function},
    {"mmengine.dist.collect_results_gpu", "result_part, size", unknown_of,
        {.name = "collect_results_gpu", .hidden = true, .because = gathers}, function},
    {"composer.utils.dist.run_local_rank_zero_first", "", context,
        {.name = "run_local_rank_zero_first", .hidden = true, .because = is_barrier}, function},
    {"composer.utils.dist.local_rank_zero_download_and_wait", "expected_file_path", nothing,
        {.name = "local_rank_zero_download_and_wait", .hidden = true, .because = is_barrier}, function},
    {"composer.utils.dist.barrier", "group=None", nothing, {.name = "barrier", .group = 0}, function},
    {"composer.utils.dist.all_gather", "tensor, group=None", uniform,
        {.name = "all_gather", .tensor = 0, .group = 1}, function},
    {"composer.utils.dist.all_gather_object", "obj, group=None", uniform,
        {.name = "all_gather_object", .group = 1}, function},
    {"composer.utils.dist.broadcast_object_list", "object_list, src=0, group=None", nothing,
        {.name = "broadcast_object_list", .root = 1, .group = 2}, function},
};

}  // namespace

std::vector<Row> dist_module_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("mmengine.dist.all_reduce", function, "data, op='sum', group=None", reduced),
      row("mmengine.dist.broadcast", function, "data, src=0, group=None", broadcast),
      row("mmengine.dist.get_rank", function, "group=None", role_value<Role::rank>),
      row("mmengine.dist.get_world_size", function, "group=None", role_value<Role::world_size>),
      row("mmengine.dist.get_local_rank", function, "", role_value<Role::local_rank>),
      row("mmengine.dist.get_dist_info", function, "group=None", rank_and_world),
      row("mmengine.dist.is_main_process", function, "group=None", is_first),
      row("mmengine.dist.is_distributed", function, "", initialized),
      row("mmengine.dist.init_dist", function, "launcher, backend='nccl', init_backend='torch', **options",
          connected),
      row("mmengine.dist.infer_launcher", function, "", uniform),
      row("mmengine.dist.get_default_group", function, "", uniform),
      row("mmengine.dist.get_backend", function, "group=None", uniform),
      row("mmengine.dist.get_local_size", function, "", role_value<Role::local_world_size>),
      row("mmengine.dist.master_only", function, "func", is_first),
      row("composer.utils.dist.all_reduce", function, "tensor, reduce_operation='SUM', group=None", reduced),
      row("composer.utils.dist.broadcast", function, "tensor, src, group=None", broadcast),
      row("composer.utils.dist.get_global_rank", function, "group=None", role_value<Role::rank>),
      row("composer.utils.dist.get_world_size", function, "", role_value<Role::world_size>),
      row("composer.utils.dist.get_local_rank", function, "", role_value<Role::local_rank>),
      row("composer.utils.dist.get_node_rank", function, "", role_value<Role::node_rank>),
      row("composer.utils.dist.get_local_world_size", function, "", role_value<Role::local_world_size>),
      row("composer.utils.dist.is_initialized", function, "", initialized),
      row("composer.utils.dist.initialize_dist", function, "device=None, timeout=300.0", connected),
      row("composer.utils.dist.get_sampler", function,
          "dataset, *, drop_last=False, shuffle=False, num_replicas=None, rank=None, seed=0", share),
  };
  add_hidden(rows, dist_hidden);
  return rows;
}

}  // namespace stepzero::libraries
