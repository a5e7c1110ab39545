// What autocast makes of the type of a result.
#pragma once

#include "libraries/table/op.hpp"

namespace stepzero::libraries {

// The dtype of a result that is `plain` outside of autocast. Unknown where the region, the device of the
// operands, or what autocast does with the operator is not known.
Dtype under_autocast(const Op& op, Dtype plain);

}  // namespace stepzero::libraries
