// What most rules of the family do: report what the comparison of the ranks found of one cause.
#pragma once

#include "rules/ranks/comparison.hpp"
#include "rules/report.hpp"

#include <vector>

namespace stepzero::rules {

using FixesOf = std::vector<Fix> (*)(const Report& report, const Mismatch& mismatch);

void tell(Report& report, Cause cause, Severity severity, FixesOf fixes = nullptr);

}  // namespace stepzero::rules
