#include "rules/config/accelerate_help.hpp"

#include "rules/sentences.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::rules::accelerate {

namespace {

struct Known {
  std::string_view section, name;
};
constexpr Known all[] = {
#include "rules/config/accelerate_keys.inc"
};

// What a key says, and the values that it takes, as accelerate 1.15 documents them; of the sections
// "deepspeed_config" and "parallelism_config" all keys, of the others those that are asked about.
struct Meaning {
  std::string_view section, name, values, text;
};
constexpr Meaning meanings[] = {
    {"", "compute_environment", "LOCAL_MACHINE|AMAZON_SAGEMAKER", "Where the job runs."},
    {"", "distributed_type", "",
        "How the processes share the work: `MULTI_GPU` is DistributedDataParallel, `FSDP` and `DEEPSPEED` shard the model."},
    {"", "mixed_precision", "",
        "The precision of autocast. What the program passes to `Accelerator(mixed_precision=…)` overrides it."},
    {"", "num_processes", "", "All processes of all machines together, one for each GPU."},
    {"", "num_machines", "", "The machines of the job. `accelerate launch` runs once on each."},
    {"", "machine_rank", "",
        "The number of this machine: 0 is the one of `main_process_ip`. Each machine needs another one."},
    {"", "main_process_ip", "", "The address of the first machine, where all processes meet."},
    {"", "main_process_port", "",
        "The port where the processes meet, up to 65535. Two jobs on one machine need two."},
    {"", "main_training_function", "", "The function that is started on a TPU; `main` by default."},
    {"", "gpu_ids", "all", "The GPUs that the processes see, such as `0,1`; `all` takes every one."},
    {"", "use_cpu", "true|false", "Trains on the CPU although there are GPUs."},
    {"", "same_network", "true|false", "Are all machines in one local network?"},
    {"", "rdzv_backend", "static|c10d|etcd-v2",
        "How the machines find each other: `static` by `machine_rank`, `c10d` by themselves."},
    {"", "downcast_bf16", "no|yes", "On TPUs only: float64 and float32 become bfloat16."},
    {"", "debug", "true|false",
        "Compares the shapes of tensors before each collective. Slow: for the search of a hang."},
    {"", "enable_cpu_affinity", "true|false", "Binds each process to the cores near its GPU."},
    {"", "deepspeed_config", "", "Options of DeepSpeed, read where `distributed_type` is `DEEPSPEED`."},
    {"", "fsdp_config", "", "Options of FSDP, read where `distributed_type` is `FSDP`."},
    {"", "megatron_lm_config", "", "Options of Megatron-LM, read where `distributed_type` is `MEGATRON_LM`."},
    {"", "parallelism_config", "",
        "Sizes of the mesh that `ParallelismConfig` makes: their product is the number of processes."},
    {"", "dynamo_config", "", "Options of `torch.compile`."},
    {"fsdp_config", "fsdp_version", "1|2", "1 is `FullyShardedDataParallel`, 2 is `fully_shard`."},
    {"fsdp_config", "fsdp_sharding_strategy",
        "FULL_SHARD|SHARD_GRAD_OP|NO_SHARD|HYBRID_SHARD|HYBRID_SHARD_ZERO2",
        "What is sharded, of FSDP 1. FSDP 2 reads `fsdp_reshard_after_forward` instead."},
    {"fsdp_config", "fsdp_reshard_after_forward", "true|false",
        "Of FSDP 2: are the parameters given away again after the forward? With `false` the backward need not gather them, and they take memory until then."},
    {"fsdp_config", "fsdp_auto_wrap_policy", "TRANSFORMER_BASED_WRAP|SIZE_BASED_WRAP|NO_WRAP",
        "What becomes a unit that is gathered at once. With `NO_WRAP` the whole model is one, and is gathered whole."},
    {"fsdp_config", "fsdp_transformer_layer_cls_to_wrap", "",
        "The names of the classes that become units, with commas between them, such as `LlamaDecoderLayer`."},
    {"fsdp_config", "fsdp_min_num_params", "",
        "Of `SIZE_BASED_WRAP`: from how many parameters on a module becomes a unit."},
    {"fsdp_config", "fsdp_state_dict_type", "FULL_STATE_DICT|SHARDED_STATE_DICT|LOCAL_STATE_DICT",
        "How checkpoints are saved: `FULL_STATE_DICT` gathers the model on rank 0, `SHARDED_STATE_DICT` lets each rank write its part."},
    {"fsdp_config", "fsdp_offload_params", "true|false",
        "Keeps parameters and gradients in the memory of the host. Slow."},
    {"fsdp_config", "fsdp_backward_prefetch", "BACKWARD_PRE|BACKWARD_POST|NO_PREFETCH",
        "When the next unit is gathered in the backward."},
    {"fsdp_config", "fsdp_forward_prefetch", "true|false", "Gathers the next unit while this one computes."},
    {"fsdp_config", "fsdp_use_orig_params", "true|false",
        "Of FSDP 1: keeps the parameters, so that some may be frozen or have a group of their own."},
    {"fsdp_config", "fsdp_cpu_ram_efficient_loading", "true|false",
        "Only rank 0 loads the weights; the others get theirs from it, which needs `fsdp_sync_module_states: true`."},
    {"fsdp_config", "fsdp_sync_module_states", "true|false",
        "Of FSDP 1: rank 0 sends its weights to all others."},
    {"fsdp_config", "fsdp_activation_checkpointing", "true|false",
        "Computes the activations of each unit again in the backward. Do not switch on the model's own checkpointing besides."},
    {"deepspeed_config", "deepspeed_config_file", "",
        "A configuration of DeepSpeed's own. What it says may not be said here again."},
    {"deepspeed_config", "zero_stage", "0|1|2|3",
        "What ZeRO shards: 1 the optimizer's state, 2 the gradients too, 3 the parameters too."},
    {"deepspeed_config", "gradient_accumulation_steps", "", "Batches that make one step."},
    {"deepspeed_config", "gradient_clipping", "", "The norm that the gradients are clipped to."},
    {"deepspeed_config", "offload_optimizer_device", "none|cpu|nvme", "Where the optimizer's state lies."},
    {"deepspeed_config", "offload_param_device", "none|cpu|nvme",
        "Where the parameters lie; of stage 3 only."},
    {"deepspeed_config", "zero3_init_flag", "true|false",
        "Shards the parameters of transformers' models while they are made; of stage 3 only."},
    {"deepspeed_config", "zero3_save_16bit_model", "true|false",
        "Gathers the parameters of stage 3 when the model is saved."},
    {"deepspeed_config", "deepspeed_multinode_launcher", "standard|pdsh|openmpi|mvapich|mpich|slurm|nossh",
        "How the processes on other machines are started."},
    {"deepspeed_config", "deepspeed_hostfile", "", "The hosts of the job."},
    {"deepspeed_config", "deepspeed_exclusion_filter", "", "Hosts and GPUs that are not used."},
    {"deepspeed_config", "deepspeed_inclusion_filter", "", "Hosts and GPUs that alone are used."},
    {"deepspeed_config", "deepspeed_moe_layer_cls_names", "",
        "The classes of layers with experts, which stage 3 leaves whole."},
    {"parallelism_config", "parallelism_config_dp_replicate_size", "", "Copies of the model."},
    {"parallelism_config", "parallelism_config_dp_shard_size", "",
        "Processes that one copy is sharded over."},
    {"parallelism_config", "parallelism_config_tp_size", "", "Processes of tensor parallelism."},
    {"parallelism_config", "parallelism_config_cp_size", "",
        "Processes that one sequence is shared out over."},
};

const Meaning* meaning_of(std::string_view section, std::string_view name) {
  const auto find = [&](std::string_view wanted) {
    return std::find_if(std::begin(meanings), std::end(meanings),
        [&](const Meaning& each) { return each.section == section && each.name == wanted; });
  };
  auto found = find(name);
  // In `fsdp_config` a name may stand without what it begins with.
  if (found == std::end(meanings) && section == "fsdp_config") found = find("fsdp_" + std::string(name));
  return found == std::end(meanings) ? nullptr : &*found;
}

std::string help_of(std::string_view section, std::string_view name) {
  std::string text = "`" + std::string(name) + "`";
  if (const std::vector<std::string_view> values = values_of(section, name); !values.empty())
    text += ": " + in_code(values);
  text += "\n\n";
  if (const Meaning* meaning = meaning_of(section, name)) text += std::string(meaning->text) + "\n\n";
  return text + "Read by `accelerate launch` from " +
      (section.empty() ? "its configuration" : "`" + std::string(section) + "`") +
      ": [its documentation](https://huggingface.co/docs/accelerate/package_reference/cli#accelerate-launch).";
}

std::string_view line_at(std::string_view text, std::uint32_t offset, std::uint32_t& begin) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  begin = before == std::string_view::npos ? 0 : static_cast<std::uint32_t>(before) + 1;
  return text.substr(begin, std::min(text.find('\n', offset), text.size()) - begin);
}
std::size_t indent_of(std::string_view line) { return std::min(line.find_first_not_of(' '), line.size()); }

