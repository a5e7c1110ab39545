#include "rules/launch/numbers.hpp"

#include <algorithm>
#include <cctype>
#include <string>

namespace stepzero::rules::launch {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_other(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return c >= 0x80; });
}

// Blanks around it, and one sign.
std::string_view bare(std::string_view text) {
  constexpr std::string_view blanks = " \t\n\r\f\v";
  text.remove_prefix(std::min(text.find_first_not_of(blanks), text.size()));
  text.remove_suffix(text.size() - std::min(text.find_last_not_of(blanks) + 1, text.size()));
  if (text.starts_with('+') || text.starts_with('-')) text.remove_prefix(1);
  return text;
}

// Takes "1_000" from the front; false if no digit stands there, or an underscore without one on each side.
bool take_digits(std::string_view& text) {
  std::size_t at = 0;
  bool underscore = true;  // may none stand here?
  for (; at < text.size() && (is_digit(text[at]) || text[at] == '_'); ++at) {
    if (text[at] == '_' && underscore) return false;
    underscore = text[at] == '_';
  }
  text.remove_prefix(at);
  return at > 0 && !underscore;
}

}  // namespace

bool reads_as_int(std::string_view text) {
  if (is_other(text)) return true;
  std::string_view rest = bare(text);
  return take_digits(rest) && rest.empty();
}

bool reads_as_truth(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(
      lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::string_view words[] = {"yes", "true", "t", "y", "1", "no", "false", "f", "n", "0"};
  return std::ranges::find(words, lower) != std::end(words);
}

bool reads_as_float(std::string_view text) {
  if (is_other(text)) return true;
  std::string_view rest = bare(text);
  std::string lower(rest);
  std::transform(lower.begin(), lower.end(), lower.begin(),
      [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (lower == "inf" || lower == "infinity" || lower == "nan") return true;
  const auto begins_digit = [&] { return !rest.empty() && (is_digit(rest.front()) || rest.front() == '_'); };
  bool any = false;
  if (begins_digit()) {
    if (!take_digits(rest)) return false;
    any = true;
  }
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    if (begins_digit()) {
      if (!take_digits(rest)) return false;
      any = true;
    }
  }
  if (!any) return false;
  if (rest.starts_with('e') || rest.starts_with('E')) {
    rest.remove_prefix(1);
    if (rest.starts_with('+') || rest.starts_with('-')) rest.remove_prefix(1);
    if (!take_digits(rest)) return false;
  }
  return rest.empty();
}

std::optional<std::int64_t> int_of(std::string_view text) {
  if (is_other(text) || !reads_as_int(text) || text.size() > 17) return std::nullopt;
  const bool negative = text.find('-') != std::string_view::npos;
  std::int64_t value = 0;
  for (const char c : text)
    if (is_digit(c)) value = value * 10 + (c - '0');
  return negative ? -value : value;
}

}  // namespace stepzero::rules::launch
