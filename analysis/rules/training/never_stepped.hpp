// Functions that clear gradients and make a backward pass for an optimizer that nothing in the program steps.
// By the text: of whoever has the object, or calls the function, nothing is known. Knows no rule.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

struct NeverStepped {
  std::string name;      // of the optimizer, as the program calls it
  std::string clearing;  // what clears the gradients: the optimizer, or the model
  const OperationEvent* backward = nullptr;
  Place cleared;
  bool in_loop = false;  // the gradients are cleared in the next round, whatever comes after the loop
};
std::vector<NeverStepped> never_stepped(const Record& record);

}  // namespace stepzero::rules
