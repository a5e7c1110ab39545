// deepspeed/hf-mismatch: what the command line tells the Trainer of transformers is not what DeepSpeed's
// configuration says.
#include "rules/deepspeed/sections.hpp"

#include "rules/launch/line.hpp"
#include "rules/launch/scripts.hpp"
#include "rules/rule.hpp"
#include "rules/shape/refusal_text.hpp"
#include "rules/specialized.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace stepzero::rules::deepspeed::hf_mismatch {

extern const Rule rule;

namespace {

using documents::Word;
using launch::LaunchLine;

struct Pair {
  std::string_view argument;           // of the Trainer
  std::vector<std::string_view> keys;  // where the configuration has it
  std::string_view otherwise;          // the default, of transformers 5.23; empty: none that is compared
};
const std::vector<Pair>& pairs() {
  static const std::vector<Pair> all = {
      {"per_device_train_batch_size", {"train_micro_batch_size_per_gpu"}, "8"},
      {"gradient_accumulation_steps", {"gradient_accumulation_steps"}, "1"},
      {"max_grad_norm", {"gradient_clipping"}, "1.0"},
      {"learning_rate", {"optimizer", "params", "lr"}, "5e-5"},
      {"weight_decay", {"optimizer", "params", "weight_decay"}, "0.0"},
      {"adam_epsilon", {"optimizer", "params", "eps"}, "1e-8"},
      {"fp16", {"fp16", "enabled"}, ""},
      {"bf16", {"bf16", "enabled"}, ""},
      {"learning_rate", {"scheduler", "params", "warmup_max_lr"}, "5e-5"},
      {"warmup_steps", {"scheduler", "params", "warmup_num_steps"}, ""},
      {"max_steps", {"scheduler", "params", "total_num_steps"}, ""},
  };
  return all;
}

// The word that gives the argument; `value` gets what it says.
const Word* argument(const LaunchLine& line, std::string_view name, Word& value) {
  const std::string flag = "--" + std::string(name);
  const Word* found = nullptr;
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    const Word& word = line.arguments[i];
    if (word.text.starts_with(flag + "=")) {
      found = &word;
      value = word;
      value.text = word.text.substr(flag.size() + 1);
    } else if (word.text == flag) {
      found = &word;
      value = {};
      value.span = value.written = word.written;
      if (i + 1 < line.arguments.size() && !line.arguments[i + 1].text.starts_with("--"))
        value = line.arguments[i + 1];
    }
  }
  return found;
}

bool is_same(const Word& given, const Node& configured) {
  if (configured.is(Node::Kind::boolean)) {
    if (given.text.empty()) return configured.truth;
    const auto truth = given.text == "True" || given.text == "true" || given.text == "1" ||
        given.text == "yes";
    return truth == configured.truth;
  }
  if (!configured.is_number() || !given.is_known()) return true;
  char* end = nullptr;
  const double number = std::strtod(given.text.c_str(), &end);
  return given.text.empty() || *end != '\0' || number == configured.number();
}

const Field* field_at(const Node& root, const std::vector<std::string_view>& keys) {
  const Node* at = &root;
  const Field* field = nullptr;
  for (const std::string_view key : keys) {
    field = at ? at->find(key) : nullptr;
    at = field ? &field->value : nullptr;
  }
  return field;
}

// Does the script hand its arguments to the Trainer's own? It is the Trainer that compares them.
bool reads_training_arguments(const DocumentInput& input, const LaunchLine& line) {
  if (!line.script || !line.script->is_known()) return false;
  const auto path = launch::script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  return path && launch::mentions(input.sources, *path, {"HfArgumentParser", "TrlParser"}, input.read) &&
      launch::mentions(input.sources, *path, {"TrainingArguments", "TrlParser", "Trainer("}, input.read);
}

