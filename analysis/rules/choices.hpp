// The values that tables of keys, options and variables allow: texts between bars, "auto|true|false".
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace stepzero::rules {

inline std::vector<std::string_view> choices_in(std::string_view choices) {
  std::vector<std::string_view> parts;
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    parts.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return parts;
}
inline bool is_choice(std::string_view choices, std::string_view text) {
  const std::vector<std::string_view> parts = choices_in(choices);
  return std::ranges::find(parts, text) != parts.end();
}

}  // namespace stepzero::rules
