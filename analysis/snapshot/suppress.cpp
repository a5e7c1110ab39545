#include "snapshot/suppress.hpp"

namespace stepzero::snapshot {

namespace {

constexpr std::uint32_t first_lines = 20;  // where a comment may speak for the file

// The rules named after `keyword`; empty if the comment does not say it.
std::vector<std::string> named(std::string_view comment, std::string_view keyword) {
  const auto at = comment.find("stepzero:");
  if (at == std::string_view::npos) return {};
  std::string_view rest = comment.substr(at + 9);
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  if (!rest.starts_with(keyword)) return {};
  rest.remove_prefix(keyword.size());
  if (rest.starts_with('-')) return {};
  if (!rest.starts_with('[')) return {"*"};
  std::vector<std::string> rules;
  std::string rule;
  for (const char c : rest.substr(1)) {
    if (c == ']' || c == ',') {
      if (!rule.empty()) rules.push_back(rule);
      rule.clear();
      if (c == ']') break;
    } else if (c != ' ' && c != '\t') {
      rule += c;
    }
  }
  return rules;
}

}  // namespace

Suppressions::Suppressions(const syntax::Module& module) : text_(*module.text) {
  for (const syntax::Comment& comment : module.comments) {
    const std::string_view words = text_.slice(comment.span);
    if (words.find("stepzero:") == std::string_view::npos) continue;
    const std::uint32_t line = text_.position(comment.span.begin, syntax::Encoding::utf8).line;
    for (std::string& rule : named(words, "ignore")) lines_[line].push_back(std::move(rule));
    if (line < first_lines)
      for (std::string& rule : named(words, "ignore-file")) file_.push_back(std::move(rule));
  }
}

bool Suppressions::lists(const Rules& rules, std::string_view rule) {
  for (const std::string& listed : rules)
    if (listed == "*" || listed == rule || rule.substr(0, rule.find('/')) == listed) return true;
  return false;
}

bool Suppressions::covers(const rules::Finding& finding) const {
  if (lists(file_, finding.rule)) return true;
  if (lines_.empty()) return false;
  // A finding over several lines may be silenced on its first or on its last.
  for (const std::uint32_t offset : {finding.where.span.begin, finding.where.span.end}) {
    const auto it = lines_.find(text_.position(offset, syntax::Encoding::utf8).line);
    if (it != lines_.end() && lists(it->second, finding.rule)) return true;
  }
  return false;
}

}  // namespace stepzero::snapshot
