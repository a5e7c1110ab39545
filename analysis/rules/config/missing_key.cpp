// config/missing-key: a key that the file of a configuration has not.
#include "rules/rule.hpp"

#include "rules/shape/operator_problem.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/source.hpp"
#include "rules/specialized.hpp"
#include "values/internal_rows.hpp"

namespace stepzero::rules::config::missing_key {

extern const Rule rule;

namespace {

// A key that `get` does not find, beside one of nearly the same name that the program never names.
void check_defaults(const Record& record, Report& report) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (!problem.row || problem.row->path != values::InternalRow::data_file || problem.operands.empty() ||
        program_names(record, problem.operands.front().text()))
      return;
    std::string message = text_of(record, problem) + ", which nothing reads";
    const auto severity = qualify(record, problem, root, Severity::warning, message);
    if (severity && *severity <= Severity::warning)
      report.add(
          Severity::warning, problem.place, problem.calls, message + " Write the same name in both places.");
  });
}

void check(const Record& record, Report& report) {
  report_specialized(
      record, report, rule.id, [&](const ProblemEvent& problem) { return text_of(record, problem); });
  check_defaults(record, report);
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/missing-key",
    .severity = Severity::error,
    .summary = "a key is read that the configuration file does not have, or that has no value yet",
    .why =
        "A key that a file of JSON or YAML lacks raises `KeyError` where it is read, which may be after the model was made and the data were loaded. OmegaConf raises "
        "\"Missing key\", `MissingMandatoryValue` for a value of `???` that nobody gave, and `InterpolationKeyError` for `${…}` that names nothing. `get` of a key that is misspelled in the file "
        "raises nothing: the default trains, and what the file says is read by nobody.",
    .wrong =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.lr)\n",
    .right =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.learning_rate)\n",
    .silent =
        "Files that are not found, or of which several may be meant; dicts that the program fills in; `in` and `try`; `get`, unless the file has a key of nearly the same name that the program never names; configurations that the command line completes.",
    .fix = "None: the key may be missing in the file, or misspelled in the program.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules::config::missing_key
