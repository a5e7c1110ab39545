// Ranks that meet in a collective: do they agree in its root, its group and the tensors?
#pragma once

#include "rules/deadlock/story.hpp"

namespace stepzero::rules {

// Is there a collective in which they do not? Of ranks that stop (`stops`) only those in front are looked at that all ranks make
// at the same place.
bool unequal(const Story& story, Mismatch& mismatch, bool stops);

} // namespace stepzero::rules
