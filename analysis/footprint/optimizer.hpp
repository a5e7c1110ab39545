// What optimizers keep for each parameter, by their class and its settings.
#pragma once

#include "footprint/footprint.hpp"
#include "footprint/modules.hpp"

namespace stepzero::footprint {

// How many bytes a number of an optimizer's state has: those of the parameter's type; those of float32; one,
// with something for each block of numbers; what is left of a number, of whole blocks; or the first copy has
// one number for each row and one for each column of a matrix.
enum class Width : std::uint8_t { of_parameter, float32, byte, of_block, factored };

struct Optimizer {
  const interpreter::OperationEvent* made = nullptr;
  std::string type;                   // "AdamW"
  std::vector<Held> tensors;          // that it was given
  std::vector<Held> steps;            // of them, those that one process steps
  bool divided = false;               // among processes
  bool complete = true;               // no others
  Bytes state;                        // after the first step, of those that have a gradient
  Bytes temporary;                    // while it steps
  bool known = true;                  // its class
  bool by_engine = false;             // DeepSpeed's, which holds buckets beside it
  int copies = 0, counters = 0;       // for each number of a parameter, and for each parameter
  Width width = Width::of_parameter;  // of the copies
  std::int64_t block = 0;             // numbers of one, where the program says so
};
// What it keeps for a parameter that it steps.
Bytes state_bytes(const Record& record, const Optimizer& optimizer, const Held& held);
// `locals`: what one process has of tensors that are divided. `reach`: what has a gradient; null: all that
// requires one.
Optimizer optimizer_of(const Record& record, const interpreter::OperationEvent& made,
    const Options& options = {}, const std::unordered_map<const values::Tensor*, Shape>& locals = {},
    const Reach* reach = nullptr);

}  // namespace stepzero::footprint
