// How many models that a file makes and does not call are run as such.
#pragma once

#include <cstddef>

namespace stepzero::interpreter {

constexpr std::size_t most_built_runs = 4;  // of a file

// A part of the file ran `runs` of its models after `before` others: would it run the same ones after
// `now`?
constexpr bool same_built_runs(std::size_t before, std::size_t runs, std::size_t now) {
  return before == now || (before + runs < most_built_runs && now + runs <= most_built_runs);
}

}  // namespace stepzero::interpreter
