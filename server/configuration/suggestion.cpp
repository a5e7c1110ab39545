#include "server/configuration/suggestion.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::server {
namespace {

// Insertions, deletions, replacements and swaps of neighbours; letter case and '_' for '-' are free.
std::size_t distance(std::string_view left, std::string_view right) {
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

} // namespace

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 80; // nobody meant a word of a page's length
  if (word.empty() || word.size() > longest) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    std::size_t near = distance(word, candidate);
    const std::size_t slash = candidate.find('/');
    if (slash != std::string::npos && word.find('/') == std::string_view::npos) {
      near = std::min(near, distance(word, std::string_view(candidate).substr(slash + 1)));
    }
    if (near < best_distance) {
      best = &candidate;
      best_distance = near;
    }
  }
  return best == nullptr ? std::string() : *best;
}

std::string did_you_mean(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = nearest_word(word, known);
  return near.empty() ? std::string() : " (did you mean \"" + near + "\"?)";
}

} // namespace stepzero::server