// A precision that the file turns on, and that the launch does not ask for: its arguments are off by default.
void judge_default(const LaunchLine& line, std::string_view name, const Field& field, const std::string& path,
    DocumentReport& report) {
  if ((name != "fp16" && name != "bf16") || truth(&field.value) != true ||
      !field.value.is(Node::Kind::boolean))
    return;
  const std::string flag = "--" + std::string(name);
  for (const Word& word : line.arguments)
    if (!word.is_known() || word.text.starts_with(flag)) return;  // --fp16_full_eval, too
  Finding& finding = report.add(Severity::warning, line.script->written,
      "the configuration turns `" + std::string(name) + "` on, and this launch does not give `" + flag +
          "`, which is off by default: the Trainer refuses a configuration that does not match its arguments, unless the script has another default. Give it, or write \"auto\" in the configuration");
  report.relate(finding, {path, field.value.span}, "it is turned on here");
  finding.fixes.push_back(
      {"Write \"auto\" in the configuration", false, {{{path, field.value.span}, "\"auto\""}}});
}

// A number of the file beside an argument that keeps its default.
void judge_default_number(const DocumentInput& input, const LaunchLine& line, const Pair& pair,
    const Field& field, const std::string& path, DocumentReport& report) {
  if (pair.otherwise.empty() || !field.value.is_number()) return;
  Word usual;
  usual.text = pair.otherwise;
  const std::string flag = "--" + std::string(pair.argument);
  if (is_same(usual, field.value) || !line.is_whole ||
      std::ranges::any_of(line.arguments, [](const Word& word) { return !word.is_known(); }))
    return;
  // The program's own class of arguments may have another default, and its code may set it.
  const auto script = launch::script_file(
      input.sources, input.path, line.command->folder, line.script->text, line.is_module, input.read);
  if (!script || launch::mentions(input.sources, *script, {pair.argument}, input.read)) return;
  std::string key;
  for (const std::string_view part : pair.keys) key += (key.empty() ? "" : ".") + std::string(part);
  Finding& finding = report.add(Severity::warning, line.script->written,
      "this launch does not give `" + flag + "`, which is " + std::string(pair.otherwise) +
          " by default, and `" + path.substr(path.rfind('/') + 1) + "` has another number for `" + key +
          "`: the Trainer refuses a configuration that does not match its arguments. Give it, or write \"auto\" in the configuration");
  report.relate(finding, {path, field.value.span}, "the configuration says so here");
  finding.fixes.push_back(
      {"Write \"auto\" in the configuration", false, {{{path, field.value.span}, "\"auto\""}}});
}

