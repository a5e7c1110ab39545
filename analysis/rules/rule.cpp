#include "rules/rule.hpp"

namespace stepzero::rules {

std::string_view name(Severity severity) {
  constexpr std::string_view names[] = {"error", "warning", "information", "hint"};
  return names[static_cast<int>(severity)];
}

const Rule* find_rule(std::string_view id) {
  for (const Rule& rule : rules())
    if (rule.id == id) return &rule;
  return nullptr;
}

std::string page(const Rule& rule) {
  const auto language = [](std::string_view code) {
    return code.starts_with('{') ? "json" : code.starts_with("#!") ? "bash" : "python";
  };
  const auto fenced = [&](std::string_view code) {
    return "```" + std::string(language(code)) + "\n" + std::string(code) +
        (code.ends_with('\n') ? "" : "\n") + "```\n\n";
  };
  std::string text = "# " + std::string(rule.id) + "\n\n" + "*" + std::string(name(rule.severity)) +
      "*: " + std::string(rule.summary) + ".\n\n";
  text += "## Why\n\n" + std::string(rule.why) + "\n\n";
  text += "## Wrong\n\n" + fenced(rule.wrong);
  text += "## Right\n\n" + fenced(rule.right);
  text += "## Silent\n\n" + std::string(rule.silent) + "\n\n";
  text += "## Fix\n\n" + std::string(rule.fix) + "\n\n";
  text += "## Suppress\n\nPut `# stepzero: ignore[" + std::string(rule.id) +
      "]` at the end of the line, or `# stepzero: ignore-file[" + std::string(rule.id) +
      "]` in the first lines of the file.\n";
  return text;
}

}  // namespace stepzero::rules
