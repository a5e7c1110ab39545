// launch/environment in scripts of the shell: variables that nobody reads under this name, and values that are not allowed.
#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/variables.hpp"
#include "rules/list.hpp"
#include "syntax/spelling.hpp"

#include <algorithm>
#include <set>

namespace stepzero::rules {

namespace {

using namespace launch;
using documents::Setting;

bool is_choice(std::string_view choices, const std::string& text) {
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}
std::string shown(std::string_view choices) {
  std::string text;
  for (const char c : choices) text += c == '|' ? std::string(", ") : std::string(1, c);
  return text;
}
bool is_on(const std::string& text) { return text == "1" || text == "true" || text == "True" || text == "ON"; }

void judge_name(const Setting& setting, DocumentReport& report) {
  if (!has_owner(setting.name)) return;
  const std::string_view meant = documents::nearest(setting.name, variable_names());
  // A name of the script's own may be near one of them: only a letter or two make a slip.
  if (meant.empty() || syntax::letters_between(setting.name, meant) > 2 || meant.size() < 9) return;
  Finding& finding = report.add(Severity::warning, setting.name_span, "no library reads `" + setting.name + "`: did you mean `" + std::string(meant) + "`?");
  report.fix(finding, "Rename to " + std::string(meant), false, setting.name_span, std::string(meant));
}

void judge(const Setting& setting, DocumentReport& report) {
  const KnownVariable* known = find_variable(setting.name);
  if (!known) return judge_name(setting, report);
  if (!known->instead.empty())
    report.add(Severity::information, setting.name_span, "`" + setting.name + "` is deprecated: " + (setting.name.starts_with("TRANS") ? "transformers reads" : "PyTorch reads") + " `" + std::string(known->instead) + "`");
  const documents::Word& value = setting.value;
  if (!value.is_known() || value.text.empty()) return;
  if (!known->left_on.empty() && is_on(value.text)) report.add(Severity::information, setting.name_span, "`" + setting.name + "` is on: " + std::string(known->left_on));
  std::string upper = value.text;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  if (!known->choices.empty() && !is_choice(known->choices, value.text) && !is_choice(known->choices, upper))
    report.add(Severity::warning, value.written, "`" + setting.name + "` is one of " + shown(known->choices) + "; \"" + value.text + "\" is none");
  if (setting.name == "MASTER_PORT") {
    const auto port = to_number(value.text);
    if (!port || *port < 0 || *port > 65535) report.add(value.by_default ? Severity::warning : Severity::error, value.written, "there is no port " + value.text + ": it is a number up to 65535, and the processes never meet");
  }
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  std::set<std::uint32_t> judged;
  const auto once = [&](const Setting& setting) {
    if (setting.name_span.end > setting.name_span.begin && judged.insert(setting.name_span.begin).second) judge(setting, report);
  };
  for (const Setting& setting : input.document.script.exports) once(setting);
  for (const documents::ShellCommand& command : input.document.script.commands)
    for (const Setting& setting : command.environment) once(setting);
}

} // namespace

extern const DocumentCheck environment_check;
const DocumentCheck environment_check = {&environment, Role::script, check_document};

} // namespace stepzero::rules
