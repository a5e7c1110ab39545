// config/missing-key: a key that the file of a configuration has not.
#include "rules/rule.hpp"
#include "rules/shape/operator_problem.hpp"
#include "rules/specialised.hpp"
#include "values/internal_rows.hpp"

#include <cctype>

namespace stepzero::rules {

extern const Rule missing_key;

namespace {

// Does the program write the name anywhere, as a text or as an attribute?
bool is_written(const Record& record, std::string_view name) {
  for (std::uint32_t i = 0; i < record.chunks.size(); ++i) {
    const auto& chunk = record.chunks[i];
    if (!chunk.statement() || chunk.path.find("site-packages") != std::string::npos) continue;
    const std::string_view text = record.text({i, chunk.chunk->stmt->span});
    const auto is_letter = [&](std::size_t at) {
      return at < text.size() && (std::isalnum(static_cast<unsigned char>(text[at])) || text[at] == '_');
    };
    for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1))
      if ((at == 0 || !is_letter(at - 1)) && !is_letter(at + name.size())) return true;
  }
  return false;
}

// A key that `get` does not find, beside one of nearly the same name that the program never names.
void check_defaults(const Record& record, Report& report) {
  visit_problems(record, [&](const ProblemEvent& problem, const interpreter::Root& root) {
    if (!problem.row || problem.row->path != values::InternalRow::data_file || problem.operands.empty() ||
        is_written(record, problem.operands.front().text()))
      return;
    std::string message = problem.text + ", which nothing reads";
    const auto severity = qualify(record, problem, root, Severity::warning, message);
    if (severity && *severity <= Severity::warning)
      report.add(
          Severity::warning, problem.place, problem.calls, message + " Write the same name in both places.");
  });
}

void check(const Record& record, Report& report) {
  report_specialised(
      record, report, missing_key.id, [](const ProblemEvent& problem) { return problem.text; });
  check_defaults(record, report);
}

}  // namespace

extern constexpr Rule missing_key = complete({
    .id = "config/missing-key",
    .severity = Severity::error,
    .summary = "a key is read that the configuration file does not have, or that has no value yet",
    .why =
        "A key that a file of JSON or YAML lacks raises KeyError where it is read, which may be after the model was made and the data were loaded. OmegaConf raises "
        "\"Missing key\", MissingMandatoryValue for a value of `???` that nobody gave, and InterpolationKeyError for `${…}` that names nothing. `get` of a key that is misspelt in the file "
        "raises nothing: the default trains, and what the file says is read by nobody.",
    .wrong =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.lr)\n",
    .right =
        "from omegaconf import OmegaConf\n\nconfig = OmegaConf.create({\"learning_rate\": 0.1})\nprint(config.learning_rate)\n",
    .silent =
        "Files that are not found, or of which several may be meant; dicts that the program fills in; `in` and `try`; `get`, unless the file has a key of nearly the same name that the program never names; configurations that the command line completes.",
    .fix = "None: the key may be missing in the file, or misspelt in the program.",
    .fix_kind = FixKind::none,
    .check = check,
});

}  // namespace stepzero::rules
