// What DeepSpeed's engine leaves one of several processes of a model and of an optimizer: ZeRO 1 to 3.
#pragma once

#include "footprint/optimizer.hpp"
#include "footprint/ranks.hpp"

namespace stepzero::footprint {

// Nullopt: no engine has the model, or it divides nothing. Never exact: it pads, and holds buckets besides.
std::optional<Division> division_by_engine(const Record& record, const Tree& tree, int world);

// The optimizer that an engine steps, from its configuration or given to it: numbers for each number of a
// parameter are float32, and of parameters in half precision there is a float32 copy. False: no engine has
// it.
struct OfEngine {
  std::string type;        // "AdamW"; empty: the configuration names none
  std::int64_t parts = 1;  // among so many processes
  std::int64_t stage = 0;
  bool is_plain = false;  // nothing in its configuration moves or packs the state
};
std::optional<OfEngine> engine_of(const Record& record, const Instance& optimizer, int world);

}  // namespace stepzero::footprint
