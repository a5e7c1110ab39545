// Why a world stops: what one rank enters that another does not, and the guard, the way out, the loop or the
// handler by which they part.
#pragma once

#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/job_view.hpp"

namespace stepzero::rules {

// Answers whether the cause is known for certain to be the program's, and tells it.
bool explain(const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch);

}  // namespace stepzero::rules
