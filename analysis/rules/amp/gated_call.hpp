// A call of a scaler at every micro-batch whose step is made only now and then, as a finding: what
// amp/double-unscale and amp/update-order have in common.
#pragma once

#include "rules/rule.hpp"
#include "rules/training/gated.hpp"

#include <string_view>

namespace stepzero::rules {

// "`scaler.update()` is called for every micro-batch, but the step runs only if `…`: without a step it raises
// …". Null where nothing is told.
Finding* report_gated(const Record& record, Report& report, Once& once, const Gated& gated,
    std::string_view method, std::string_view what_runs, std::string_view consequence);

}  // namespace stepzero::rules
