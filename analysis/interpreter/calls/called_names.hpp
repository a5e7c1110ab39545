// The names that a text calls, as it is written. Reads text, runs nothing.
#pragma once

#include <string_view>
#include <vector>

namespace stepzero::interpreter {

struct CalledName {
  enum class Of : unsigned char { scope, self, other };  // `name(`, `self.name(`, `anything.name(`

  std::string_view name;
  Of of = Of::scope;
  friend auto operator<=>(const CalledName&, const CalledName&) = default;
};

// In the order of the text, each as often as it stands there.
std::vector<CalledName> called_names(std::string_view text);

// Do both call the same names, however often and in whatever order?
bool call_the_same(std::string_view one, std::string_view other);

}  // namespace stepzero::interpreter
