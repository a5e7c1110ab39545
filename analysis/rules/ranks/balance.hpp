// Branches on which nothing depends of what is compared: whichever side all ranks take together, all enter
// the same.
#pragma once

#include "rules/ranks/runs.hpp"

namespace stepzero::rules {

// Their sites. `agreed`: see granted_agreement. One block for each rank, of the same root.
std::unordered_set<int> balanced_branches(Runs& runs, const std::vector<RankRun*>& ranks,
    const std::vector<const interpreter::Block*>& blocks, bool agreed);

// Is it a question to code that is not seen that ranks may answer alike: one that does not ask who they are?
// `text`: how the program asks.
bool may_be_agreed_on(const Record& record, values::Cond condition, std::string_view text);

// Does the block end in an exception that says that something is wrong, whatever is not known?
bool dies(const interpreter::Block& block);

}  // namespace stepzero::rules
