#include "libraries/python/expressions.hpp"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <algorithm>
#include <cctype>

namespace stepzero::libraries {

namespace {

// A search that needs more than this is given up: an editor waits for it.
constexpr std::uint32_t most_steps = 100'000, most_depth = 1'000;
constexpr std::size_t longest = 4'096;  // bytes of a pattern, and of a text

// Control characters that Python counts among the blanks are left out, too.
bool is_plain(std::string_view text) {
  return text.size() <= longest && std::all_of(text.begin(), text.end(), [](char c) {
    return (c >= 0x20 && c < 0x7f) || (c >= '\t' && c <= '\r');
  });
}

// The pattern in the spelling of PCRE2; absent where the two do not agree.
std::optional<std::string> translated(std::string_view pattern) {
  constexpr std::string_view same_escapes = "dDwWsSbAnrtfax0123456789";
  constexpr std::string_view same_groups = ":=!#imsx-";
  std::string out;
  bool in_set = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    const char next = i + 1 < pattern.size() ? pattern[i + 1] : '\0';
    if (c == '\\') {
      if (!next) return {};
      if (next == 'Z' && !in_set)
        out += "\\z";
      else if (!std::isalnum(static_cast<unsigned char>(next)) ||
          same_escapes.find(next) != std::string_view::npos)
        (out += c) += next;
      else
        return {};
      ++i;
      continue;
    }
    if (in_set) {
      if (c == '[' && (next == ':' || next == '.' || next == '=')) return {};  // classes of POSIX
      if (c == ']') in_set = false;
    } else if (c == '[') {
      in_set = true;
      // A bracket that stands first is a member.
      if (next == '^') (out += c), ++i;
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') (out += pattern[i]), ++i;
      out += pattern[i];
      continue;
    } else if (c == '{' && next == ',') {
      return {};
    } else if (c == '(' && next == '*') {
      return {};
    } else if (c == '(' && next == '?') {
      const std::string_view kind = pattern.substr(i + 2, 2);
      if (kind.empty()) return {};
      const bool same = same_groups.find(kind[0]) != std::string_view::npos || kind == "<=" || kind == "<!" ||
          kind == "P<" || kind == "P=";
      if (!same) return {};
    }
    out += c;
  }
  return in_set ? std::nullopt : std::optional(std::move(out));
}

}  // namespace

struct RegularExpression::Code {
  pcre2_code* code = nullptr;
  pcre2_match_context* limits = nullptr;
  Code() = default;
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;
  ~Code() {
    pcre2_code_free(code);
    pcre2_match_context_free(limits);
  }
};

std::shared_ptr<const RegularExpression> RegularExpression::read(std::string_view pattern, Flags flags) {
  if (!is_plain(pattern)) return nullptr;
  const auto text = translated(pattern);
  if (!text) return nullptr;
  auto code = std::make_shared<Code>();
  // Its shortcuts miss matches after a lookahead: `(?=a)b?a` in "aa".
  std::uint32_t options = PCRE2_NO_START_OPTIMIZE;
  if (has(flags, Flags::ignore_case)) options |= PCRE2_CASELESS;
  if (has(flags, Flags::multi_line)) options |= PCRE2_MULTILINE | PCRE2_ALT_CIRCUMFLEX;
  if (has(flags, Flags::dot_all)) options |= PCRE2_DOTALL;
  if (has(flags, Flags::verbose)) options |= PCRE2_EXTENDED;
  int error = 0;
  PCRE2_SIZE at = 0;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_LF);
  code->code = pcre2_compile(
      reinterpret_cast<PCRE2_SPTR>(text->data()), text->size(), options, &error, &at, context);
  pcre2_compile_context_free(context);
  code->limits = pcre2_match_context_create(nullptr);
  if (!code->code || !code->limits) return nullptr;
  pcre2_set_match_limit(code->limits, most_steps);
  pcre2_set_depth_limit(code->limits, most_depth);

  auto made = std::make_shared<RegularExpression>();
  std::uint32_t groups = 0, names = 0, width = 0;
  PCRE2_SPTR table = nullptr;
  pcre2_pattern_info(code->code, PCRE2_INFO_CAPTURECOUNT, &groups);
  pcre2_pattern_info(code->code, PCRE2_INFO_NAMECOUNT, &names);
  pcre2_pattern_info(code->code, PCRE2_INFO_NAMEENTRYSIZE, &width);
  pcre2_pattern_info(code->code, PCRE2_INFO_NAMETABLE, &table);
  made->groups_ = groups;
  // An entry is the group's number in two bytes, then its name.
  for (std::uint32_t i = 0; i < names; ++i, table += width)
    made->names_.emplace_back(
        reinterpret_cast<const char*>(table + 2), static_cast<std::size_t>(table[0]) << 8 | table[1]);
  made->code_ = std::move(code);
  return made;
}

bool RegularExpression::each(
    std::string_view text, Place place, const std::function<bool(const Match&)>& found) const {
  if (!is_plain(text)) return false;
  const std::uint32_t where = place == Place::anywhere ? 0
      : place == Place::at_start                       ? PCRE2_ANCHORED
                                                       : PCRE2_ANCHORED | PCRE2_ENDANCHORED;
  pcre2_match_data* data = pcre2_match_data_create_from_pattern(code_->code, nullptr);
  if (!data) return false;
  bool known = true;
  std::uint32_t advance = 0;
  for (std::size_t from = 0; from <= text.size();) {
    const int count = pcre2_match(code_->code, reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), from,
        where | advance, data, code_->limits);
    known = count > 0 || count == PCRE2_ERROR_NOMATCH;
    if (count <= 0) break;
    const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(data);
    Match match;
    for (std::size_t i = 0; i <= groups_; ++i) {
      if (bounds[2 * i] == PCRE2_UNSET)
        match.groups.emplace_back();
      else
        match.groups.emplace_back(std::pair{bounds[2 * i], bounds[2 * i + 1]});
    }
    // A lookbehind may set the end before the begin: Python has no such match.
    known = match.begin() <= match.end();
    if (!known || !found(match)) break;
    // An empty match may follow on another one, but not at the place of an empty one.
    from = match.end();
    advance = match.empty() ? PCRE2_NOTEMPTY_ATSTART : 0;
  }
  pcre2_match_data_free(data);
  return known;
}

}  // namespace stepzero::libraries
