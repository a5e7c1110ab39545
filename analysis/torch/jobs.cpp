#include "torch/jobs.hpp"

namespace stepzero::torch {

std::string_view job_size(const values::Row& row) {
  struct Size {
    std::string_view path, parameters;
  };
  static constexpr Size sizes[] = {
      {"torch.distributed.init_process_group", "world_size"},
      {"pytorch_lightning.Trainer", "devices num_nodes"},
      {"lightning_fabric.Fabric", "devices num_nodes"},
  };
  if (row.operation != values::Operation::group_settings && row.operation != values::Operation::framework) return {};
  for (const Size& each : sizes)
    if (row.path == each.path) return each.parameters;
  return {};
}

} // namespace stepzero::torch
