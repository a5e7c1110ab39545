#include "syntax/spelling.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

namespace stepzero::syntax {

namespace {

constexpr char plain_letter(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '_' ? '-' : c;
}

// Which letters a word has, by their last six bits.
std::uint64_t letters_of(std::string_view word) {
  std::uint64_t letters = 0;
  for (const char c : word)
    letters |= std::uint64_t{1} << (static_cast<unsigned char>(plain_letter(c)) & 63U);
  return letters;
}

}  // namespace

std::size_t letters_between(std::string_view left, std::string_view right, std::size_t most) {
  const auto [shorter, longer] = std::minmax(left.size(), right.size());
  if (longer - shorter > most) return most + 1;
  // Each letter that only one of them has takes an edit.
  if (longer > most) {
    const std::uint64_t of_left = letters_of(left), of_right = letters_of(right);
    if (static_cast<std::size_t>(
            std::max(std::popcount(of_left & ~of_right), std::popcount(of_right & ~of_left))) > most)
      return most + 1;
  }
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> rows(3 * width);
  std::size_t *before = rows.data(), *above = before + width, *row = above + width;
  for (std::size_t j = 0; j < width; ++j) row[j] = j;
  for (std::size_t i = 1; i <= left.size(); ++i) {
    std::swap(before, above);
    std::swap(above, row);
    row[0] = i;
    std::size_t least = i;
    for (std::size_t j = 1; j < width; ++j) {
      const bool same = plain_letter(left[i - 1]) == plain_letter(right[j - 1]);
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && plain_letter(left[i - 1]) == plain_letter(right[j - 2]) &&
          plain_letter(left[i - 2]) == plain_letter(right[j - 1]))
        row[j] = std::min(row[j], before[j - 2] + 1);
      least = std::min(least, row[j]);
    }
    // A swap of two letters looks two rows back, and adds one.
    if (least > most + 1) return most + 1;
  }
  return row[width - 1];
}

std::size_t letters_between(std::string_view left, std::string_view right) {
  return letters_between(left, right, std::max(left.size(), right.size()));
}

}  // namespace stepzero::syntax
