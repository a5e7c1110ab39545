// The values that tables of keys, options and variables allow: texts between bars, "auto|true|false".
#pragma once

#include <algorithm>
#include <string_view>

namespace stepzero::rules {

inline bool is_choice(std::string_view choices, std::string_view text) {
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}

}  // namespace stepzero::rules
