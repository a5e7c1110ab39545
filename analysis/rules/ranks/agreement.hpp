// Ranks that meet in a collective: do they agree in its root, its group and the tensors?
#pragma once

#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/job_view.hpp"

namespace stepzero::rules {

// Is there a collective in which they do not? Of ranks that stop (`stops`) only those in front are looked at
// that all ranks make at the same place.
bool unequal(const JobView& view, Mismatch& mismatch, bool stops);

// Ranks that meet in the same collectives with their tensors swapped, or with other operations: what comes
// out is a mixture.
bool mixed(const JobView& view, Mismatch& mismatch);

// A root that each rank computes by data of its own.
bool root_of_own_data(const JobView& view, Mismatch& mismatch);

// Ranks that call a collective of a group that they are not in: nothing happens there but a warning.
bool outsiders(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch);

}  // namespace stepzero::rules
