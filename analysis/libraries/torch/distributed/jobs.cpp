#include "libraries/torch/distributed/jobs.hpp"

namespace stepzero::libraries {

std::string_view job_size(const values::Row& row) {
  struct Size {
    std::string_view path, parameters;
  };
  static constexpr Size sizes[] = {
      {"torch.distributed.init_process_group", "world_size"},
      {"torch.distributed.device_mesh.init_device_mesh", "*mesh_shape"},
      {"pytorch_lightning.Trainer", "devices num_nodes"},
      {"lightning_fabric.Fabric", "devices num_nodes"},
  };
  const bool makes_job = row.operation == values::Operation::group_settings ||
      row.operation == values::Operation::framework || row.operation == values::Operation::collective;
  if (!makes_job) return {};
  for (const Size& each : sizes)
    if (row.path == each.path) return each.parameters;
  return {};
}

bool is_prepared(const values::Row& row) { return row.path.ends_with(".$Prepared"); }
bool makes_backward(const values::Row& row) { return row.path.ends_with(".backward"); }
bool prepares(const values::Row& row) {
  const std::string_view name = row.path.substr(row.path.rfind('.') + 1);
  return row.kind == values::RowKind::method && row.leaves_loop &&
      (name.starts_with("prepare") || name.starts_with("setup"));
}

}  // namespace stepzero::libraries
