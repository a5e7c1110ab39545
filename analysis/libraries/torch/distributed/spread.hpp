// Tensors that are spread over a mesh of ranks, modules that a plan spreads, and pipelines: their rows, and
// what other rows ask of them.
#pragma once

#include "libraries/table/native.hpp"
#include "libraries/table/op.hpp"

namespace stepzero::libraries {

struct Collective {
  std::string_view path;
  std::string_view signature;
  Value (*run)(Call&);
  values::CollectiveInfo info;
  RowKind kind = RowKind::function;
  std::string_view base = {};
};
inline Row row_of(const Collective& collective) {
  Row made = row(collective.path, collective.kind, collective.signature, collective.run, collective.base,
      values::Operation::collective);
  made.collective = &collective.info;
  return made;
}
constexpr std::string_view all_make_group = "process groups are made by all ranks together, members or not";

std::vector<Row> process_group_rows();
std::vector<Row> mesh_rows();
std::vector<Row> spread_rows();
std::vector<Row> plan_rows();
std::vector<Row> pipeline_rows();
std::vector<Row> traced_pipeline_rows();

void refuse_pipeline(Call& call, interpreter::Refusal refusal);
// What a stage is given by another one: it has no history, and its gradient is sent back.
Value received_of_stage(
    Call& call, Shape shape, Dtype dtype, const values::Device* device, bool has_gradient);
// Of the stages that a traced module was cut into, what this one makes of a microbatch; absent: not known.
Value result_of_stage(Call& call, Value pipe, std::size_t at);

// Is it known to be spread? Each rank then has a part of it, or all of it.
bool is_spread(const TensorState& state);
// The shape of this rank's part of a tensor that is spread; unknown sizes where they are not the same on all
// ranks, or not known.
Shape local_shape(Runtime& run, const TensorState& state);
// False, after fail(), where a tensor that is spread meets one that is known not to be.
bool all_spread_or_none(Op& op);
// How many dimensions a mesh has; nullopt: not known.
std::optional<std::size_t> dimensions_of_mesh(Runtime& run, Value mesh);
// The number of ranks of a mesh of one dimension; null if it is not known, or has several.
Int size_of_mesh(Runtime& run, Value mesh);
// A tensor as one that is spread over the mesh: by this placement or, where it is none, along its last
// dimension.
Value spread_along_last(Call& call, Value tensor, Value mesh, Value placement);
// The class of the one placement in a list or by itself: "torch.distributed.tensor.Shard"; empty if it is not
// known, or there are several.
std::string_view only_placement(Runtime& run, Value placements);

}  // namespace stepzero::libraries
