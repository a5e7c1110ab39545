// Loops of which one iteration was walked for any number of them: do the ranks make as many, in the same
// order?
#pragma once

#include "rules/ranks/job_view.hpp"

namespace stepzero::rules {

// Ranks that make different numbers of iterations, and so enter a collective a different number of times in
// all.
bool uneven(const JobView& view, Mismatch& mismatch);
// The same, where that follows from sizes that are not known: "where len(files) is 3…".
bool uneven_for_some(const JobView& view, Mismatch& mismatch);
// A loop with communication whose number of iterations each rank's data decide.
bool by_own_data(const JobView& view, Mismatch& mismatch);
// … which items of a loop of any number of iterations a rank takes depends on what they are: `int(name) %
// world
// == rank`.
bool dealt_by_data(const JobView& view, Mismatch& mismatch);
// Ranks that leave a loop of any number of iterations by data of their own, where the others go on to the
// next iteration.
bool left_by_own_data(const JobView& view, Mismatch& mismatch);
// … by their numbers: `if rank == 0: break` after the collective.
bool left_by_rank(const JobView& view, Mismatch& mismatch);
// Iterations that communicate, in an order that differs from process to process.
bool unordered(const JobView& view, Mismatch& mismatch);

// Does a rank enter a collective a number of times more than another, whatever the number of iterations is
// that both make of the same loops?
bool never_as_often(const JobRun& world);

// Have both ranks gone through as many iterations of the loop, whatever their number, and communicated in
// them?
bool both_went_through(const RankTrace& mine, const RankTrace& theirs, const Iteration& iteration);

}  // namespace stepzero::rules
