// config/accelerate: what `accelerate launch` refuses, or passes over, in its configuration.
#include "rules/config/accelerate_help.hpp"
#include "rules/list.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules {

namespace {

using accelerate::names_of;

bool is_known(std::string_view section, std::string_view name) {
  const std::vector<std::string_view> names = names_of(section);
  return std::find(names.begin(), names.end(), name) != names.end();
}

void check_keys(const Node& table, std::string_view section, DocumentReport& report) {
  for (const Field& field : table.fields) {
    if (field.is_merged || is_known(section, field.key)) continue;
    const std::string_view meant = documents::nearest(field.key, names_of(section));
    const bool refused = section.empty();
    if (meant.empty()) {
      if (refused) report.add(Severity::warning, field.key_span, "accelerate 1.15 knows no key `" + field.key + "` and refuses a configuration with unknown keys");
      continue;
    }
    // Old names of options that became others are near them: only what has the same letters but a few is a slip.
    Finding& finding = report.add(refused ? Severity::error : Severity::warning, field.key_span,
                                  (refused ? "accelerate refuses unknown keys, and `" + field.key + "` is one" : "accelerate reads no key `" + field.key + "` in `" + std::string(section) + "`, and says nothing of it") + ". Did you mean `" + std::string(meant) + "`?");
    const std::string quote = field.is_quoted ? "\"" : "";
    report.fix(finding, "Rename to " + std::string(meant), documents::is_slip(field.key, meant), field.key_span, quote + std::string(meant) + quote);
  }
}

void check_choice(const Node& root, std::string_view key, Severity severity, DocumentReport& report) {
  const Node* value = root.at(key);
  // Names that older versions had stay what they were.
  if (!value || !value->is(Node::Kind::text) || is_known(key, value->text) || value->text == "TPU") return;
  std::string choices;
  for (const std::string_view each : names_of(key)) choices += (choices.empty() ? "" : ", ") + std::string(each);
  report.add(severity, value->span, "`" + std::string(key) + "` is one of " + choices + "; accelerate refuses \"" + value->text + "\"");
}

// What DeepSpeed's own file says is said there alone: DeepSpeedPlugin of accelerate 1.15 raises over these beside it.
constexpr std::string_view said_in_file[] = {"gradient_accumulation_steps", "gradient_clipping", "zero_stage", "offload_optimizer_device", "offload_param_device", "offload_param_nvme_path", "offload_optimizer_nvme_path", "zero3_save_16bit_model"};

void check_deepspeed_file(const Node& root, DocumentReport& report) {
  const Node* deepspeed = root.at("deepspeed_config");
  const Field* file = deepspeed ? deepspeed->find("deepspeed_config_file") : nullptr;
  if (!file || !file->value.is(Node::Kind::text) || file->value.text == "none") return;
  const auto tell = [&](const Field& field, Severity severity, const std::string& unless) {
    Finding& finding = report.add(severity, field.key_span, "with `deepspeed_config_file`, accelerate refuses `" + field.key + "` beside it: \"Please specify them appropriately in the DeepSpeed config file\"" + unless);
    report.relate(finding, file->key_span, "DeepSpeed is configured in this file");
  };
  for (const Field& field : deepspeed->fields)
    if (std::find(std::begin(said_in_file), std::end(said_in_file), field.key) != std::end(said_in_file)) return tell(field, Severity::error, "");
  if (const Field* precision = root.find("mixed_precision"); precision && precision->value.is(Node::Kind::text)) tell(*precision, Severity::warning, ", unless the launch gives `--mixed_precision`");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const Node& root = input.document.root;
  if (input.document.is_broken || root.find("ec2_instance_type")) return;  // of SageMaker
  check_keys(root, "", report);
  if (const Node* fsdp = root.at("fsdp_config"); fsdp && fsdp->is(Node::Kind::table)) check_keys(*fsdp, "fsdp_config", report);
  check_deepspeed_file(root, report);
  check_choice(root, "distributed_type", Severity::error, report);
  check_choice(root, "mixed_precision", Severity::error, report);
  const Node* processes = root.at("num_processes");
  const Node* machines = root.at("num_machines");
  if (processes && machines && processes->is(Node::Kind::integer) && machines->is(Node::Kind::integer) && machines->integer > 1 && processes->integer > 0 && processes->integer % machines->integer != 0) {
    Finding& finding = report.add(Severity::warning, processes->span, "`num_processes` counts those of all machines: " + std::to_string(processes->integer) + " do not share out over " + std::to_string(machines->integer) + " machines");
    report.relate(finding, machines->span, "the machines");
  }
  if (const Node* port = root.at("main_process_port"); port && port->is(Node::Kind::integer) && (port->integer > 65535 || port->integer < 0))
    report.add(Severity::error, port->span, "there is no port " + std::to_string(port->integer) + ": the highest is 65535, and the processes never meet");
}

} // namespace

constexpr Rule accelerate_configuration = complete({
    .id = "config/accelerate",
    .severity = Severity::error,
    .summary = "a configuration of Accelerate that `accelerate launch` refuses, or a key that it passes over",
    .why = "`accelerate launch` refuses a configuration with keys that it does not know: \"The config file had unknown keys\". In `fsdp_config` it "
           "hands over what it knows and passes over the rest: a misspelt `fsdp_sharding_strategy` trains with the default, without a word. With a "
           "`deepspeed_config_file` it refuses what that file says to be said again.",
    .wrong = "# accelerate.yaml\n# num_process: 8\n",
    .right = "# accelerate.yaml\n# num_processes: 8\n",
    .silent = "Files without `compute_environment` and `distributed_type`; configurations for SageMaker; `deepspeed_config`, which may name any "
              "option of DeepSpeed.",
    .fix = "Renames the key to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern const DocumentCheck accelerate_configuration_check;
const DocumentCheck accelerate_configuration_check = {&accelerate_configuration, Role::accelerate, check_document};

} // namespace stepzero::rules
