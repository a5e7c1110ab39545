// What classes of libraries are to rules, beside the operations that are recorded of their objects.
#pragma once

#include "interpreter/library.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepzero::libraries {

enum class ClassRole : std::uint8_t {
  none,
  layers,         // a module that holds others in a row
  layer_list,     // … and runs none of them
  layer_dict,     // … by names
  layer_stack,    // one that makes so many equal ones
  attention,      // a layer of attention, which takes masks
  drops,          // a layer that leaves out numbers at random
  samples,        // a data set: its length is the number of its samples
  stream,         // a data set without a length
  store,          // of keys that the processes share
  shards_model,   // a wrapper that leaves each process a part of the parameters
  scaler,         // of gradients, that looks at those of its own process only
  shared_scaler,  // … at those of all
  finds_anomaly,  // while it is on, every backward looks for the operator that made a NaN
};
// Of the class or of the nearest one that it derives from; of none (null) nothing.
ClassRole role_of(const values::LibrarySymbol* cls);

// What the learning rate of a schedule does beyond the number of steps that it is made for.
struct ScheduleInfo {
  std::string_view period = {};  // the parameter that says after how many steps it comes back up
  bool stays_at_zero = false;
  bool rises_again = false;
};
ScheduleInfo schedule_info(const values::Row& made);

// Of a wrapper's strategy of sharding: does each process keep all gradients? Unknown of what is no member of
// it.
symbolic::Answer keeps_gradients(values::Value strategy);

// The name of a backend of process groups that takes tensors on GPUs alone, "NCCL", by the argument that asks
// for it; empty of others.
std::string_view backend_of_gpus(values::Value backend);

// What a member of ReduceOp does with the parts of the ranks: "SUM"; empty of anything else.
std::string_view reduction_of(values::Value operation);
// … and what is done where none is given.
constexpr std::string_view usual_reduction = "SUM";

// The name under which the record has the condition that there is a process group.
constexpr std::string_view group_condition = "torch.distributed.is_initialized";

// What a call that clips gradients looks at.
enum class Clipping : std::uint8_t {
  none,
  own_norm,     // the norm of the gradients that lie in this process
  shared_norm,  // the norm of those of all processes that hold a part of them
};
Clipping clipping_of(const values::Row& row);

// A call that runs a step of a pipeline, the backward included.
bool steps_pipeline(const values::Row& row);

// What a call of a framework, or what makes its group of processes, is to rules about that framework.
enum class FrameworkCall : std::uint8_t {
  none,
  makes_group,  // the default group of processes
  makes_accelerator,
  accumulates,    // of Accelerate: the region of one of several batches that a step is made of
  fits,           // of Lightning's Trainer
  makes_trainer,  // of transformers
  makes_engine,   // of DeepSpeed, as are the following
  engine_backward,
  engine_step,
  engine_clears,
  engine_saves_whole,
  gathers_parameters,
};
FrameworkCall framework_call(const values::Row& row);
inline auto is_call(FrameworkCall asked) {
  return [asked](const values::Row& row) { return framework_call(row) == asked; };
}

// Classes of packages whose wrappers may shard a model, as their configuration says.
bool may_shard(const values::LibrarySymbol* cls);

// All names in the tables, for the test that holds them against the rows.
std::vector<std::string_view> names_with_roles();

// The attribute of tensors that says whether they lie on the accelerator.
constexpr std::string_view on_accelerator = "is_cuda";

}  // namespace stepzero::libraries
