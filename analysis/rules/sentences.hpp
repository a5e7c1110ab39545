// Messages as sentences. Knows no rule.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules {

std::string capitalized(std::string_view text);
// Where the first sentence ends, before its period; code and quoted text hold none. The size if it has no end
// mark, or is the only one.
std::size_t end_of_first_sentence(const std::string& message);
// Puts a condition where it belongs: at the end of the sentence that says what is wrong, before what to do.
std::string with_condition(std::string message, const std::string& condition);
// The message with a capital at its beginning, unless it begins with code, and one end mark.
std::string as_sentences(std::string message);
// "`a`, `b` or `c`": texts as code, the last one after the word.
std::string in_code(const std::vector<std::string_view>& texts, std::string_view word = "or");
template <class Range> std::string in_code(const Range& texts, std::string_view word = "or") {
  return in_code(std::vector<std::string_view>(std::begin(texts), std::end(texts)), word);
}

}  // namespace stepzero::rules
