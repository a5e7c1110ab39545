// Why a world stops: what one rank enters that another does not, and the guard, the way out, the loop or the
// handler by which they part.
#pragma once

#include "rules/deadlock/collective_simulator.hpp"
#include "rules/deadlock/job_view.hpp"

namespace stepzero::rules {

// Answers whether the cause is known for certain to be the program's, and tells it.
bool explain(const JobView& story, const CollectiveSimulator& player, const Stop& stop, Mismatch& mismatch);

}  // namespace stepzero::rules
