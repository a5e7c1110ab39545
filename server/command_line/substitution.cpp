#include "server/command_line/substitution.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace stepzero::server {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
std::size_t behind_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}
// The end of a number that begins there, or of a product of numbers; `at` if there is none.
std::size_t behind_number(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  if (end == at) return at;
  const std::size_t next = behind_blanks(text, end);
  if (next < text.size() && text[next] == '*') {
    const std::size_t factor = behind_blanks(text, text.compare(next, 2, "**") == 0 ? next + 2 : next + 1),
                      more = behind_number(text, factor);
    return more == factor ? at : more;
  }
  return end < text.size() && (text[end] == '.' || is_word(text[end])) ? at : end;
}

struct Edit {
  std::size_t begin, end;
};

// Behind `name`, over an annotation: `= 12`.
std::optional<Edit> number_behind(std::string_view text, std::size_t at) {
  at = behind_blanks(text, at);
  if (at < text.size() && text[at] == ':') {
    ++at;
    while (at < text.size() && text[at] != '=' && text[at] != '\n' && text[at] != ',' && text[at] != ')')
      ++at;
  }
  if (at >= text.size() || text[at] != '=' || text.compare(at, 2, "==") == 0) return std::nullopt;
  const std::size_t begin = behind_blanks(text, at + 1), end = behind_number(text, begin);
  const std::size_t rest = behind_blanks(text, end);
  const bool ends = rest == text.size() ||
      std::string_view("\n\r,)#;").find(text[rest]) != std::string_view::npos;
  return end > begin && ends ? std::optional(Edit{begin, end}) : std::nullopt;
}

// Of `add_argument("--name", …, default=12)`, from behind the name: the default.
std::optional<Edit> default_behind(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size() && depth >= 0; ++at) {
    if (text[at] == '(')
      ++depth;
    else if (text[at] == ')')
      --depth;
    else if (depth == 0 && text.compare(at, 7, "default") == 0 && !is_word(text[at - 1]))
      return number_behind(text, at + 7);
  }
  return std::nullopt;
}

bool same_option(std::string_view written, std::string_view name) {
  return written.size() == name.size() &&
      std::equal(written.begin(), written.end(), name.begin(),
          [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); });
}

}  // namespace

std::optional<std::string> substituted(std::string_view text, std::string_view name, std::int64_t value) {
  std::string made;
  std::size_t kept = 0;
  for (std::size_t at = 0; at + name.size() <= text.size(); ++at) {
    const std::string_view here = text.substr(at, name.size());
    const char before = at > 0 ? text[at - 1] : '\n',
               behind = at + name.size() < text.size() ? text[at + name.size()] : '\n';
    std::optional<Edit> edit;
    if (here == name && !is_word(before) && before != '.' && !is_word(behind))
      edit = number_behind(text, at + name.size());
    if (!edit && before == '-' && (behind == '"' || behind == '\'') && same_option(here, name))
      edit = default_behind(text, at + name.size());
    if (!edit || edit->begin < kept) continue;
    made += text.substr(kept, edit->begin - kept);
    made += std::to_string(value);
    kept = edit->end;
  }
  if (kept == 0) return std::nullopt;
  made += text.substr(kept);
  return made;
}

}  // namespace stepzero::server
