#include "server/configuration/suggestion.hpp"

#include "syntax/spelling.hpp"

#include <algorithm>

namespace stepzero::server {

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
  constexpr std::size_t longest = 80;  // nobody meant a word of a page's length
  if (word.empty() || word.size() > longest) return {};
  const std::string* best = nullptr;
  std::size_t best_distance = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    std::size_t near = syntax::letters_between(word, candidate);
    const std::size_t slash = candidate.find('/');
    if (slash != std::string::npos && word.find('/') == std::string_view::npos) {
      near = std::min(near, syntax::letters_between(word, std::string_view(candidate).substr(slash + 1)));
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

}  // namespace stepzero::server