// The key whose table the place lies in, by its indentation: what is being typed may be no YAML.
std::string section_at(std::string_view text, std::uint32_t begin, std::size_t indent) {
  while (begin > 0 && indent > 0) {
    const std::string_view line = line_at(text, begin - 1, begin);
    const std::size_t own = indent_of(line);
    if (own == line.size() || line[own] == '#' || own >= indent) continue;
    return std::string(line.substr(own, std::min(line.find(':'), line.size()) - own));
  }
  return {};
}

}  // namespace

std::vector<std::string_view> names_of(std::string_view section) {
  std::vector<std::string_view> names;
  for (const Known& each : all)
    if (each.section == section) names.push_back(each.name);
  if (section == "deepspeed_config" || section == "parallelism_config")
    for (const Meaning& each : meanings)
      if (each.section == section) names.push_back(each.name);
  return names;
}

std::vector<std::string_view> values_of(std::string_view section, std::string_view name) {
  std::vector<std::string_view> values;
  if (section.empty() && (name == "distributed_type" || name == "mixed_precision")) values = names_of(name);
  const Meaning* meaning = meaning_of(section, name);
  for (std::string_view rest = meaning ? meaning->values : std::string_view(); !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    values.push_back(rest.substr(0, bar));
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return values;
}

std::optional<KeyHelp> help(const Document& document, std::uint32_t offset) {
  const auto in_table = [&](const Node& table, std::string_view section) -> std::optional<KeyHelp> {
    const std::vector<std::string_view> names = names_of(section);
    for (const Field& field : table.fields) {
      const bool known = std::find(names.begin(), names.end(), field.key) != names.end() ||
          meaning_of(section, field.key);
      if (known && field.key_span.begin <= offset && offset < field.key_span.end)
        return KeyHelp{field.key_span, help_of(section, field.key)};
    }
    return std::nullopt;
  };
  if (auto found = in_table(document.root, "")) return found;
  for (const Field& field : document.root.fields)
    if (field.value.is(Node::Kind::table))
      if (auto found = in_table(field.value, field.key)) return found;
  return std::nullopt;
}

std::vector<KeyChoice> choices(const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> made;
  const std::string_view text = document.text->bytes();
  std::uint32_t begin = 0;
  const std::string_view line = line_at(text, offset, begin);
  const std::size_t indent = std::min<std::size_t>(indent_of(line), offset - begin);
  const std::string section = section_at(text, begin, indent);
  const std::size_t colon = line.find(':');
  if (colon != std::string_view::npos && offset - begin > colon) {
    const std::string name(line.substr(indent, colon - indent));
    for (const std::string_view value : values_of(section, name))
      made.push_back({std::string(value), "", help_of(section, name), true});
    return made;
  }
  const Node* table = section.empty() ? &document.root : document.root.at(section);
  const auto add = [&](std::string_view name) {
    // Of two spellings the longer one is documented.
    if (section == "fsdp_config" && !name.starts_with("fsdp_")) return;
    if ((table && table->find(name)) ||
        std::any_of(made.begin(), made.end(), [&](const KeyChoice& each) { return each.key == name; }))
      return;
    const std::vector<std::string_view> values = values_of(section, name);
    std::string detail;
    for (const std::string_view value : values)
      detail += (detail.empty() ? "one of " : ", ") + std::string(value);
    made.push_back({std::string(name), detail, help_of(section, name)});
  };
  for (const std::string_view name : names_of(section)) add(name);
  for (const Meaning& meaning : meanings)
    if (meaning.section == section) add(meaning.name);
  return made;
}

}  // namespace stepzero::rules::accelerate
