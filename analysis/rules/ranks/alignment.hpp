// The collectives of a group that two ranks enter, side by side.
#pragma once

#include "rules/ranks/trace.hpp"

namespace stepzero::rules {

// An communication of one rank that the other has no partner for.
struct Extra {
  bool of_first = true;
  std::size_t comm = 0;    // in the trace of the rank that has it
  std::size_t before = 0;  // in the other's trace: its communications that come before
};

// The collectives of a group, side by side with as few left over as possible; of equal ways, calls at the
// same place go together.
std::vector<Extra> extras(const RankTrace& first, const RankTrace& second, const std::string& group);

}  // namespace stepzero::rules
