// Where two versions of a text differ. Knows no Python.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

namespace stepzero::syntax {

// All that differs, taken for one edit: the bytes [begin, end_before) of the one became [begin, end_now) of
// the other.
struct Difference {
  std::uint32_t begin = 0, end_before = 0, end_now = 0;
};

inline Difference difference(std::string_view before, std::string_view now) {
  const std::size_t most = std::min(before.size(), now.size());
  std::size_t begin = 0, after = 0;
  while (begin < most && before[begin] == now[begin]) ++begin;
  while (after < most - begin && before[before.size() - 1 - after] == now[now.size() - 1 - after]) ++after;
  return {static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(before.size() - after),
      static_cast<std::uint32_t>(now.size() - after)};
}

}  // namespace stepzero::syntax
