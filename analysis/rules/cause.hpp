// Where what a finding tells goes wrong, if that is in another file than the finding.
#pragma once

#include "rules/finding.hpp"

namespace stepzero::rules {

// A finding stands in the file that was analyzed, at the call that leads to its cause. Null where the cause
// stands there itself.
const Location* cause_of(const Finding& finding);

}  // namespace stepzero::rules
