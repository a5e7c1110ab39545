#include "rules/launch/trainer_arguments.hpp"

#include "rules/shape/refusal_text.hpp"

#include "libraries/frameworks/training_arguments.hpp"

#include <algorithm>
#include <cstdlib>

namespace stepzero::rules::launch {

using documents::Word;
using libraries::TrainingSetting;
using program::Takes;
using program::ValueType;

namespace {

struct GivenArgument {
  std::vector<TrainingSetting> settings;
  std::vector<const Word*> flags;
  bool is_all = true;  // every word is known
};

bool is_truth(const std::string& text) {
  return text == "True" || text == "true" || text == "1" || text == "yes";
}
bool is_no_truth(const std::string& text) {
  return text == "False" || text == "false" || text == "0" || text == "no";
}

// What the words set; the last one counts.
GivenArgument read(const LaunchLine& line) {
  GivenArgument given;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    given.is_all = given.is_all && word.text.find(documents::Chars::words) == std::string::npos;
    if (!word.text.starts_with("--")) continue;
    const std::size_t equals = std::min(word.text.find('='), word.text.size());
    TrainingSetting made{word.text.substr(2, equals - 2)};
    for (char& c : made.name) c = c == '-' ? '_' : c;
    const libraries::TrainingArgument* known = libraries::training_argument(made.name, true);
    if (!known) continue;
    const bool has_value = equals < word.text.size() ||
        (i + 1 < line.arguments.size() && !line.arguments[i + 1].text.starts_with("--"));
    const std::string value = equals < word.text.size() ? word.text.substr(equals + 1)
        : has_value                                     ? line.arguments[i + 1].text
                                                        : "True";
    const bool is_known = word.is_known() &&
        (equals < word.text.size() || !has_value || line.arguments[i + 1].is_known());
    if (is_known && known->takes == Takes::optional && (is_truth(value) || is_no_truth(value))) {
      made.kind = TrainingSetting::Kind::truth, made.truth = is_truth(value);
    } else if (is_known && is_number(known->type)) {
      char* end = nullptr;
      made.number = std::strtod(value.c_str(), &end);
      if (!value.empty() && *end == '\0') made.kind = TrainingSetting::Kind::number;
    } else if (is_known && (!known->choices.empty() || made.name == "fsdp")) {
      made.kind = TrainingSetting::Kind::text, made.text = value;
    }
    const auto earlier = std::ranges::find(given.settings, made.name, &TrainingSetting::name);
    if (earlier != given.settings.end()) {
      given.flags[static_cast<std::size_t>(earlier - given.settings.begin())] = &word;
      *earlier = std::move(made);
    } else {
      given.settings.push_back(std::move(made));
      given.flags.push_back(&word);
    }
  }
  return given;
}

}  // namespace

void judge_trainer_arguments(const LaunchLine& line, const ScriptOptions& options, DocumentReport& report) {
  const DeclaredOption* declared = options.find("--bf16");
  if (!options.of_dataclasses || !declared || !declared->where.path.empty())
    return;  // of a class of the program's own
  const GivenArgument given = read(line);
  for (const libraries::TrainingMisuse& misuse :
      libraries::misuses_of_training(given.settings, true, given.is_all, false)) {
    // Each argument by itself is judged with all others.
    if (!misuse.is_of_several) continue;
    const Word& at = *given.flags[misuse.at];
    const bool by_default = at.by_default || (misuse.other && given.flags[*misuse.other]->by_default);
    Finding& finding = report.add(by_default || !misuse.is_certain ? Severity::warning : Severity::error,
        at.written, rules::text_of(misuse.refusal));
    if (misuse.other)
      report.relate(finding, given.flags[*misuse.other]->written,
          "`--" + given.settings[*misuse.other].name + "` is given here");
  }
}

}  // namespace stepzero::rules::launch
