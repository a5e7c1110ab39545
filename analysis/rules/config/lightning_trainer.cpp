// config/lightning-trainer: arguments of Lightning's Trainer that it does not have, or refuses, in a program
// or in a file of YAML.
#include "libraries/frameworks/lightning_arguments.hpp"

#include "rules/shape/refusal_text.hpp"

#include "rules/config/lightning_files.hpp"
#include "rules/launch/pins.hpp"
#include "rules/rule.hpp"
#include "rules/run_conditions.hpp"
#include "rules/specialized.hpp"

namespace stepzero::rules::config::lightning_trainer {

extern const Rule rule;

namespace {

using interpreter::Reason;
using libraries::LightningMisuse;
using libraries::LightningSetting;

// The names that Lightning has been installed under.
constexpr std::string_view packages[] = {"lightning", "pytorch-lightning", "pytorch_lightning"};

std::optional<Fix> fix_of_call(const Report& report, const ProblemEvent& problem) {
  if (!problem.expr) return std::nullopt;
  for (const syntax::Keyword& each : problem.expr->keywords) {
    const std::string name(each.name.text());
    if (name.empty() || libraries::is_lightning_argument(name) || !names(problem, name)) continue;
    LightningSetting setting;
    setting.name = name;
    const std::vector<LightningMisuse> misuses = libraries::misuses_of_lightning({&setting, 1});
    if (misuses.empty() || misuses.front().meant.empty()) continue;
    const std::string meant(misuses.front().meant);
    const syntax::Span span{each.span.begin, each.span.begin + static_cast<std::uint32_t>(name.size())};
    return Fix{"Rename to " + meant, documents::is_typo(name, meant),
        {{report.location({problem.place.chunk, span}), meant}}};
  }
  return std::nullopt;
}

// What Lightning 1 took.
bool is_former(const ProblemEvent& problem) {
  return is_for(problem,
      {Reason::former_of_lightning, Reason::renamed_by_lightning, Reason::former_strategy,
          Reason::renamed_strategy});
}

void check(const Record& record, Report& report) {
  const RunConditions told = RunConditions::of(record);
  const bool is_first_version = told.kept_below &&
      std::ranges::any_of(packages, [&](std::string_view package) { return told.kept_below(package, "2"); });
  const auto words = [&](const ProblemEvent& problem) {
    return is_first_version && is_former(problem) ? std::string() : text_of(record, problem);
  };
  report_specialized(record, report, rule.id, words, [&](const ProblemEvent& problem, Finding& finding) {
    if (is_former(problem)) finding.severity = Severity::information;
    if (auto fix = record.in_file(problem.place) ? fix_of_call(report, problem) : std::nullopt)
      finding.fixes.push_back(std::move(*fix));
  });
}

LightningSetting setting(const Field& field) {
  using Kind = LightningSetting::Kind;
  LightningSetting made;
  made.name = field.key;
  switch (field.value.kind) {
  case Node::Kind::null: made.kind = Kind::none; break;
  case Node::Kind::boolean: made.kind = Kind::truth, made.truth = field.value.truth; break;
  case Node::Kind::integer: made.kind = Kind::whole, made.number = field.value.number(); break;
  case Node::Kind::real: made.kind = Kind::real, made.number = field.value.number(); break;
  case Node::Kind::text:
    // What refers to another value is not known.
    if (field.value.text.find("${") == std::string::npos && field.value.text != "???")
      made.kind = Kind::text, made.text = field.value.text;
    break;
  default: break;
  }
  return made;
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  if (input.document.is_broken) return;
  for (const Node* table : lightning::trainer_tables(input.document.root, input.is_named)) {
    std::vector<LightningSetting> settings;
    std::vector<const Field*> fields;
    for (const Field& field : table->fields)
      if (!field.key.starts_with('_') && !field.is_merged)
        settings.push_back(setting(field)), fields.push_back(&field);
    for (const LightningMisuse& misuse : libraries::misuses_of_lightning(settings)) {
      const Field& field = *fields[misuse.at];
      if (misuse.is_former && std::ranges::any_of(packages, [&](std::string_view package) {
            return launch::is_kept_below(input, package, "2");
          }))
        continue;
      // Who reads the file is not seen.
      Finding& finding = report.add(misuse.is_former ? Severity::information : Severity::warning,
          misuse.of_name ? field.key_span : field.value.span, text_of(misuse.refusal) + ".");
      if (misuse.other)
        report.relate(
            finding, fields[*misuse.other]->value.span, "`" + fields[*misuse.other]->key + "` is set here");
      const std::string quote = field.is_quoted ? "\"" : "";
      if (misuse.of_name && !misuse.meant.empty())
        report.fix(finding, "Rename to " + std::string(misuse.meant),
            documents::is_typo(field.key, misuse.meant), field.key_span,
            quote + std::string(misuse.meant) + quote);
    }
  }
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/lightning-trainer",
    .severity = Severity::error,
    .summary = "arguments of Lightning's Trainer that it does not have, or refuses",
    .why =
        "`Trainer` raises `TypeError` over names that it does not have, and `ValueError` or `MisconfigurationException` over a precision, a strategy or an algorithm that it does not know, a share of the "
        "batches above 1.0, a negative number of epochs. In a file that LightningCLI or Hydra reads the same names end the program before the data are loaded. Version 2 took away what "
        "version 1 had: `gpus`, `auto_lr_find`, `resume_from_checkpoint`. As lightning 2.6 answers.",
    .wrong = "import lightning as L\n\ntrainer = L.Trainer(max_epoch=3, precision=\"16-mixed\")\n",
    .right = "import lightning as L\n\ntrainer = L.Trainer(max_epochs=3, precision=\"16-mixed\")\n",
    .silent =
        "Classes of the program's own that derive from it and have an `__init__`; `**options` and values that are not known; strategies and accelerators that are near no known one, which may be "
        "registered; files whose keys are not those of LightningCLI or of a Trainer.",
    .fix = "Renames an argument to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::lightning, check_document};

}  // namespace stepzero::rules::config::lightning_trainer
