// The loops that a rank goes through, by the rounds in which it communicates.
#pragma once

#include "rules/ranks/trace.hpp"

namespace stepzero::rules {

inline bool same_loop(const Round& a, const Round& b) { return a.site == b.site && a.nth == b.nth; }

// The loop of a round, as the rank went through it; null if it did not.
inline const LoopRun* run_of(const RankTrace& trace, const Round& round) {
  for (const LoopRun& loop : trace.loops)
    if (loop.site == round.site && loop.nth == round.nth) return &loop;
  return nullptr;
}

}  // namespace stepzero::rules
