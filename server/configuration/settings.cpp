#include "server/configuration/settings.hpp"

#include "rules/rule.hpp"

#include <algorithm>

namespace stepzero::server {

bool names_rule(std::string_view selector, std::string_view rule) {
  return selector == rule || selector == family(rule);
}

std::string_view family(std::string_view rule) { return rule.substr(0, rule.find('/')); }

std::optional<rules::Severity> parse_severity(std::string_view text) {
  for (const auto severity : {rules::Severity::error, rules::Severity::warning, rules::Severity::information,
           rules::Severity::hint}) {
    if (text == rules::name(severity)) return severity;
  }
  return std::nullopt;
}

std::vector<std::string> selectable_names() {
  std::vector<std::string> names = {std::string(configuration_rule), std::string(family(configuration_rule))};
  for (const rules::Rule& rule : rules::rules()) {
    names.emplace_back(rule.id);
    names.emplace_back(family(rule.id));
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

bool Settings::wants(std::string_view rule) const {
  const auto named = [rule](const std::string& selector) { return names_rule(selector, rule); };
  if (std::any_of(ignore.begin(), ignore.end(), named)) return false;
  return select.empty() || std::any_of(select.begin(), select.end(), named);
}

void Settings::apply(std::vector<rules::Finding>& findings) const {
  for (rules::Finding& finding : findings) {
    auto override = severity.find(std::string(finding.rule));
    if (override == severity.end()) override = severity.find(std::string(family(finding.rule)));
    if (override != severity.end()) finding.severity = override->second;
  }
  std::erase_if(findings, [this](const rules::Finding& finding) {
    return finding.severity > min_severity || !wants(finding.rule);
  });
}

bool Settings::excludes(std::string_view relative_path) const {
  if (exclude.empty()) return false;
  IgnorePatterns patterns;
  for (const std::string& pattern : exclude) patterns.add(pattern);
  return patterns.ignores(relative_path);
}

Settings merge(const std::vector<const Layer*>& layers) {
  Settings settings;
  std::map<std::string, std::optional<rules::Severity>> severity;
  for (const Layer* layer : layers) {
    if (layer->select) settings.select = *layer->select;
    if (layer->ignore) settings.ignore = *layer->ignore;
    if (layer->min_severity) settings.min_severity = *layer->min_severity;
    if (layer->fail_on) settings.fail_on = *layer->fail_on;
    if (layer->exclude) settings.exclude = *layer->exclude;
    if (layer->inlay_hints) settings.inlay_hints = *layer->inlay_hints;
    if (layer->gpu_memory) settings.gpu_memory = *layer->gpu_memory;
    if (layer->library_folders) settings.library_folders = *layer->library_folders;
    for (const auto& [rule, value] : layer->severity) severity[rule] = value;
  }
  for (const auto& [rule, value] : severity) {
    if (value) {
      settings.severity.emplace(rule, *value);
      continue;
    }
    // An "off" family keeps those of its rules that have a severity of their own.
    const bool is_family = rule.find('/') == std::string::npos;
    const auto kept = [&](const auto& other) { return other.second && family(other.first) == rule; };
    if (!is_family || std::none_of(severity.begin(), severity.end(), kept)) {
      settings.ignore.push_back(rule);
      continue;
    }
    for (const std::string& name : selectable_names()) {
      const auto own = severity.find(name);
      if (name != rule && family(name) == rule && (own == severity.end() || !own->second)) {
        settings.ignore.push_back(name);
      }
    }
  }
  return settings;
}

}  // namespace stepzero::server
