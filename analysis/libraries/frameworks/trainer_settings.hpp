// The arguments that a program gives the Trainer of transformers: made in a call, or read of a file.
#pragma once

#include "libraries/table/native.hpp"

#include <vector>

namespace stepzero::libraries {

std::vector<Row> trainer_setting_rows();

}  // namespace stepzero::libraries
