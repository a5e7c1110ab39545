// What a step takes besides the GPU's memory for the model and the graph: what it communicates, the batches
// that workers hold ready, and the caches that generation fills.
#pragma once

#include "footprint/account.hpp"

namespace stepzero::footprint {

// Of a step: bytes that one rank has in the collectives of an iteration, those of wrappers with them.
Bytes moved_in(const Account& account, const StepAccount& step);

// What the workers of the loader that the step's loop reads hold ready, in the memory of the host.
struct InFlight {
  std::int64_t workers = 0, each = 0;  // batches
  bool pinned = false;
  Amount batch;
};
std::optional<InFlight> in_flight(const Account& account, const StepAccount& step);

// Tensors without a history to which each round of a loop appends: keys and values of what was generated.
struct Cache {
  values::Place place;  // of the name that has them, in the record that is shown
  Amount amount;        // after the last round
};
std::vector<Cache> caches(const Account& account);

}  // namespace stepzero::footprint
