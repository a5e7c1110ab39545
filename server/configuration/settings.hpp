// What a user can set, as values. Knows neither TOML nor JSON nor where the settings stand.
#pragma once

#include "rules/finding.hpp"
#include "server/workspace/ignore.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

enum class InlayHints : std::uint8_t {
  on,
  named,
  off
};  // named: only shapes in which a dimension has a name

// One place of settings: a file, the editor, the command line. What is not set is empty.
struct Layer {
  std::optional<std::vector<std::string>> select;
  std::optional<std::vector<std::string>> ignore;
  std::map<std::string, std::optional<rules::Severity>> severity;  // a rule or family; nullopt: "off"
  std::optional<rules::Severity> min_severity;
  std::optional<rules::Severity> fail_on;
  std::optional<std::vector<std::string>> exclude;  // patterns as in .gitignore
  std::optional<InlayHints> inlay_hints;
  std::optional<std::int64_t> gpu_memory;  // bytes
  std::optional<std::vector<std::string>>
      library_folders;  // absolute, or relative to the folder of the settings
};

// The merged settings of a file: immutable once made.
struct Settings {
  std::vector<std::string> select;  // empty: every rule
  std::vector<std::string> ignore;  // with the rules that are "off"
  std::map<std::string, rules::Severity> severity;
  rules::Severity min_severity = rules::Severity::hint;
  rules::Severity fail_on = rules::Severity::error;
  std::vector<std::string> exclude;
  InlayHints inlay_hints = InlayHints::on;
  std::int64_t gpu_memory = 0;  // bytes; 0: not told
  std::vector<std::string> library_folders;

  // Whether the rule's findings are wanted at all: select and ignore, by id or family.
  bool wants(std::string_view rule) const;
  // Applies the severity overrides and drops what is unwanted or below min_severity.
  void apply(std::vector<rules::Finding>& findings) const;
  // Whether a file of this path, relative to the folder that `exclude` belongs to, is left out.
  bool excludes(std::string_view relative_path) const;
};

// Later layers override earlier ones key by key; `severity` rule by rule.
Settings merge(const std::vector<const Layer*>& layers);

std::optional<rules::Severity> parse_severity(std::string_view text);

// "family" of "family/name"; the whole where there is no '/'.
std::string_view family(std::string_view rule);
// Whether `selector`, a rule or a family, names the rule.
bool names_rule(std::string_view selector, std::string_view rule);

// The rule of problems in the settings themselves.
inline constexpr std::string_view configuration_rule = "stepzero/configuration";

// Every name that `select`, `ignore` and `severity` take: rules and families, sorted.
std::vector<std::string> selectable_names();

}  // namespace stepzero::server
