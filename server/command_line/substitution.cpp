#include "server/command_line/substitution.hpp"

#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <vector>

namespace stepzero::server {
namespace {

std::size_t after_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at;
}
// The end of a number that begins there, or of a product of numbers; `at` if there is none.
std::size_t after_number(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) || text[end] == '_'))
    ++end;
  if (end == at) return at;
  const std::size_t next = after_blanks(text, end);
  if (next < text.size() && text[next] == '*') {
    const std::size_t factor = after_blanks(text, text.compare(next, 2, "**") == 0 ? next + 2 : next + 1),
                      more = after_number(text, factor);
    return more == factor ? at : more;
  }
  return end < text.size() && (text[end] == '.' || syntax::is_word(text[end])) ? at : end;
}

struct Edit {
  std::size_t begin, end;
};

// After `name`, over an annotation: `= 12`.
std::optional<Edit> number_after(std::string_view text, std::size_t at) {
  at = after_blanks(text, at);
  if (at < text.size() && text[at] == ':') {
    ++at;
    while (at < text.size() && text[at] != '=' && text[at] != '\n' && text[at] != ',' && text[at] != ')')
      ++at;
  }
  if (at >= text.size() || text[at] != '=' || text.compare(at, 2, "==") == 0) return std::nullopt;
  const std::size_t begin = after_blanks(text, at + 1), end = after_number(text, begin);
  const std::size_t rest = after_blanks(text, end);
  const bool ends = rest == text.size() ||
      std::string_view("\n\r,)#;").find(text[rest]) != std::string_view::npos;
  return end > begin && ends ? std::optional(Edit{begin, end}) : std::nullopt;
}

// Of `add_argument("--name", …, default=12)`, from behind the name: the default.
std::optional<Edit> default_after(std::string_view text, std::size_t at) {
  for (int depth = 0; at < text.size() && depth >= 0; ++at) {
    if (text[at] == '(')
      ++depth;
    else if (text[at] == ')')
      --depth;
    else if (depth == 0 && text.compare(at, 7, "default") == 0 && !syntax::is_word(text[at - 1]))
      return number_after(text, at + 7);
  }
  return std::nullopt;
}

bool same_option(std::string_view written, std::string_view name) {
  return written.size() == name.size() &&
      std::equal(written.begin(), written.end(), name.begin(),
          [](char a, char b) { return (a == '-' ? '_' : a) == (b == '-' ? '_' : b); });
}

// The end of the line's statement that assigns the name, where the line holds the whole of it; npos: it does
// not, or assigns nothing.
std::size_t end_of_assignment(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c == '\\' || ((c == '"' || c == '\'') && text.compare(at + 1, 2, std::string(2, c)) == 0))
      return std::string_view::npos;
    if (c == '\n' || c == '#') return depth == 0 ? at : std::string_view::npos;
  }
  return depth == 0 ? text.size() : std::string_view::npos;
}

// Of a name of the module that begins as None, all that is assigned to it: `size = None`, and later
// `size = meta["size"]`.
std::vector<Edit> assignments_of(std::string_view text, std::string_view name) {
  std::vector<Edit> found;
  bool begins_as_none = false;
  for (std::size_t line = 0; line < text.size();
      line = std::min(text.find('\n', line), text.size() - 1) + 1) {
    const std::size_t at = after_blanks(text, line), equals = after_blanks(text, at + name.size());
    if (text.substr(at, name.size()) != name || equals >= text.size() || text[equals] != '=' ||
        text.compare(equals, 2, "==") == 0)
      continue;
    const std::size_t begin = after_blanks(text, equals + 1), end = end_of_assignment(text, begin);
    if (end == std::string_view::npos) return {};
    begins_as_none = begins_as_none || (at == line && text.substr(begin, end - begin).starts_with("None"));
    found.push_back({begin, end});
  }
  return begins_as_none ? found : std::vector<Edit>{};
}

}  // namespace

std::optional<std::string> substituted(std::string_view text, std::string_view name, std::int64_t value) {
  std::string made;
  std::size_t kept = 0;
  for (std::size_t at = 0; at + name.size() <= text.size(); ++at) {
    const std::string_view here = text.substr(at, name.size());
    const char before = at > 0 ? text[at - 1] : '\n',
               after = at + name.size() < text.size() ? text[at + name.size()] : '\n';
    std::optional<Edit> edit;
    if (here == name && !syntax::is_word(before) && before != '.' && !syntax::is_word(after))
      edit = number_after(text, at + name.size());
    if (!edit && before == '-' && (after == '"' || after == '\'') && same_option(here, name))
      edit = default_after(text, at + name.size());
    if (!edit || edit->begin < kept) continue;
    made += text.substr(kept, edit->begin - kept);
    made += std::to_string(value);
    kept = edit->end;
  }
  if (kept == 0)
    for (const Edit& each : assignments_of(text, name)) {
      made += text.substr(kept, each.begin - kept);
      made += std::to_string(value);
      kept = each.end;
    }
  if (kept == 0) return std::nullopt;
  made += text.substr(kept);
  return made;
}

}  // namespace stepzero::server
