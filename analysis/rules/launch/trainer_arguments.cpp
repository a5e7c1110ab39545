#include "rules/launch/trainer_arguments.hpp"

namespace stepzero::rules::launch {

using documents::Word;

namespace {

// The word that switches the argument on: `--fp16`, `--fp16 True`, `--fp16=True`. The last one counts.
const Word* switched_on(const LaunchLine& line, std::string_view flag) {
  const Word* found = nullptr;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    if (word.text.substr(0, equals) != flag) continue;
    std::string value = "True";
    if (equals < word.text.size()) value = word.text.substr(equals + 1);
    else if (i + 1 < line.arguments.size() && !line.arguments[i + 1].text.starts_with('-')) value = line.arguments[i + 1].text;
    found = value == "True" || value == "true" || value == "1" ? &word : nullptr;
  }
  return found;
}

} // namespace

void judge_trainer_arguments(const LaunchLine& line, const ScriptOptions& options, DocumentReport& report) {
  const DeclaredOption* declared = options.find("--bf16");
  if (!options.of_dataclasses || !declared || !declared->where.path.empty()) return;  // of a class of the program's own
  const Word *fp16 = switched_on(line, "--fp16"), *bf16 = switched_on(line, "--bf16");
  if (!fp16 || !bf16) return;
  Finding& finding = report.add(fp16->by_default || bf16->by_default ? Severity::warning : Severity::error, bf16->written, "`--bf16` and `--fp16` are both on, and the Trainer refuses them: \"At most one of fp16 and bf16 can be True\"");
  report.relate(finding, fp16->written, "`--fp16` is given here");
}

} // namespace stepzero::rules::launch
