// What goes wrong between two ranks that send and receive. Each answers whether it found something, and tells
// it.
#pragma once

#include "rules/ranks/collective_simulator.hpp"
#include "rules/ranks/job_view.hpp"

namespace stepzero::rules {

// A message of a rank to itself.
bool to_itself(const JobView& view, Mismatch& mismatch);
// A receive, or a send that is too large to be buffered, that the other side has no answer to in all that it
// does.
bool never_answered(
    const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch);
// Messages that ranks wait in for each other.
bool explain_messages(
    const JobView& view, const CollectiveSimulator& simulator, const Stop& stop, Mismatch& mismatch);
// A send that nobody takes.
bool never_received(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch);
// A message that is received as another number of elements.
bool other_size(const JobView& view, const CollectiveSimulator& simulator, Mismatch& mismatch);

}  // namespace stepzero::rules
