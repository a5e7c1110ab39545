// `stepzero rules` and `stepzero explain`.
#include "rules/rule.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/json.hpp"
#include "server/configuration/suggestion.hpp"

#include <algorithm>
#include <unistd.h>

namespace stepzero::server {
namespace {

std::string_view fix_name(rules::FixKind kind) {
  switch (kind) {
  case rules::FixKind::always_right: return "always-right";
  case rules::FixKind::needs_decision: return "needs-decision";
  case rules::FixKind::none: break;
  }
  return "none";
}

std::string rules_json() {
  Json all = Json::array();
  for (const rules::Rule& rule : rules::rules()) {
    all.push_back({{"id", rule.id}, {"severity", rules::name(rule.severity)}, {"summary", rule.summary},
        {"fix", fix_name(rule.fix_kind)}});
  }
  return written({{"version", 1}, {"rules", std::move(all)}});
}

std::string rules_text() {
  std::size_t widest = 0;
  for (const rules::Rule& rule : rules::rules()) widest = std::max(widest, rule.id.size());
  std::string result;
  for (const rules::Rule& rule : rules::rules()) {
    const std::string_view severity = rules::name(rule.severity);
    result.append(rule.id).append(widest + 2 - rule.id.size(), ' ');
    result.append(severity).append(13 - severity.size(), ' ').append(rule.summary).push_back('\n');
  }
  return result;
}

// `code` and **bold** within a line.
std::string with_inline_marks(std::string_view line) {
  std::string result;
  while (!line.empty()) {
    const std::string_view mark = line.starts_with("**") ? "**" : line.starts_with('`') ? "`" : "";
    const std::size_t end = mark.empty() ? std::string_view::npos : line.find(mark, mark.size());
    if (end == std::string_view::npos) {
      result += line.front();
      line.remove_prefix(1);
      continue;
    }
    result += painted(
        line.substr(mark.size(), end - mark.size()), mark == "`" ? ansi::cyan : ansi::bold, true);
    line.remove_prefix(end + mark.size());
  }
  return result;
}

std::string for_terminal(std::string_view markdown) {
  std::string result;
  bool in_code = false;
  while (!markdown.empty()) {
    const std::size_t newline = std::min(markdown.find('\n'), markdown.size());
    std::string_view line = markdown.substr(0, newline);
    markdown.remove_prefix(std::min(newline + 1, markdown.size()));
    if (line.starts_with("```")) {
      in_code = !in_code;
      continue;
    }
    if (in_code) {
      result += "    " + std::string(line);
    } else if (line.starts_with('#')) {
      line.remove_prefix(std::min(line.find_first_not_of("# "), line.size()));
      result += painted(line, ansi::bold, true);
    } else {
      result += with_inline_marks(line);
    }
    result += '\n';
  }
  return result;
}

std::vector<std::string> rule_ids() {
  std::vector<std::string> ids;
  for (const rules::Rule& rule : rules::rules()) ids.emplace_back(rule.id);
  return ids;
}

int print(std::string text) {
  if (!text.ends_with('\n')) text += '\n';
  return write_out(text) == Written::failed ? exit_status::trouble : exit_status::success;
}

}  // namespace

int run_rules(Format format) {
  const std::string output = format == Format::json ? rules_json() : rules_text();
  return write_out(output) == Written::failed ? exit_status::trouble : exit_status::success;
}

int run_explain(const std::string& id) {
  if (const rules::Rule* rule = rules::find_rule(id)) {
    const std::string page = rules::page(*rule);
    return print(has_colors(STDOUT_FILENO) ? for_terminal(page) : page);
  }
  const std::vector<std::string> ids = rule_ids();
  std::string members;
  for (const std::string& member : ids) {
    if (family(member) == id) members += (members.empty() ? "" : ", ") + member;
  }
  if (members.empty()) {
    say("there is no rule \"" + sanitized(id) + "\"" + did_you_mean(id, ids) +
        "; `stepzero rules` lists them");
  } else {
    say("\"" + id + "\" is a family of rules; explain one of " + members);
  }
  return exit_status::trouble;
}

}  // namespace stepzero::server
