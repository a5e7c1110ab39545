// Long work of some ranks while the others wait for them. Knows no rule.
#pragma once

#include "rules/deadlock/story.hpp"

namespace stepzero::rules {

// Collectives that ranks wait in longer than their group's time limit, because others work.
std::vector<Mismatch> slow_ranks(const Story& story);

} // namespace stepzero::rules
