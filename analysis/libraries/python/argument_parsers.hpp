// argparse: what a parser knows of its arguments, and the namespace that it gives.
#pragma once

#include "libraries/table/native.hpp"

namespace stepzero::libraries {

std::vector<Row> argument_parser_rows();

}  // namespace stepzero::libraries
