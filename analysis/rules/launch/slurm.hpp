// What the `#SBATCH` lines of a batch file ask for.
#pragma once

#include "documents/document.hpp"

#include <optional>

namespace stepzero::rules::launch {

struct SlurmNumber {
  std::optional<std::int64_t> value;
  syntax::Span where;
};
struct Slurm {
  std::optional<SlurmNumber> nodes, tasks_per_node, tasks;
};
Slurm read_slurm(const documents::Document& document);

} // namespace stepzero::rules::launch
