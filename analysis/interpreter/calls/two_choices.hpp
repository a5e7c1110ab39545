// A problem that is silent only because it takes two choices that nobody need make together: where it happens
// with each answer to them, it is told after all. Kept with its evidence, under no place, so that nothing
// shows it.
#pragma once

#include "interpreter/record.hpp"

#include <algorithm>

namespace stepzero::interpreter {

inline constexpr std::string_view two_choices = "it takes two choices";
inline void mark_two_choices(ProblemEvent& problem) {
  problem.guarded = true;
  problem.evidence.emplace_back(Place{}, std::string(two_choices));
}
inline bool takes_two_choices(const ProblemEvent& problem) {
  return std::ranges::any_of(
      problem.evidence, [](const auto& each) { return !each.first && each.second == two_choices; });
}

}  // namespace stepzero::interpreter
