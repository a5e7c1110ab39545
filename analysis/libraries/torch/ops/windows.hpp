// Windows of signals: torch.signal.windows, and the older functions of torch.
#pragma once

#include "libraries/table/op.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<Row> signal_window_rows();

}  // namespace stepzero::libraries
