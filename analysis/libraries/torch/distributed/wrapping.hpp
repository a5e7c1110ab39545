// Modules that stand in others: DDP, FSDP, and what frameworks prepare.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

// The forward of a module that stands in another, as its attribute `module`: that of the one inside, and what
// its backward communicates.
Value wrapped_forward(Call& call);

}  // namespace stepzero::libraries
