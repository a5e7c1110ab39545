#include "rules/deepspeed/keys.hpp"

#include <algorithm>
#include <array>

namespace stepzero::rules::deepspeed {

namespace {

constexpr Key all[] = {
#include "rules/deepspeed/keys.inc"
};

struct Purpose {
  std::string_view section, name, text;
};
constexpr Purpose purposes[] = {
    {"", "train_batch_size",
        "Samples of one optimizer step over all processes: micro batch × accumulation × data-parallel processes. One of the three may be left out."},
    {"", "train_micro_batch_size_per_gpu",
        "Samples that one process takes through the model at once. Halve it first where memory runs out, and double the accumulation."},
    {"", "gradient_accumulation_steps",
        "Backward passes before one optimizer step. `engine.step()` counts them: call it after each backward."},
    {"", "gradient_clipping",
        "The norm that gradients are clipped to before the step; 0 does not clip. The script must not clip besides."},
    {"", "optimizer",
        "The optimizer that DeepSpeed makes, where the script hands none to `deepspeed.initialize`."},
    {"", "scheduler", "The schedule of the learning rate that DeepSpeed steps with the optimizer."},
    {"", "fp16", "Training in float16 with a scaled loss. Not together with `bf16`."},
    {"", "bf16", "Training in bfloat16; the loss needs no scale. Not together with `fp16`."},
    {"", "zero_optimization",
        "What the ranks share among themselves: stage 1 the optimizer's states, 2 the gradients too, 3 the parameters too."},
    {"", "steps_per_print", "Optimizer steps between two lines of the log."},
    {"", "wall_clock_breakdown",
        "Measures forward, backward and step. It synchronizes the device: leave it off where speed counts."},
    {"", "activation_checkpointing",
        "Of the layers that call `deepspeed.checkpointing`; the script still has to call it."},
    {"zero_optimization", "stage",
        "0: nothing is shared; 1: the optimizer's states; 2: the gradients too; 3: the parameters too."},
    {"zero_optimization", "offload_optimizer",
        "Keeps the optimizer's states in the memory of the host or on a disk, and steps there."},
    {"zero_optimization", "offload_param",
        "Keeps the parameters in the memory of the host or on a disk. Only stage 3 reads it."},
    {"zero_optimization", "overlap_comm",
        "Reduces gradients while the backward still runs, for more memory."},
    {"zero_optimization", "contiguous_gradients",
        "Copies gradients into one buffer as they come, so that memory does not fragment."},
    {"zero_optimization", "reduce_bucket_size",
        "Elements that are reduced at once. Smaller values take less memory and more messages."},
    {"zero_optimization", "allgather_bucket_size",
        "Elements that are gathered at once. Smaller values take less memory and more messages."},
    {"zero_optimization", "stage3_gather_16bit_weights_on_model_save",
        "Lets `save_16bit_model` gather the parts of all ranks. Without it nothing usable is saved under stage 3."},
    {"zero_optimization", "stage3_max_live_parameters",
        "Parameters that a GPU holds at once under stage 3. Smaller values take less memory."},
    {"zero_optimization", "stage3_param_persistence_threshold",
        "Parameters smaller than this are not split."},
    {"fp16", "enabled", "Trains in float16."},
    {"bf16", "enabled", "Trains in bfloat16."},
    {"fp16", "loss_scale", "0 adapts the scale; any other number stays as it is."},
    {"fp16", "initial_scale_power", "The first scale of the loss is two to this power."},
};

bool is_written(const Key& key) { return key.type != KeyType::removed; }

}  // namespace

std::span<const Key> keys() { return all; }

const Key* find_key(std::string_view section, std::string_view name) {
  const auto found = std::find_if(std::begin(all), std::end(all),
      [&](const Key& key) { return key.section == section && key.name == name; });
  return found == std::end(all) ? nullptr : found;
}

std::vector<std::string_view> names_of(std::string_view section) {
  std::vector<std::string_view> names;
  for (const Key& key : all)
    if (key.section == section && is_written(key) && key.instead.empty()) names.push_back(key.name);
  return names;
}

bool is_section(std::string_view section) {
  return std::any_of(std::begin(all), std::end(all),
      [&](const Key& key) { return key.section == section && is_written(key); });
}

bool was_open(std::string_view section) {
  constexpr std::array<std::string_view, 2> open_before = {"bf16", "fp16"};  // read key by key before 0.17
  // What is written of an optimizer is not read where the program hands one over.
  return is_of_optimizer(section) ||
      std::find(open_before.begin(), open_before.end(), section) != open_before.end();
}
bool is_of_optimizer(std::string_view section) { return section.starts_with("optimizer.params:"); }
bool is_strict(std::string_view section) {
  return std::any_of(std::begin(all), std::end(all),
      [&](const Key& key) { return key.section == section && is_written(key) && key.strict; });
}

std::string displayed_type(const Key& key) {
  constexpr std::string_view names[] = {
      "", "true or false", "an integer", "a number", "a string", "a list", "a table", ""};
  std::string text(names[static_cast<int>(key.type)]);
  if (!key.choices.empty()) {
    text = "one of ";
    for (std::string_view rest = key.choices; !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      text += (text.size() > 7 ? ", " : "") + std::string(rest.substr(0, bar));
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  }
  if (!key.default_value.empty())
    text += (text.empty() ? "" : "; ") + std::string(key.default_value) + " by default";
  return text;
}

std::string_view purpose(std::string_view section, std::string_view name) {
  if (name == "bfloat16" && section.empty()) name = "bf16";
  for (const Purpose& each : purposes)
    if (each.section == section && each.name == name) return each.text;
  return {};
}

}  // namespace stepzero::rules::deepspeed
