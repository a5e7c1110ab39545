// What one of several processes has of a model: shards, what it gathers of the others, and buckets of
// gradients. As measured with gloo and PyTorch 2.13; of the rank that has the most.
#pragma once

#include "footprint/modules.hpp"

#include <optional>

namespace stepzero::footprint {

struct Division {
  std::string how;  // "DistributedDataParallel", "fully_shard", "FullyShardedDataParallel"
  bool shards = false;
  bool exact = true;  // no setting changes the numbers in a way that is not counted: policies that wrap,
                      // strategies, precisions, meshes
  bool keeps_gradients = false;                // those of the rank, for good
  std::int64_t gradient_parts = 1;             // of which the rank keeps one as soon as it is computed
  int units = 0;                               // that are gathered one by one
  std::int64_t parameters = 0, gradients = 0;  // of the rank, where it shards
  std::int64_t gathered = 0;    // at most at once: the root's own, the unit that runs and the next one
  std::int64_t persistent = 0;  // never given back: small ones of ZeRO-3, beside their shards
  std::int64_t unreduced = 0;   // gradients of the unit whose backward runs
  std::int64_t buckets = 0;     // bytes of DDP's buckets
  int bucket_count = 0;
};

// Of the tree of a model that a wrapper divides among `world` processes; writes to Held::local what that rank
// has of a parameter. Nullopt: nothing divides it, or a size is not known.
std::optional<Division> division_of(const Record& record, Tree& tree, int world);
// Of layers that a plan of tensor parallelism spreads, and of parameters that are DTensors: writes to
// Held::local what the first rank has, which is the most. False: of some nothing says how they are spread.
bool spread_parameters(const Record& record, Tree& tree);
// The parameters that ZeroRedundancyOptimizer leaves to the rank that has the most.
std::vector<std::size_t> zero_part(const Record& record, const std::vector<Held>& parameters, int world);

// Bytes that each rank has in what a wrapper communicates, without the wrapped modules in it. In the
// backward: the gradients that DDP averages; of an FSDP unit what is gathered and the gradients that are
// divided. In the forward: what an FSDP unit gathers. 0: nothing, or not known.
std::int64_t moved_by_backward(const Record& record, const Instance& wrapper);
std::int64_t moved_by_forward(const Record& record, const Instance& wrapper);

}  // namespace stepzero::footprint
