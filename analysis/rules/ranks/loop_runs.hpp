// The loops that a rank goes through, by the iterations in which it communicates.
#pragma once

#include "rules/ranks/trace.hpp"

namespace stepzero::rules {

inline bool same_loop(const Iteration& a, const Iteration& b) { return a.site == b.site && a.nth == b.nth; }

// The loop of an iteration, as the rank went through it; null if it did not.
inline const LoopRun* run_of(const RankTrace& trace, const Iteration& iteration) {
  for (const LoopRun& loop : trace.loops)
    if (loop.site == iteration.site && loop.nth == iteration.nth) return &loop;
  return nullptr;
}

}  // namespace stepzero::rules
