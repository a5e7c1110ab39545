// `check --statistics`: where the time went, by file, and how many launches are known. Knows no findings.
#pragma once

#include "server/command_line/checker.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

// A table of the files that took longest, under the sums of all. `names` are those of the results, as they
// are shown.
std::string statistics(const std::vector<std::string>& names, const std::vector<Checked>& results);
// One line of the launches that scripts hold; empty without any.
std::string statistics(const snapshot::LaunchCounts& launches);

}  // namespace stepzero::server
