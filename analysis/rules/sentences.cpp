#include "rules/sentences.hpp"

#include "values/shape_text.hpp"

#include <cctype>

namespace stepzero::rules {

std::string capitalized(std::string_view text) {
  std::string made(text);
  if (!made.empty()) made.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(made.front())));
  return made;
}

std::size_t end_of_first_sentence(const std::string& message) {
  bool code = false, quoted = false;
  for (std::size_t i = 0; i + 2 < message.size(); ++i) {
    if (message[i] == '`') code = !code;
    if (message[i] == '"' && !code) quoted = !quoted;
    if (code || quoted || message[i] != '.' || message[i + 1] != ' ') continue;
    const auto next = static_cast<unsigned char>(message[i + 2]);
    if (std::isupper(next) != 0 || next == '`') return i;
  }
  return message.size() - (message.ends_with('.') ? 1 : 0);
}

std::string with_condition(std::string message, const std::string& condition) {
  message.insert(end_of_first_sentence(message), condition);
  return message;
}

std::string as_sentences(std::string message) {
  if (message.empty()) return message;
  const std::size_t word = message.find_first_not_of("abcdefghijklmnopqrstuvwxyz");
  const bool prose = word != std::string::npos && word > 0 && (message[word] == ' ' || message[word] == ',');
  if (prose) message = capitalized(message);
  while (message.ends_with("..") || message.ends_with("?.")) message.pop_back();
  // What is quoted may end with a mark of its own.
  const std::size_t last = message.find_last_not_of('"');
  const std::size_t end = last == std::string::npos ? message.size() - 1 : last;
  if (std::string_view(".?!").find(message[end]) == std::string_view::npos && !message.ends_with("…"))
    message += '.';
  return message;
}

std::string in_code(const std::vector<std::string_view>& texts, std::string_view word) {
  std::string list;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) list += i + 1 < texts.size() ? ", " : " " + std::string(word) + " ";
    list += values::code(texts[i]);
  }
  return list;
}

}  // namespace stepzero::rules
