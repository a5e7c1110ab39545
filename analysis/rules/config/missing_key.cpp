// config/missing-key: a key that the file of a configuration has not.
#include "rules/rule.hpp"
#include "rules/specialised.hpp"

namespace stepzero::rules {

extern const Rule missing_key;

namespace {

void check(const Record& record, Report& report) {
  report_specialised(
      record, report, missing_key.id, [](const ProblemEvent& problem) { return problem.text; });
}

}  // namespace

extern constexpr Rule missing_key = complete({
    .id = "config/missing-key",
    .severity = Severity::error,
    .summary = "a key is read that the configuration file does not have, or that has no value yet",
    .why =
        "A key that a file of JSON or YAML lacks raises KeyError where it is read, which may be after the model was made and the data were loaded. OmegaConf raises "
        "\"Missing key\", MissingMandatoryValue for a value of `???` that nobody gave, and InterpolationKeyError for `${…}` that names nothing.",
    .wrong =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.lr)\n",
    .right =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.learning_rate)\n",
    .silent =
        "Files that are not found, or of which several may be meant; dicts that the program fills in; `get`, `in` and `try`; configurations that the command line completes.",
    .fix = "None: the key may be missing in the file, or misspelt in the program.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
