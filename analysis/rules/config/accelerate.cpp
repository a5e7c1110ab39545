// config/accelerate: what `accelerate launch` refuses, or passes over, in its configuration.
#include "rules/config/accelerate_help.hpp"
#include "rules/rule.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace stepzero::rules::config::accelerate {

namespace {

using rules::accelerate::names_of;

bool is_known(std::string_view section, std::string_view name) {
  const std::vector<std::string_view> names = names_of(section);
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Names of before, and what they are today: `accelerate launch` passes over them.
struct FormerKey {
  std::string_view section, name, instead;
};
constexpr FormerKey former_keys[] = {
    {"fsdp_config", "fsdp_backward_prefetch_policy", "fsdp_backward_prefetch"}};

void check_keys(const Node& table, std::string_view section, DocumentReport& report) {
  for (const Field& field : table.fields) {
    if (field.is_merged || is_known(section, field.key)) continue;
    const auto* former = std::ranges::find_if(former_keys,
        [&](const FormerKey& each) { return each.section == section && each.name == field.key; });
    if (former != std::end(former_keys)) {
      // Who needs both versions writes both.
      if (table.find(former->instead)) continue;
      Finding& finding = report.add(Severity::warning, field.key_span,
          "Today's accelerate does not read `" + field.key + "`, and says nothing of it. Rename it to `" +
              std::string(former->instead) + "`");
      const std::string mark = field.is_quoted ? "\"" : "";
      report.fix(finding, "Rename to " + std::string(former->instead), true, field.key_span,
          mark + std::string(former->instead) + mark);
      continue;
    }
    const std::string_view meant = documents::nearest(field.key, names_of(section));
    const bool refused = section.empty();
    if (meant.empty()) {
      if (refused)
        report.add(Severity::warning, field.key_span,
            "accelerate 1.15 knows no key `" + field.key +
                "` and refuses a configuration with unknown keys. Remove it");
      continue;
    }
    // Old names of options that became others are near them: only what has the same letters but a few is a
    // slip.
    Finding& finding = report.add(refused ? Severity::error : Severity::warning, field.key_span,
        (refused ? "accelerate refuses unknown keys, and `" + field.key + "` is one"
                 : "accelerate reads no key `" + field.key + "` in `" + std::string(section) +
                    "`, and says nothing of it") +
            ". Did you mean `" + std::string(meant) + "`?");
    const std::string quote = field.is_quoted ? "\"" : "";
    report.fix(finding, "Rename to " + std::string(meant), documents::is_typo(field.key, meant),
        field.key_span, quote + std::string(meant) + quote);
  }
}

void check_choice(const Node& root, std::string_view key, Severity severity, DocumentReport& report) {
  const Node* value = root.at(key);
  // Names that older versions had stay what they were.
  if (!value || !value->is(Node::Kind::text) || is_known(key, value->text) || value->text == "TPU") return;
  report.add(severity, value->span,
      "`" + std::string(key) + "` takes " + in_code(names_of(key)) + "; accelerate refuses \"" + value->text +
          "\". Choose one of these");
}

// What DeepSpeed's own file says is said there alone: DeepSpeedPlugin of accelerate 1.15 raises over these
// beside it.
constexpr std::string_view said_in_file[] = {"gradient_accumulation_steps", "gradient_clipping", "zero_stage",
    "offload_optimizer_device", "offload_param_device", "offload_param_nvme_path",
    "offload_optimizer_nvme_path", "zero3_save_16bit_model"};

// The stage is handed to DeepSpeed, whose model of the section takes no other.
void check_stage(const Node& root, DocumentReport& report) {
  const Node* deepspeed = root.at("deepspeed_config");
  const Node* stage = deepspeed ? deepspeed->at("zero_stage") : nullptr;
  if (stage && stage->is(Node::Kind::integer) && (stage->integer < 0 || stage->integer > 3))
    report.add(Severity::warning, stage->span,
        "`zero_stage` takes 0, 1, 2 or 3; DeepSpeed refuses " + std::to_string(stage->integer) +
            ", unless the launch gives another `--zero_stage`. Choose one of these");
}

void check_deepspeed_file(const Node& root, DocumentReport& report) {
  const Node* deepspeed = root.at("deepspeed_config");
  const Field* file = deepspeed ? deepspeed->find("deepspeed_config_file") : nullptr;
  if (!file || !file->value.is(Node::Kind::text) || file->value.text == "none") return;
  const auto tell = [&](const Field& field, Severity severity, const std::string& unless) {
    Finding& finding = report.add(severity, field.key_span,
        "with `deepspeed_config_file`, accelerate refuses `" + field.key +
            "` beside it: \"Please specify them appropriately in the DeepSpeed config file\"" + unless +
            ". Move it into that file");
    report.relate(finding, file->key_span, "DeepSpeed is configured in this file");
  };
  for (const Field& field : deepspeed->fields)
    if (std::find(std::begin(said_in_file), std::end(said_in_file), field.key) != std::end(said_in_file))
      return tell(field, Severity::error, "");
  if (const Field* precision = root.find("mixed_precision");
      precision && precision->value.is(Node::Kind::text))
    tell(*precision, Severity::warning, ", unless the launch gives `--mixed_precision`");
}

bool is_no(const Node* value) {
  return value &&
      ((value->is(Node::Kind::boolean) && !value->truth) || value->is_text("false") ||
          value->is_text("False"));
}
bool is_yes(const Node* value) {
  return value &&
      ((value->is(Node::Kind::boolean) && value->truth) || value->is_text("true") || value->is_text("True"));
}

// What FullyShardedDataParallelPlugin and the launcher refuse, or pass over: of accelerate 1.15.
void check_fsdp(const Node& root, DocumentReport& report) {
  const Node* fsdp = root.at("fsdp_config");
  if (!fsdp || !fsdp->is(Node::Kind::table)) return;
  const auto at = [&](const std::string& name) {
    const Field* field = fsdp->find("fsdp_" + name);
    return field ? field : fsdp->find(name);
  };
  const auto value = [&](const std::string& name) {
    const Field* field = at(name);
    return field ? &field->value : nullptr;
  };
  for (const std::string name :
      {"sharding_strategy", "auto_wrap_policy", "state_dict_type", "backward_prefetch"}) {
    const Node* given = value(name);
    if (!given || !given->is(Node::Kind::text)) continue;
    std::string upper = given->text;
    std::transform(upper.begin(), upper.end(), upper.begin(),
        [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    const std::vector<std::string_view> known = rules::accelerate::values_of("fsdp_config", "fsdp_" + name);
    const bool is_number = !upper.empty() && upper.find_first_not_of("0123456789") == std::string::npos;
    if (is_number || upper == "NONE" || std::find(known.begin(), known.end(), upper) != known.end()) continue;
    const std::string_view meant = documents::nearest(upper, known);
    Finding& finding = report.add(Severity::error, given->span,
        "`" + at(name)->key + "` takes " + in_code(known) + "; accelerate refuses \"" + given->text + "\"" +
            (meant.empty() ? ". Choose one of these" : ". Did you mean `" + std::string(meant) + "`?"));
    if (!meant.empty())
      report.fix(finding, "Write " + std::string(meant), documents::is_typo(upper, meant), given->span,
          std::string(meant));
  }
  if (is_no(value("sync_module_states")) && !is_no(value("cpu_ram_efficient_loading"))) {
    const bool said = is_yes(value("cpu_ram_efficient_loading"));
    Finding& finding = report.add(said ? Severity::error : Severity::warning,
        at("sync_module_states")->value.span,
        std::string("with `fsdp_cpu_ram_efficient_loading`") + (said ? "" : ", which is on by default,") +
            " only rank 0 loads the weights, and `fsdp_sync_module_states: false` sends them to nobody: `accelerate launch` refuses the two together. Leave `fsdp_sync_module_states` on");
    if (said)
      report.relate(finding, value("cpu_ram_efficient_loading")->span, "only rank 0 loads the weights");
  }
  if (is_yes(value("activation_checkpointing_offload")) && !is_yes(value("activation_checkpointing")))
    report.add(Severity::error, at("activation_checkpointing_offload")->value.span,
        "`fsdp_activation_checkpointing_offload` needs `fsdp_activation_checkpointing: true`: accelerate raises `ValueError`. Turn both on, or leave the offloading out");
  const Node* version = value("version");
  const bool is_second = version &&
      ((version->is(Node::Kind::integer) && version->integer == 2) || version->is_text("2"));
  const Node* strategy = value("sharding_strategy");
  if (is_second && strategy && strategy->is(Node::Kind::text) && !value("reshard_after_forward") &&
      strategy->text != "FULL_SHARD" && strategy->text != "1")
    report.add(Severity::warning, strategy->span,
        "FSDP 2 does not read `fsdp_sharding_strategy`, and shards as `FULL_SHARD` does. Set `fsdp_reshard_after_forward` in its place: false is what `SHARD_GRAD_OP` was");
}

// The sizes of a mesh are the processes of the job.
void check_mesh(const Node& root, DocumentReport& report) {
  const Node* sizes = root.at("parallelism_config");
  const Node* processes = root.at("num_processes");
  if (!sizes || !sizes->is(Node::Kind::table) || !processes || !processes->is(Node::Kind::integer)) return;
  std::int64_t product = 1;
  std::string factors;
  for (const Field& field : sizes->fields) {
    const std::string name = field.key.starts_with("parallelism_config_") ? field.key.substr(19) : field.key;
    if (name != "dp_replicate_size" && name != "dp_shard_size" && name != "tp_size" && name != "cp_size" &&
        name != "sp_size")
      continue;
    if (!field.value.is(Node::Kind::integer) || field.value.integer < 1 || field.value.integer > 1 << 20 ||
        (name == "sp_size" && field.value.integer > 1))
      return;
    product *= field.value.integer;
    factors += (factors.empty() ? "" : " × ") + std::to_string(field.value.integer);
  }
  if (factors.empty() || product == processes->integer) return;
  Finding& finding = report.add(Severity::warning, processes->span,
      "the mesh has " + factors + " = " + std::to_string(product) + " processes, and the job has " +
          std::to_string(processes->integer) +
          ": accelerate raises `ValueError`, unless the launch gives another `--num_processes`. Make the two equal");
  report.relate(finding, sizes->span, "the sizes of the mesh");
}

void check_document(const DocumentInput& input, DocumentReport& report) {
  const Node& root = input.document.root;
  if (input.document.is_broken || root.find("ec2_instance_type")) return;  // of SageMaker
  check_keys(root, "", report);
  if (const Node* fsdp = root.at("fsdp_config"); fsdp && fsdp->is(Node::Kind::table))
    check_keys(*fsdp, "fsdp_config", report);
  if (const Node* table = root.at("deepspeed_config"); table && table->is(Node::Kind::table))
    check_keys(*table, "deepspeed_config", report);
  check_deepspeed_file(root, report);
  check_stage(root, report);
  if (root.at("distributed_type") && root.at("distributed_type")->is_text("FSDP")) check_fsdp(root, report);
  check_mesh(root, report);
  if (const Node *rank = root.at("machine_rank"), *machines = root.at("num_machines"); rank && machines &&
      rank->is(Node::Kind::integer) && machines->is(Node::Kind::integer) && machines->integer > 0 &&
      rank->integer >= machines->integer) {
    Finding& finding = report.add(Severity::warning, rank->span,
        "`machine_rank` " + std::to_string(rank->integer) +
            " does not exist: machines are numbered from 0, and `num_machines` is " +
            std::to_string(machines->integer) + ". Number this one below that");
    report.relate(finding, machines->span, "the machines");
  }
  check_choice(root, "distributed_type", Severity::error, report);
  check_choice(root, "mixed_precision", Severity::error, report);
  const Node* processes = root.at("num_processes");
  const Node* machines = root.at("num_machines");
  if (processes && machines && processes->is(Node::Kind::integer) && machines->is(Node::Kind::integer) &&
      machines->integer > 1 && processes->integer > 0 && processes->integer % machines->integer != 0) {
    Finding& finding = report.add(Severity::warning, processes->span,
        "`num_processes` counts those of all machines: " + std::to_string(processes->integer) +
            " cannot be divided evenly among " + std::to_string(machines->integer) +
            " machines. Make it a multiple of them");
    report.relate(finding, machines->span, "the machines");
  }
  if (const Node* port = root.at("main_process_port");
      port && port->is(Node::Kind::integer) && (port->integer > 65535 || port->integer < 0))
    report.add(Severity::error, port->span,
        "there is no port " + std::to_string(port->integer) +
            ": the highest is 65535, and the processes never meet. Choose a lower port");
}

}  // namespace

extern constexpr Rule rule = complete({
    .id = "config/accelerate",
    .severity = Severity::error,
    .summary = "a configuration of Accelerate that `accelerate launch` refuses, or a key that it ignores",
    .why =
        "`accelerate launch` refuses a configuration with keys that it does not know: \"The config file had unknown keys\". In `fsdp_config` it "
        "hands over what it knows and passes over the rest: a misspelled `fsdp_sharding_strategy` trains with the default, without a word. With a "
        "`deepspeed_config_file` it refuses what that file says to be said again. With `fsdp_cpu_ram_efficient_loading` it refuses `fsdp_sync_module_states: false`, and FSDP 2 passes over "
        "`fsdp_sharding_strategy`. As accelerate 1.15 reads them.",
    .wrong = "# accelerate.yaml\n# num_process: 8\n",
    .right = "# accelerate.yaml\n# num_processes: 8\n",
    .silent =
        "Files without `compute_environment` and `distributed_type`; configurations for SageMaker; options of FSDP where another way is chosen; `deepspeed_config`, which may name any "
        "option of DeepSpeed.",
    .fix = "Renames the key to the known one that is nearest.",
    .fix_kind = FixKind::always_right,
    .check = check_no_run,
});

extern constexpr DocumentCheck document_check = {&rule, Role::accelerate, check_document};

}  // namespace stepzero::rules::config::accelerate
