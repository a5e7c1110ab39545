// Where a program shards its modules: FullyShardedDataParallel(module), and fully_shard(module) in place.
// Says nothing to the user.
#pragma once

#include "rules/training/training.hpp"

#include <vector>

namespace stepzero::rules::fsdp {

struct Wrap {
  const OperationEvent* event = nullptr;
  std::vector<Turn> turns;  // branches around it
  bool in_place = false;    // fully_shard
  bool in_attempt = false;  // its failure may be caught
  Value module;             // as it is handed over
  // An argument, or its default.
  Value option(std::string_view name) const;
  bool leaves_out(std::string_view name) const;  // it is not given for certain, or is None
  bool is_false(const Record& record, std::string_view name) const;  // left out, or False
};

// In order.
const std::vector<Wrap>& wraps_in(const Record& record, const interpreter::Root& root);
// Those of a training root.
std::vector<Wrap> wraps_in(const TrainingRoot& training_root);
// The module whose parameters a value is, such as `model.parameters()`; absent if it is none.
Value module_of_parameters(Value parameters);
// " where fsdp", of the branches that only the wrap stands in.
std::string condition_of(const Record& record, const Wrap& wrap, const std::vector<Turn>& around);

}  // namespace stepzero::rules::fsdp