// The batch of all processes, which the Trainer computes and compares.
void judge_whole_batch(
    const LaunchLine& line, const Node& root, const std::string& path, DocumentReport& report) {
  const Field* field = root.find("train_batch_size");
  const std::int64_t whole = field ? integer(&field->value).value_or(0) : 0;
  const std::int64_t processes = line.processes_per_node().value_or(0), nodes = line.nodes().value_or(0);
  Word each, steps;
  const Word* given = argument(line, "per_device_train_batch_size", each);
  const Word* accumulated = argument(line, "gradient_accumulation_steps", steps);
  const std::int64_t size = given ? launch::to_number(each.text).value_or(0) : 0,
                     windows = accumulated ? launch::to_number(steps.text).value_or(0) : 1;
  constexpr std::int64_t most = 100'000;  // samples: what is more stands for "as many as there are"
  const auto counts = [](std::int64_t number) { return number > 0 && number < most; };
  if (whole <= 0 || !counts(processes) || !counts(nodes) || !counts(size) || !counts(windows) ||
      line.has("hostfile") || line.has("include") || line.has("exclude") || !line.is_whole)
    return;
  const std::int64_t world = processes * nodes;
  if (whole == world * size * windows) return;
  // The script may have another default for the steps of accumulation.
  const bool sure = accumulated && !each.by_default && !steps.by_default && !given->by_default;
  Finding& finding = report.add(sure ? Severity::error : Severity::warning, each.written,
      std::to_string(world) + " processes × " + std::to_string(size) + " samples × " +
          std::to_string(windows) + (windows == 1 ? " step" : " steps") + " of accumulation are " +
          std::to_string(world * size * windows) + ", and `" + path.substr(path.rfind('/') + 1) +
          "` says `train_batch_size` is " + std::to_string(whole) +
          ": the Trainer refuses a configuration that does not match its arguments. Write \"auto\" in the configuration, and the Trainer fills in the value");
  report.relate(finding, {path, field->value.span}, "the configuration says so here");
  finding.fixes.push_back(
      {"Write \"auto\" in the configuration", false, {{{path, field->value.span}, "\"auto\""}}});
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  for (const LaunchLine& line : launch::launch_lines(input.document.script)) {
    Word file;
    if (!argument(line, "deepspeed", file) || !file.is_known() || !file.text.ends_with(".json") ||
        !reads_training_arguments(input, line))
      continue;
    const auto path = launch::script_file(
        input.sources, input.path, line.command->folder, file.text, false, input.read);
    const auto configured = path ? input.other(*path) : std::nullopt;
    if (!configured || configured->is_broken) continue;
    judge_whole_batch(line, configured->root, *path, report);
    for (const Pair& pair : pairs()) {
      const Field* field = field_at(configured->root, pair.keys);
      Word given;
      const Word* word = field && !is_auto(&field->value) ? argument(line, pair.argument, given) : nullptr;
      if (field && !word) judge_default(line, pair.argument, *field, *path, report);
      if (field && !word && !is_auto(&field->value))
        judge_default_number(input, line, pair, *field, *path, report);
      // 0 and less stand for a number that is computed.
      if (word && (pair.argument == "warmup_steps" || pair.argument == "max_steps") &&
          (given.text.empty() || given.text.front() == '-' || given.text == "0"))
        continue;
      if (!word || !given.is_known() || is_same(given, field->value)) continue;
      std::string key;
      for (const std::string_view part : pair.keys) key += (key.empty() ? "" : ".") + std::string(part);
      Finding& finding = report.add(
          given.by_default || word->by_default ? Severity::warning : Severity::error, given.written,
          "`--" + std::string(pair.argument) + (given.text.empty() ? "" : " " + given.text) +
              "` differs from `" + key + "` in `" + path->substr(path->rfind('/') + 1) +
              "`: the Trainer refuses a configuration that does not match its arguments. Write \"auto\" in the configuration, and the Trainer fills in the value");
      report.relate(finding, {*path, field->value.span}, "the configuration says so here");
      finding.fixes.push_back(
          {"Write \"auto\" in the configuration", false, {{{*path, field->value.span}, "\"auto\""}}});
    }
  }
}

void check(const Record& record, Report& report) {
  report_specialized(
      record, report, rule.id, [&](const ProblemEvent& problem) { return text_of(record, problem); });
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "deepspeed/hf-mismatch",
    .severity = Severity::error,
    .summary = "the Trainer's arguments and DeepSpeed's configuration say different things",
    .why =
        "The Trainer of transformers compares its arguments with the configuration, and refuses what differs: \"Please correct the following "
        "DeepSpeed config values that mismatch TrainingArguments values\". A value of \"auto\" is filled in from the arguments.",
    .wrong =
        "#!/bin/bash\n# ds_config.json says \"train_micro_batch_size_per_gpu\": 4\ndeepspeed train.py --deepspeed ds_config.json --per_device_train_batch_size 8\n",
    .right =
        "#!/bin/bash\n# ds_config.json says \"train_micro_batch_size_per_gpu\": \"auto\"\ndeepspeed train.py --deepspeed ds_config.json --per_device_train_batch_size 8\n",
    .silent =
        "\"auto\"; arguments that the command line does not give and the program names, which may set them; scripts without HfArgumentParser; files that are not found.",
    .fix = "Offers to write \"auto\" in the configuration.",
    .fix_kind = FixKind::needs_decision,
    .check = check,
});

extern constexpr DocumentCheck document_check = {&rule, Role::script, check_document};

}  // namespace stepzero::rules::deepspeed::hf_mismatch
