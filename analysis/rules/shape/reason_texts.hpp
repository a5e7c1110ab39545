// The words of the reasons that differ in nothing else: tables, one for each group of
// interpreter/reasons.hpp, in its order. In a text stand, in the order of the parts:
//   {}           a part in words: a size, a shape or a dtype as code, a text as it is
//   {?yes:no}    the one or the other, as the part is true; the second may be left out
//   {*unit}      a number of units, in the plural but for one: "3 dimensions"
//   {#}          a product of sizes, with "×"
#pragma once

#include "interpreter/reasons.hpp"

#include <algorithm>
#include <span>
#include <string_view>

namespace stepzero::rules {

struct ReasonText {
  interpreter::Reason reason;
  std::string_view text;
};

std::span<const ReasonText> texts_of_python();
std::span<const ReasonText> texts_of_frameworks();
std::span<const ReasonText> texts_of_operators();
std::span<const ReasonText> texts_of_layers();
std::span<const ReasonText> texts_of_training();

// Do they follow each other, with as many gaps as parts?
consteval bool is_complete(std::span<const ReasonText> texts) {
  for (std::size_t i = 0; i < texts.size(); ++i)
    if (static_cast<std::size_t>(texts[i].reason) != static_cast<std::size_t>(texts[0].reason) + i ||
        static_cast<std::size_t>(std::ranges::count(texts[i].text, '{')) !=
            interpreter::parts_of(texts[i].reason))
      return false;
  return true;
}

}  // namespace stepzero::rules
