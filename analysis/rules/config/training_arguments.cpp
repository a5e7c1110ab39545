// config/training-arguments: arguments of transformers' Trainer that it refuses, in a program or in a file of
// JSON or YAML.
#include "libraries/frameworks/training_arguments.hpp"

#include "rules/shape/refusal_text.hpp"

#include "rules/documents/check.hpp"
#include "rules/launch/pins.hpp"
#include "rules/rule.hpp"
#include "rules/run_conditions.hpp"
#include "rules/specialized.hpp"

#include <algorithm>

namespace stepzero::rules::config::training_arguments {

extern const Rule rule;

namespace {

using libraries::TrainingMisuse;
using libraries::TrainingSetting;

// The name, or the value, that a mistake of a call is about becomes what looks meant.
std::optional<Fix> fix_of_call(const Report& report, const ProblemEvent& problem) {
  if (!problem.expr) return std::nullopt;
  for (const syntax::Keyword& each : problem.expr->keywords) {
    const std::string name(each.name.text());
    if (name.empty() || !names(problem, name) || libraries::training_argument(name, true)) continue;
    const std::string_view meant = libraries::near_training_argument(name);
    if (meant.empty() || libraries::former_training_argument(name)) continue;
    const syntax::Span span{each.span.begin, each.span.begin + static_cast<std::uint32_t>(name.size())};
    return Fix{"Rename to " + std::string(meant), documents::is_typo(name, meant),
        {{report.location({problem.place.chunk, span}), std::string(meant)}}};
  }
  return std::nullopt;
}

// Is the call about an argument that the pinned release of transformers still has?
bool is_pinned_before(const RunConditions& told, const ProblemEvent& problem) {
  if (!told.kept_below || !problem.expr) return false;
  return std::ranges::any_of(problem.expr->keywords, [&](const syntax::Keyword& each) {
    const std::string name(each.name.text());
    const libraries::FormerArgument* old = libraries::former_training_argument(name);
    return old && names(problem, name) && told.kept_below("transformers", old->since);
  });
}

void check(const Record& record, Report& report) {
  const RunConditions told = RunConditions::of(record);
  const auto words = [&](const ProblemEvent& problem) {
    return is_pinned_before(told, problem) ? std::string() : text_of(record, problem);
  };
  report_specialized(record, report, rule.id, words, [&](const ProblemEvent& problem, Finding& finding) {
    if (auto fix = record.in_file(problem.place) ? fix_of_call(report, problem) : std::nullopt)
      finding.fixes.push_back(std::move(*fix));
  });
}

TrainingSetting setting(const Field& field) {
  TrainingSetting made{field.key};
  switch (field.value.kind) {
  case Node::Kind::null: made.kind = TrainingSetting::Kind::none; break;
  case Node::Kind::boolean: made.kind = TrainingSetting::Kind::truth, made.truth = field.value.truth; break;
  case Node::Kind::integer:
  case Node::Kind::real: made.kind = TrainingSetting::Kind::number, made.number = field.value.number(); break;
  case Node::Kind::text: made.kind = TrainingSetting::Kind::text, made.text = field.value.text; break;
  default: break;
  }
  return made;
}

// Who reads the file is not seen: a value that the Trainer refuses may be turned into another one before, and
// other arguments may be given besides.
void check_document(const DocumentInput& input, DocumentReport& report) {
  if (input.document.is_broken) return;
  std::vector<TrainingSetting> settings;
  const auto& fields = input.document.root.fields;
  settings.reserve(fields.size());
  for (const Field& field : fields) settings.push_back(setting(field));
  for (const TrainingMisuse& misuse : libraries::misuses_of_training(settings, true, false, false)) {
    const Field& field = fields[misuse.at];
    const bool of_name = !libraries::training_argument(field.key, true);
    // A checkout that pins an older release runs with it.
    if (const libraries::FormerArgument* old =
            misuse.is_former ? libraries::former_training_argument(field.key) : nullptr;
        old &&
        (launch::is_kept_below(input, "transformers", old->since) ||
            // One that asks for a newer release has the name from a class of its own.
            (!input.is_named && launch::is_kept_from(input, "transformers", old->since))))
      continue;
    std::string message = text_of(misuse.refusal);
    const bool is_number = settings[misuse.at].kind == TrainingSetting::Kind::text &&
        !field.value.text.empty() &&
        field.value.text.find_first_not_of("0123456789.eE+-") == std::string::npos && misuse.meant.empty() &&
        !of_name;
    if (is_number && input.document.language == documents::Language::yaml &&
        field.value.span.end - field.value.span.begin == field.value.text.size())
      message += ". Write `" +
          (field.value.text.find('.') == std::string::npos
                  ? field.value.text.substr(0, field.value.text.find_first_of("eE")) + ".0" +
                      field.value.text.substr(field.value.text.find_first_of("eE"))
                  : field.value.text) +
          "`: PyYAML takes a number with an exponent for one only with a dot and a sign";
    // Programs that read YAML often turn numbers into numbers themselves.
    Finding& finding = report.add(misuse.is_former || is_number ? Severity::information : Severity::warning,
        of_name ? field.key_span : field.value.span, message + ".");
    if (misuse.other)
      report.relate(
          finding, fields[*misuse.other].value.span, "`" + fields[*misuse.other].key + "` is set here");
    const std::string quote = field.is_quoted ? "\"" : "";
    if (of_name && !misuse.meant.empty())
      report.fix(finding, "Rename to " + std::string(misuse.meant),
          documents::is_typo(field.key, misuse.meant), field.key_span,
          quote + std::string(misuse.meant) + quote);
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/training-arguments",
    .severity = Severity::error,
    .summary = "arguments of transformers' Trainer that it does not have, or refuses",
    .why =
        "`TrainingArguments` raises over names that it does not have, over strings that are none of its choices, and over settings that exclude each other: "
        "`fp16` and `bf16`, `load_best_model_at_end` where checkpoints are saved and evaluated at different times, `dataloader_prefetch_factor` without "
        "workers. Names change between versions: `evaluation_strategy` became `eval_strategy`, and version 5 took many away. A number that is a string "
        "stays one: PyYAML reads `1e-4` as a string, and the optimizer that gets it raises `TypeError`. As transformers 5.23 answers.",
    .wrong =
        "args = TrainingArguments(output_dir=\"out\", load_best_model_at_end=True, eval_strategy=\"steps\", save_strategy=\"epoch\")\n",
    .right =
        "args = TrainingArguments(output_dir=\"out\", load_best_model_at_end=True, eval_strategy=\"epoch\", save_strategy=\"epoch\")\n",
    .silent =
        "Classes of the program's own that derive from it; values and `**options` that are not known; files with fewer than four of the Trainer's names, and other names in "
        "them that are near none.",
    .fix = "Renames an argument to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::training_arguments, check_document};

}  // namespace stepzero::rules::config::training_arguments
