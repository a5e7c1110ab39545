// Runs the analysis over a program of a case and says what differs from what the case expects.
#pragma once

#include "markdown.hpp"

#include <map>
#include <set>
#include <string>

namespace stepzero::cases {

// What is put into the program instead of being held against it.
struct Writing {
  bool fixes = false;    // the texts of after-fix fences that differ, by what the fixes give
  bool reveals = false;  // of a silent program without a reveal: File::could_reveal
};

// One line for each thing that is not as expected; empty: all is well.
std::vector<std::string> judge(Program& program, const Writing& writing);

// Every message that was found so far, by its rule and severity: of those that differ only in code and
// numbers the first one.
const std::map<std::string, std::map<std::string, std::string>>& messages();

}  // namespace stepzero::cases
