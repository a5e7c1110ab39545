#include "server/features/suppress.hpp"

#include <string>

namespace stepzero::server {
namespace {

constexpr std::uint32_t first_lines = 10;

// Where another rule goes into the brackets of "stepzero: WORD[…]" in the comment; nothing if it has none.
std::optional<std::uint32_t> end_of_list(
    const syntax::Text& text, syntax::Span comment, std::string_view word) {
  const std::string_view body = text.slice(comment);
  std::size_t at = body.find("stepzero:");
  if (at == std::string_view::npos) return std::nullopt;
  at = body.find_first_not_of(" \t", at + 9);
  if (at == std::string_view::npos || body.substr(at, word.size()) != word) return std::nullopt;
  at = body.find_first_not_of(" \t", at + word.size());
  if (at == std::string_view::npos || body[at] != '[') return std::nullopt;
  const std::size_t end = body.find(']', at);
  if (end == std::string_view::npos) return std::nullopt;
  return comment.begin + static_cast<std::uint32_t>(end);
}

syntax::Edit add_to_list(const syntax::Text& text, std::uint32_t end, std::string_view rule) {
  const bool empty = text.bytes()[end - 1] == '[';
  return {{end, end}, (empty ? "" : ", ") + std::string(rule)};
}

// Whether the text, with the edit made, has a comment that starts where the edit's does.
bool becomes_comment(const syntax::Text& text, const syntax::Edit& edit) {
  constexpr std::uint32_t too_long_to_parse_here = 1u << 20;
  if (text.size() > too_long_to_parse_here) return false;
  std::string changed = text.bytes();
  changed.replace(edit.span.begin, edit.span.end - edit.span.begin, edit.text);
  const auto hash = edit.span.begin + static_cast<std::uint32_t>(edit.text.find('#'));
  const auto module = syntax::parse(std::move(changed));
  for (const syntax::Comment& comment : module->comments)
    if (comment.span.begin <= hash && hash < comment.span.end) return true;
  return false;
}

bool introduces_file(std::string_view line) {
  return line.starts_with("#!") || (line.starts_with('#') && line.find("coding") != std::string_view::npos);
}

}  // namespace

std::optional<syntax::Edit> ignore_here(
    const syntax::Module& module, std::uint32_t at, std::string_view rule) {
  const syntax::Text& text = *module.text;
  const std::uint32_t number = text.position(at, syntax::Encoding::utf8).line;
  const std::string_view line = text.line(number);
  const std::uint32_t begin = text.line_start(number);
  const std::uint32_t end = begin + static_cast<std::uint32_t>(line.size());
  for (const syntax::Comment& comment : module.comments)
    if (comment.span.begin >= begin && comment.span.begin <= end)
      if (const auto list = end_of_list(text, comment.span, "ignore")) return add_to_list(text, *list, rule);

  if (line.ends_with('\\')) return std::nullopt;
  const std::size_t blank = line.find_last_not_of(" \t");
  const auto code_end = begin + static_cast<std::uint32_t>(blank == std::string_view::npos ? 0 : blank + 1);
  syntax::Edit edit{{code_end, end}, "  # stepzero: ignore[" + std::string(rule) + "]"};
  if (!becomes_comment(text, edit)) return std::nullopt;
  return edit;
}

syntax::Edit ignore_in_file(const syntax::Module& module, std::string_view rule) {
  const syntax::Text& text = *module.text;
  for (const syntax::Comment& comment : module.comments) {
    if (comment.span.begin >= text.line_start(first_lines)) break;
    if (const auto list = end_of_list(text, comment.span, "ignore-file"))
      return add_to_list(text, *list, rule);
  }
  std::uint32_t line = 0;
  while (line < 2 && introduces_file(text.line(line))) ++line;
  const std::uint32_t at = text.line_start(line);
  const bool needs_break = line == text.line_count();  // `#!` without a line ending
  const std::string comment = "# stepzero: ignore-file[" + std::string(rule) + "]";
  return {{at, at}, needs_break ? "\n" + comment : comment + "\n"};
}

}  // namespace stepzero::server
