// Which lines of a file are no Python, for who tells the user of them.
#pragma once

#include "syntax/document.hpp"

#include <cstdint>
#include <vector>

namespace stepzero::snapshot {

// The first line of each place that cannot be read, in order; zero-based.
std::vector<std::uint32_t> unparsed_lines(const syntax::Module& module);

}  // namespace stepzero::snapshot
