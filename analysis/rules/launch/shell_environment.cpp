// launch/environment in scripts of the shell: variables that nobody reads under this name, and values that
// are not allowed.
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/settings.hpp"
#include "rules/launch/variables.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules::launch::environment {
extern const Rule rule;
}

namespace stepzero::rules::launch::shell_environment {

namespace {

using documents::Setting;

// Does the script set what shows that the variable is on for a reason: the network by hand, where the other
// network is switched off?
bool is_meant(const Setting& setting, const documents::Script& script) {
  const KnownVariable* known = find_variable(setting.name);
  if (!known || known->meant_with.empty()) return false;
  const auto sets = [&](const std::vector<Setting>& settings) {
    return std::ranges::any_of(
        settings, [&](const Setting& other) { return other.name == known->meant_with; });
  };
  return sets(script.exports) ||
      std::ranges::any_of(script.commands, [&](const auto& command) { return sets(command.environment); });
}

void judge(const Setting& setting, DocumentReport& report) {
  const documents::Word& value = setting.value;
  for (const SettingProblem& problem :
      judge_setting(setting.name, value.is_known() ? std::optional<std::string>(value.text) : std::nullopt)) {
    Finding& finding = report.add(
        problem.severity, problem.at_value ? value.written : setting.name_span, problem.message);
    if (!problem.rename.empty())
      report.fix(
          finding, "Rename to " + problem.rename, problem.is_certain, setting.name_span, problem.rename);
  }
  if (setting.name == "MASTER_PORT" && value.is_known() && !value.text.empty()) {
    const auto port = to_number(value.text);
    if (!port || *port < 0 || *port > 65535)
      report.add(value.by_default ? Severity::warning : Severity::error, value.written,
          "there is no port " + value.text +
              ": the highest is 65535, and the processes never meet. Choose a lower port");
  }
}

// Variables that say opposite things to one launch.
void judge_together(
    const documents::ShellCommand& command, std::set<std::uint32_t>& told, DocumentReport& report) {
  for (const Contradiction& pair : contradictions()) {
    const Setting *one = set_for(command, pair.one), *other = set_for(command, pair.other);
    if (!one || !other || one->value.text != pair.one_value || other->value.text.empty() ||
        !other->value.is_known() || other->value.text == pair.unless ||
        !told.insert(one->name_span.begin).second)
      continue;
    Finding& finding = report.add(Severity::warning, one->name_span,
        "`" + std::string(pair.one) + "` and `" + std::string(pair.other) +
            "` are both on: " + std::string(pair.why) + ". Turn one of them off");
    report.relate(finding, other->name_span, "set here");
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  std::set<std::uint32_t> judged;
  const auto once = [&](const Setting& setting) {
    if (setting.name_span.end > setting.name_span.begin && !is_meant(setting, input.document.script) &&
        judged.insert(setting.name_span.begin).second)
      judge(setting, report);
  };
  for (const Setting& setting : input.document.script.exports) once(setting);
  std::set<std::uint32_t> together;
  for (const documents::ShellCommand& command : input.document.script.commands) {
    for (const Setting& setting : command.environment) once(setting);
    judge_together(command, together, report);
  }
}

}  // namespace

extern constexpr DocumentCheck document_check = {&environment::rule, Role::script, check_document};

}  // namespace stepzero::rules::launch::shell_environment
