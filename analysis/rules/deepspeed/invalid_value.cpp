// deepspeed/invalid-value: a value of the configuration that DeepSpeed's own types refuse.
#include "rules/choices.hpp"
#include "rules/deepspeed/program.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/rule.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

namespace stepzero::rules::deepspeed::invalid_value {

extern const Rule rule;

namespace {

bool reads_as_number(const std::string& text) {
  double value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return !text.empty() && failure == std::errc() && end == text.data() + text.size();
}

// "BATCH_SIZE", "${MICRO}", "<micro>": somebody fills the file in before DeepSpeed reads it.
bool is_placeholder(const std::string& text) {
  if (text.find_first_of("${}<>%@") != std::string::npos) return true;
  return text.size() > 2 && text.find('_') != std::string::npos &&
      std::none_of(text.begin(), text.end(), [](unsigned char c) { return std::islower(c); });
}

// Why the value is refused; empty if it is not, or that is not known.
std::string refusal(const Key& key, const Node& value) {
  using enum Node::Kind;
  const bool is_container = value.is(table) || value.is(list);
  const std::string is = "is " + std::string(documents::kind_name(value.kind));
  switch (key.type) {
  case KeyType::boolean:
    return is_container || (value.is_number() && value.number() != 0 && value.number() != 1) ||
            (value.is(text) && !truth(&value))
        ? is
        : "";
  case KeyType::integer:
    // pydantic reads "500" as a number, and "5e8" not as a whole one.
    if (is_container ||
        (value.is(text) &&
            (!reads_as_number(value.text) || value.text.find_first_of("eE") != std::string::npos)) ||
        (value.is(real) && value.real != std::floor(value.real)))
      return value.is(text) && reads_as_number(value.text) ? "is the string \"" + value.text + '"' : is;
    if (!key.choices.empty() && value.is_number() &&
        !is_choice(key.choices, std::to_string(static_cast<std::int64_t>(value.number()))))
      return "is " + std::to_string(static_cast<std::int64_t>(value.number()));
    break;
  case KeyType::number: return is_container || (value.is(text) && !reads_as_number(value.text)) ? is : "";
  case KeyType::text:
    if (!key.choices.empty() && value.is(text) && !is_choice(key.choices, value.text))
      return "is \"" + value.text + '"';
    return is_container ? is : "";
  case KeyType::table:
    return is_container                                            ? value.is(list) ? is : ""
        : value.is(boolean) || value.is_number() || value.is(text) ? is
                                                                   : "";
  case KeyType::list: return value.is(table) || value.is_number() ? is : "";
  case KeyType::any:
  case KeyType::removed: return {};
  }
  if (key.least != unbounded && value.is_number() && value.number() < key.least)
    return "is less than " + std::to_string(static_cast<std::int64_t>(key.least));
  return {};
}

// The class that a name stands for: DeepSpeed's own, or one of torch. An optimizer that the program hands
// over is taken before.
void judge_class(const Node& root, std::string_view section, std::string_view own, std::string_view of_torch,
    DocumentReport& report) {
  const Node* table = root.at(section);
  const Node* type = table ? table->at("type") : nullptr;
  if (!type || !type->is(Node::Kind::text) || type->text.empty() || is_auto(type) ||
      is_placeholder(type->text))
    return;
  std::vector<std::string_view> known;
  for (std::string_view list : {own, of_torch})
    while (!list.empty()) {
      const std::size_t bar = std::min(list.find('|'), list.size());
      known.push_back(list.substr(0, bar));
      list.remove_prefix(std::min(bar + 1, list.size()));
    }
  const auto lower = [](std::string_view text) {
    std::string made(text);
    std::transform(made.begin(), made.end(), made.begin(), [](unsigned char c) { return std::tolower(c); });
    return made;
  };
  const bool is_optimizer = section == "optimizer";
  if (std::any_of(known.begin(), known.end(), [&](std::string_view each) {
        return is_optimizer ? lower(each) == lower(type->text) : each == type->text;
      }))
    return;
  const std::string_view meant = documents::nearest(type->text, known);
  Finding& finding = report.add(Severity::warning, type->span,
      "DeepSpeed knows no " + std::string(section) + " `" + type->text + "`, and torch." +
          (is_optimizer ? "optim" : "optim.lr_scheduler") + " has none of this name" +
          (meant.empty() ? "" : ". Did you mean `" + std::string(meant) + "`?"));
  if (!meant.empty())
    report.fix(finding, "Write " + std::string(meant), documents::is_typo(type->text, meant), type->span,
        '"' + std::string(meant) + '"');
}

// runtime/config.py and runtime/lr_schedules.py of DeepSpeed 0.19, torch.optim of PyTorch 2.13.
constexpr std::string_view own_optimizers =
    "Adam|AdamW|Adagrad|Lamb|OneBitAdam|OneBitLamb|ZeroOneAdam|Lion|Muon|MuAdam|MuAdamW|MuSGD|cpuAdam|FusedAdam";
constexpr std::string_view torch_optimizers =
    "Adadelta|Adafactor|Adamax|ASGD|LBFGS|NAdam|RAdam|RMSprop|Rprop|SGD|SparseAdam|Optimizer";
constexpr std::string_view own_schedules = "WarmupLR|WarmupDecayLR|WarmupCosineLR|OneCycle|LRRangeTest";
constexpr std::string_view torch_schedules =
    "LambdaLR|MultiplicativeLR|StepLR|MultiStepLR|ConstantLR|LinearLR|ExponentialLR|SequentialLR|CosineAnnealingLR|ChainedScheduler|ReduceLROnPlateau|CyclicLR|CosineAnnealingWarmRestarts|OneCycleLR|PolynomialLR|LRScheduler";

// Steps that a schedule of DeepSpeed warms up for, and those that it has in all.
void judge_steps(const Node& root, DocumentReport& report) {
  const Node* schedule = root.at("scheduler");
  const Node* parameters = schedule ? schedule->at("params") : nullptr;
  const Node* total = parameters ? parameters->at("total_num_steps") : nullptr;
  const Node* warmup = parameters ? parameters->at("warmup_num_steps") : nullptr;
  if (!total || !warmup || !total->is_number() || !warmup->is_number() || total->number() <= 0 ||
      total->number() >= warmup->number())
    return;
  Finding& finding = report.add(Severity::warning, total->span,
      "the schedule warms up for " + std::to_string(static_cast<std::int64_t>(warmup->number())) +
          " steps and ends after " + std::to_string(static_cast<std::int64_t>(total->number())) +
          ": right after the warm-up the learning rate drops to its lowest value, and stays there. Make `total_num_steps` larger than `warmup_num_steps`");
  report.relate(finding, warmup->span, "the steps of the warm-up");
}

void judge(const Document& document, DocumentReport& report) {
  if (document.is_broken) return;
  judge_class(document.root, "optimizer", own_optimizers, torch_optimizers, report);
  judge_class(document.root, "scheduler", own_schedules, torch_schedules, report);
  judge_steps(document.root, report);
  each_section(document.root, [&](std::string_view section, const Node& table) {
    for (const Field& field : table.fields) {
      const Key* key = find_key(section, field.key);
      // "auto" is left out of what the types see; `null` of what they need not have.
      if (!key || is_auto(&field.value) || field.value.is(Node::Kind::null) ||
          field.value.is(Node::Kind::unknown) ||
          (field.value.is(Node::Kind::text) && is_placeholder(field.value.text)))
        continue;
      if (section.empty() && field.key == "zero_optimization" && field.value.is(Node::Kind::boolean))
        continue;  // the old form
      // Its own keys DeepSpeed takes as they are: only sections are models, which read texts.
      if (section.empty() && key->type == KeyType::boolean && field.value.is(Node::Kind::text) &&
          truth(&field.value) == false) {
        Finding& finding = report.add(Severity::warning, field.value.span,
            "`" + field.key + "` is the string \"" + field.value.text +
                "\", which is not a boolean where DeepSpeed reads it: it switches on, or fails. Write false without quotes");
        report.fix(finding, "Write false", true, field.value.span, "false");
        continue;
      }
      const std::string why = refusal(*key, field.value);
      if (why.empty()) continue;
      std::string wanted = displayed_type(*key);
      if (const std::size_t end = wanted.find(';'); end != std::string::npos) wanted.resize(end);
      if (key->least != unbounded && key->type == KeyType::integer)
        wanted += " of " + std::to_string(static_cast<std::int64_t>(key->least)) + " or more";
      // Only sections of models are checked where they are read; the others fail later, or do not.
      // Older versions took anything in those that were plain tables then.
      report.add(is_strict(section) && !was_open(section) ? Severity::error : Severity::warning,
          field.value.span,
          "`" + field.key + "` " + why + "; " + std::string(asked) + " takes " + wanted +
              ". Write what it takes");
    }
  });
}

void check_document(const DocumentInput& input, DocumentReport& report) { judge(input.document, report); }
void check(const Record& record, Report& report) { check_program(record, report, rule, judge); }

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/invalid-value",
    .severity = Severity::error,
    .summary = "a value of DeepSpeed's configuration that DeepSpeed's types refuse",
    .why =
        "DeepSpeed reads its sections as pydantic models: a string for a number, a stage that does not exist or a bucket of size 0 raises a "
        "ValidationError where the configuration is read. Its keys outside of sections are taken as they are: the string \"false\" switches on, or is refused by the code that reads it (asked of DeepSpeed 0.19).",
    .wrong = "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 4}\n}\n",
    .right = "{\n  \"train_batch_size\": 32,\n  \"zero_optimization\": {\"stage\": 3}\n}\n",
    .silent =
        "\"auto\", which is filled in or left out; integers that are written as 5e8; strings that read as the number.",
    .fix = "None yet: what was meant cannot be seen.",
    .fix_kind = FixKind::none,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::deepspeed, check_document};

}  // namespace stepzero::rules::deepspeed::invalid_value
