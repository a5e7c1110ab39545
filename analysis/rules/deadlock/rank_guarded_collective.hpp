// What the check of deadlock/rank-guarded-collective hands to its fix.
#pragma once

#include "rules/report.hpp"
#include "rules/walk.hpp"

namespace stepzero::rules {

// A collective that only some ranks enter.
struct Guarded {
  const OperationEvent* event = nullptr;
  const interpreter::BranchEvent* guard = nullptr;
  bool on_yes = true;      // the collective is in the guard's body; else in its else
  std::vector<int> ranks;  // that enter, in a world of four
};

// Edits that let every rank enter; empty where no edit is known to be right.
std::vector<Fix> fixes_for(const Record& record, const Guarded& guarded);

}  // namespace stepzero::rules
