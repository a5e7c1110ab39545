// What the `#SBATCH` lines of a batch file ask for.
#pragma once

#include "documents/document.hpp"

#include <optional>

namespace stepzero::rules::launch {

struct SlurmNumber {
  std::optional<std::int64_t> value;
  syntax::Span where;   // the line
  syntax::Span digits;  // the number in it
};
struct Slurm {
  std::optional<SlurmNumber> nodes, tasks_per_node, tasks;
  std::optional<SlurmNumber> gpus_per_task;
  std::optional<SlurmNumber> gpus_per_node;  // --gres=gpu:4, --gpus-per-node=4
};
Slurm read_slurm(const documents::Document& document);

}  // namespace stepzero::rules::launch
