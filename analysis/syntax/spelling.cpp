#include "syntax/spelling.hpp"

#include <algorithm>
#include <cctype>
#include <vector>

namespace stepzero::syntax {

std::size_t letters_between(std::string_view left, std::string_view right) {
  const auto plain = [](char c) {
    return c == '_' ? '-' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  std::vector<std::size_t> before(right.size() + 1);
  std::vector<std::size_t> above(right.size() + 1);
  std::vector<std::size_t> row(right.size() + 1);
  for (std::size_t j = 0; j <= right.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    before = above;
    above = row;
    row[0] = i;
    for (std::size_t j = 1; j <= right.size(); ++j) {
      const bool same = plain(left[i - 1]) == plain(right[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && plain(left[i - 1]) == plain(right[j - 2]) &&
          plain(left[i - 2]) == plain(right[j - 1])) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
  }
  return row.back();
}

}  // namespace stepzero::syntax
