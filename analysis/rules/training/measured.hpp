// Lengths and sizes of gradients that a program reads. Knows no rule.
#pragma once

#include "rules/report.hpp"

namespace stepzero::rules {

// Is the value that comes to the CPU there a length, a mean or the largest of gradients as they are? Not of
// what was divided by something since.
bool measures_gradients(const Record& record, const OperationEvent& read);

}  // namespace stepzero::rules
