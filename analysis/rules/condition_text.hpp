// Conditions in messages, as the program writes them. Knows no rule.
#pragma once

#include "rules/walk.hpp"

#include <string>

namespace stepzero::rules {

// What the program asks as code, and what is supposed of it in words: "`args.cuda` and the default device is
// the CPU". Empty where a part of it is not known: `? > begin` tells nobody when.
std::string in_words(const interpreter::Record& record, symbolic::Cond condition);
// … of one side of a branch: where a part is not known, the test of its `if` as it is written.
std::string in_words(const interpreter::Record& record, const Turn& turn);

// " when `args.adam`"; empty where that cannot be said.
std::string when_text(const interpreter::Record& record, symbolic::Cond condition);
std::string when_text(const interpreter::Record& record, const Turn& turn);
std::string when_text(
    const interpreter::Record& record, const std::vector<Turn>& turns);  // of those that can be said

}  // namespace stepzero::rules
