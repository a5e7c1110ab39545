// Every rule there is.
#pragma once

#include "rules/rule.hpp"

namespace stepzero::rules {

extern const Rule rank_guarded_collective;
extern const Rule unscaled_step;
extern const Rule broadcast;
extern const Rule matmul;
extern const Rule layer_input;

} // namespace stepzero::rules
