#include "rules/documents/check.hpp"

#include "libraries/frameworks/training_arguments.hpp"
#include "rules/config/lightning_files.hpp"
#include "rules/config/torchtitan.hpp"
#include "rules/deepspeed/keys.hpp"
#include "rules/launch/line.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace stepzero::rules {

namespace {

bool contains_any(std::string_view text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
      [&](std::string_view word) { return text.find(word) != std::string_view::npos; });
}

// Keys that only a configuration of DeepSpeed has; or several that together mean one.
bool is_deepspeed(std::string_view path, const Node& root) {
  // Most of its keys are known ones: of very many they cannot be.
  if (!root.is(Node::Kind::table) || root.fields.size() > 2 * deepspeed::keys().size()) return false;
  const auto known = std::count_if(root.fields.begin(), root.fields.end(),
      [](const Field& field) { return deepspeed::find_key("", field.key) != nullptr; });
  // Another program's configuration may hold keys that it hands to DeepSpeed: most are its own.
  if (2 * known < static_cast<std::ptrdiff_t>(root.fields.size()) || root.find("autotuning")) return false;
  if (root.find("zero_optimization") || root.find("train_micro_batch_size_per_gpu")) return true;
  int usual = 0;
  for (const std::string_view key : {"train_batch_size", "gradient_accumulation_steps", "steps_per_print",
           "fp16", "bf16", "gradient_clipping", "wall_clock_breakdown", "optimizer", "scheduler"})
    usual += root.find(key) != nullptr;
  if (root.find("train_batch_size") && usual >= 3) return true;
  // Its name says so.
  std::string name(path.substr(path.rfind('/') + 1));
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!contains_any(name, {"ds_config", "deepspeed", "dsconfig", "zero2", "zero3", "ds_zero", "zero_stage"}))
    return false;
  return known > 0;
}

// Where a run of the Trainer writes to, and several other of its arguments: one that the programs of others
// do not have, too.
bool is_of_trainer(const Node& root) {
  if (!root.is(Node::Kind::table) || !root.find("output_dir")) return false;
  constexpr std::string_view its_own[] = {"per_device_train_batch_size", "per_device_eval_batch_size",
      "eval_strategy", "evaluation_strategy", "save_strategy", "logging_strategy", "lr_scheduler_type",
      "lr_scheduler_kwargs", "save_total_limit", "load_best_model_at_end", "metric_for_best_model",
      "report_to", "remove_unused_columns", "ddp_find_unused_parameters", "dataloader_num_workers",
      "gradient_checkpointing_kwargs", "bf16_full_eval", "fp16_full_eval", "hub_model_id", "push_to_hub"};
  if (std::ranges::none_of(its_own, [&](std::string_view name) { return root.find(name) != nullptr; }))
    return false;
  constexpr int enough = 4;
  return std::count_if(root.fields.begin(), root.fields.end(), [](const Field& field) {
    return field.key.find('_') != std::string::npos && libraries::training_argument(field.key, true);
  }) >= enough;
}

}  // namespace

Role role_of(const std::string& path, const Document& document) {
  using documents::Language;
  switch (document.language) {
  case Language::json:
    if (!document.script.commands.empty()) return Role::script;
    return is_deepspeed(path, document.root) ? Role::deepspeed
        : is_of_trainer(document.root)       ? Role::training_arguments
                                             : Role::nothing;
  case Language::yaml:
    if (!document.script.commands.empty()) return Role::script;
    if (document.root.find("distributed_type") && document.root.find("compute_environment"))
      return Role::accelerate;
    if (!lightning::trainer_tables(document.root).empty()) return Role::lightning;
    return is_of_trainer(document.root) ? Role::training_arguments : Role::nothing;
  case Language::toml:
    return config::torchtitan::is_configuration(document.root) ? Role::torchtitan : Role::nothing;
  case Language::make:
  case Language::docker:
    return launch::launch_lines(document.script).empty() && document.script.exports.empty() ? Role::nothing
                                                                                            : Role::script;
  case Language::environment:
  case Language::shell: return Role::script;
  case Language::none: break;
  }
  return Role::nothing;
}

Role role_named(Role named, const Document& document) {
  using documents::Language;
  const bool is_data = document.language == Language::json || document.language == Language::yaml ||
      (document.language == Language::toml && named == Role::torchtitan);
  return is_data && document.root.is(Node::Kind::table) && !document.is_broken ? named : Role::nothing;
}

std::optional<Document> DocumentInput::other(const std::string& asked) const {
  read.insert(asked);
  const auto language = documents::language_of(asked);
  if (language == documents::Language::none) return std::nullopt;
  const auto module = sources.module(asked);
  if (!module) return std::nullopt;
  return documents::parse(language, module->text);
}

Finding& DocumentReport::add(Severity severity, Span where, std::string message) {
  Finding& finding = findings_.emplace_back();
  finding.rule = rule_.id;
  finding.severity = severity;
  finding.where = {path_, where};
  finding.message = as_sentences(std::move(message));
  return finding;
}

void DocumentReport::fix(
    Finding& finding, std::string title, bool preferred, Span where, std::string new_text) const {
  finding.fixes.push_back({std::move(title), preferred, {{{path_, where}, std::move(new_text)}}});
}

}  // namespace stepzero::rules
