// What a run found out at each place of its file.
#pragma once

#include "interpreter/record.hpp"
#include "snapshot/snapshot.hpp"

#include <vector>

namespace stepzero::snapshot {

// Adds the facts of the analyzed file, sorted by place: of each what all runs that came there have in common.
void collect_facts(const interpreter::Record& record, std::vector<Fact>& facts);

}  // namespace stepzero::snapshot
