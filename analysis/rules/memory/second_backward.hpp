// A backward through what an earlier one has freed. Part of memory/retained-graph.
#pragma once

#include "rules/training/training.hpp"

namespace stepzero::rules {

void look_for_freed_graph(const Record& record, Report& report, const Training& training, Once& once);

}  // namespace stepzero::rules
