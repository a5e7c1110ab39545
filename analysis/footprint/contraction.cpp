#include "footprint/contraction.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::footprint {

std::optional<std::vector<Contraction>> contractions_of(std::string_view equation) {
  const std::size_t arrow = equation.find("->");
  if (arrow == std::string_view::npos) return std::nullopt;
  std::vector<std::string> operands(1);
  std::string result;
  for (std::size_t i = 0; i < equation.size(); ++i) {
    const char c = equation[i];
    if (c == ' ' || i == arrow || i == arrow + 1) continue;
    std::string& side = i < arrow ? operands.back() : result;
    if (c == ',' && i < arrow)
      operands.emplace_back();
    else if (std::isalpha(static_cast<unsigned char>(c)) && side.find(c) == std::string::npos)
      side += c;
    else
      return std::nullopt;
  }
  if (operands.size() < 2) return std::nullopt;
  const auto is_elsewhere = [&](char letter, std::size_t own) {
    if (result.find(letter) != std::string::npos) return true;
    for (std::size_t i = 0; i < operands.size(); ++i)
      if (i != own && operands[i].find(letter) != std::string::npos) return true;
    return false;
  };
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (std::ranges::any_of(operands[i], [&](char letter) { return !is_elsewhere(letter, i); }))
      return std::nullopt;
  std::vector<Contraction> made;
  std::string left = operands.front();
  for (std::size_t i = 1; i < operands.size(); ++i) {
    const std::string& right = operands[i];
    const bool is_last = i + 1 == operands.size();
    // What the result, or an operand after these, has.
    std::string both, of_left, of_right;
    for (const char letter : left + right) {
      bool is_kept = result.find(letter) != std::string::npos;
      for (std::size_t later = i + 1; later < operands.size(); ++later)
        is_kept = is_kept || operands[later].find(letter) != std::string::npos;
      if (!is_kept) continue;
      const bool in_left = left.find(letter) != std::string::npos,
                 in_right = right.find(letter) != std::string::npos;
      std::string& part = in_left && in_right ? both : in_left ? of_left : of_right;
      if (part.find(letter) == std::string::npos) part += letter;
    }
    made.push_back({left, right, is_last ? result : both + of_left + of_right});
    left = made.back().result;
  }
  return made;
}

}  // namespace stepzero::footprint
