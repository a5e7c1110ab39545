// Why nothing is said of a line, for who works on the engine: which runs come to it and how, where they end
// before it, and what keeps the rules from judging it. Tells what the record and the rules' own models know;
// finds nothing.
#pragma once

#include "snapshot/rank_results.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace stepzero::snapshot {

// `line` counts from 1. One sentence each.
std::vector<std::string> why_silent(const RankResults& ranks, std::uint32_t line);

}  // namespace stepzero::snapshot
