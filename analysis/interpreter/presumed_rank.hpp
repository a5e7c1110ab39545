// In the run of one rank: numbers that are its rank if what names say is so, or if a group is the whole job.
// Whoever compares the ranks decides them under that assumption, and names it.
#pragma once

#include "interpreter/one_rank.hpp"
#include "interpreter/runtime.hpp"

#include <string>
#include <string_view>

namespace stepzero::interpreter {

// The names of their atoms begin so, and go on with a clause in the program's words.
inline constexpr std::string_view if_so = "supposed: ";

// What a rank among the members of a group is taken for: that of the job, where this is so.
inline std::string is_default_group(std::string_view group) {
  return "`" + std::string(group) + "` is the default group";
}
inline std::string is_shared_group(std::string_view group) {
  return "`" + std::string(group) + "` has more than one member";
}

inline Int presumed_rank(Runtime& run, std::string_view supposed, symbolic::Sharing sharing) {
  symbolic::AtomInfo info;
  info.name = std::string(if_so) + std::string(supposed);
  info.lower = 0;
  info.sharing = sharing;
  info.usual = run.as_rank()->rank;
  return run.symbols().fresh(info);
}
// How many members a group has, of which the same is supposed.
inline Int presumed_size(Runtime& run, std::string_view supposed) {
  symbolic::AtomInfo info;
  info.name = std::string(if_so) + std::string(supposed);
  info.lower = 1;
  info.usual = run.as_rank()->world;
  return run.symbols().fresh(info);
}

}  // namespace stepzero::interpreter
