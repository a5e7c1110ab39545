// What optimizers keep for each parameter, by their class and its settings.
#pragma once

#include "footprint/modules.hpp"

namespace stepzero::footprint {

struct Optimizer {
  const interpreter::OperationEvent* made = nullptr;
  std::string type;                              // "AdamW"
  std::vector<Held> tensors;                     // that it was given
  bool complete = true;                          // no others
  Bytes state;                                   // behind the first step, of those that require a gradient
  Bytes temporary;                               // while it steps
  bool known = true;                             // its class
};
Optimizer optimizer_of(const Record& record, const interpreter::OperationEvent& made);

} // namespace stepzero::footprint
