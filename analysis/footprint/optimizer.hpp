// What optimizers keep for each parameter, by their class and its settings.
#pragma once

#include "footprint/modules.hpp"

namespace stepzero::footprint {

struct Optimizer {
  const interpreter::OperationEvent* made = nullptr;
  std::string type;                              // "AdamW"
  std::vector<Held> tensors;                     // that it was given
  std::vector<Held> steps;                       // of them, those that one process steps
  bool divided = false;                          // among processes
  bool complete = true;                          // no others
  Bytes state;                                   // behind the first step, of those that require a gradient
  Bytes temporary;                               // while it steps
  bool known = true;                             // its class
  // For each number of a parameter, and for each parameter; or a byte for each number, and something for each block of them.
  int copies = 0, counters = 0;
  bool in_bytes = false;
};
// What it keeps for a parameter that it steps.
Bytes state_bytes(const Record& record, const Optimizer& optimizer, const Held& held);
// `locals`: what one process has of tensors that are divided.
Optimizer optimizer_of(const Record& record, const interpreter::OperationEvent& made, const std::unordered_map<const values::Tensor*, Shape>& locals = {}, int world = 1);

} // namespace stepzero::footprint
