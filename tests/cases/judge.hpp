// Runs the analysis over a program of a case and says what differs from what the case expects.
#pragma once

#include "markdown.hpp"

#include <map>
#include <set>
#include <string>

namespace stepzero::cases {

// One line for each thing that is not as expected; empty: all is well. With `write`, the texts of after-fix
// fences that differ are replaced in the program by what the fixes give, and nothing is said of them.
std::vector<std::string> judge(Program& program, bool write = false);

// Every message that was found so far, by its rule and severity: of those that differ only in code and
// numbers the first one.
const std::map<std::string, std::map<std::string, std::string>>& messages();

}  // namespace stepzero::cases
