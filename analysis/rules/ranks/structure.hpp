// Collectives that stand out in the text where the ranks could not be compared: too many ways, or unseen code
// that may communicate. Told as a warning: as far as is seen.
#pragma once

#include "rules/ranks/comparison.hpp"

namespace stepzero::rules {

// What only some ranks enter, under a guard by the rank, and ways out that only some take before what the
// others enter. Empty where ranks take parts of their own, as a leader and its workers do.
// `got_past`: is it known of a place that ranks that come to it go on?
std::vector<Mismatch> standing_out(
    const Record& record, const interpreter::Root& root, const std::function<bool(Place)>& got_past);

}  // namespace stepzero::rules
