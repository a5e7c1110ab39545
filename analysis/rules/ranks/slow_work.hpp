// Long work of some ranks while the others wait for them. Knows no rule.
#pragma once

#include "rules/ranks/job_view.hpp"

namespace stepzero::rules {

// Collectives that ranks wait in longer than their group's time limit, because others work.
std::vector<Mismatch> slow_ranks(const JobView& view);

}  // namespace stepzero::rules
