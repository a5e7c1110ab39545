#include "rules/config/trainer_help.hpp"

#include "libraries/frameworks/lightning_arguments.hpp"
#include "libraries/frameworks/training_arguments.hpp"
#include "rules/choices.hpp"
#include "rules/config/lightning_files.hpp"
#include "rules/sentences.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace stepzero::rules::trainer_help {

using program::ValueType;

namespace {

using KeyMeaning = std::array<std::string_view, 2>;

// lightning 2.6, its page on the Trainer. In our words, with what helps where memory or time is short.
constexpr KeyMeaning of_lightning[] = {
    {"accelerator", "What computes. `auto` takes a GPU where there is one."},
    {"strategy",
        "How the processes share the work: `ddp` copies the model to each, `fsdp` and `deepspeed_stage_3` shard it where it does not fit."},
    {"devices",
        "Devices of each node: a number, a list of indices, or `auto`. Each is a process with batches of its own."},
    {"num_nodes", "Machines of the job. The launcher, or SLURM, has to start as many."},
    {"precision",
        "`bf16-mixed` halves the memory of activations and needs no loss scale on GPUs from Ampere on; `16-mixed` scales the loss; `bf16-true` keeps the weights in bfloat16, too."},
    {"max_epochs",
        "Epochs after which the training ends; -1 for no end. Without it and `max_steps` Lightning takes 1000."},
    {"max_steps",
        "Steps of the optimizer after which the training ends, whatever `max_epochs` says; -1 for no end."},
    {"accumulate_grad_batches",
        "Batches that make one step: `devices × num_nodes × batch_size` times this is the effective batch. More of them with smaller batches keep it and need less memory."},
    {"gradient_clip_val",
        "What the gradients are clipped to, by their norm unless `gradient_clip_algorithm` says `value`."},
    {"gradient_clip_algorithm", "`norm` clips all gradients together, `value` each number on its own."},
    {"limit_train_batches",
        "A share of each epoch as a number up to 1.0, or a number of batches as an integer: `1` is one batch, `1.0` all."},
    {"limit_val_batches",
        "A share of the validation as a number up to 1.0, or a number of batches as an integer."},
    {"val_check_interval",
        "How often within an epoch it is validated: a share as a number up to 1.0, or a number of batches as an integer."},
    {"check_val_every_n_epoch", "How often it is validated, in epochs; null counts batches across epochs."},
    {"overfit_batches",
        "Trains on these few batches alone, to see whether the model can learn them by heart."},
    {"fast_dev_run", "Runs one batch of everything and writes no logs and no checkpoints."},
    {"log_every_n_steps", "How often is logged. Each time the GPU is waited for."},
    {"num_sanity_val_steps", "Batches of validation before the training, to see that it runs."},
    {"enable_checkpointing", "Keeps a checkpoint of the last epoch unless a ModelCheckpoint says otherwise."},
    {"deterministic",
        "Takes operators that give the same result each time, which are slower; raises where there is none."},
    {"benchmark",
        "Lets cuDNN choose the fastest convolution: faster where all inputs have one size, slower where they differ."},
    {"detect_anomaly", "Looks for the operator that made a NaN. Much slower: for looking for mistakes only."},
    {"sync_batchnorm",
        "Computes the statistics of BatchNorm over all processes: for small batches per process."},
    {"use_distributed_sampler", "Gives each process its own part of the data; without it all see the same."},
    {"profiler", "Measures what takes the time."},
    {"inference_mode", "Validates without anything that a backward would need."},
    {"default_root_dir", "Where logs and checkpoints are written."},
    {"callbacks",
        "What is called at certain moments: checkpoints, early stopping, the learning rate in the logs."},
    {"logger", "Where the logs go; false for nowhere."},
};
constexpr KeyMeaning of_transformers[] = {
    {"output_dir", "Where checkpoints are written."},
    {"per_device_train_batch_size",
        "Samples of each process in one micro-batch. The effective batch is this times `gradient_accumulation_steps` times the processes: where memory is short, make this smaller and that larger."},
    {"per_device_eval_batch_size", "Samples of each process in one batch of the evaluation."},
    {"gradient_accumulation_steps",
        "Micro-batches that make one step. More of them with a smaller `per_device_train_batch_size` keep the effective batch and need less memory."},
    {"gradient_checkpointing",
        "Computes the activations of each layer again in the backward: about a third more time for much less memory. It turns the model's cache off."},
    {"gradient_checkpointing_kwargs",
        "`{\"use_reentrant\": false}` also trains where the inputs require no gradient, as with adapters."},
    {"bf16",
        "Trains in bfloat16 under autocast: half the memory of activations, no loss scale; GPUs from Ampere on."},
    {"fp16", "Trains in float16 under autocast with a scaled loss: for GPUs without bfloat16."},
    {"tf32",
        "Lets matrix products of float32 use the tensor cores of GPUs from Ampere on: faster, with fewer digits."},
    {"learning_rate", "The highest rate of the schedule. It belongs to the effective batch."},
    {"lr_scheduler_type", "How the rate goes from `learning_rate` to the end."},
    {"warmup_steps", "Steps in which the rate rises; a number below 1 is a share of all steps."},
    {"warmup_ratio", "The share of all steps in which the rate rises."},
    {"num_train_epochs", "Epochs; `max_steps` overrides it."},
    {"max_steps",
        "Steps of the optimizer after which the training ends, whatever the epochs say; -1 for the epochs."},
    {"optim",
        "`adamw_torch_fused` is the fastest; `adamw_8bit` and `adafactor` keep less state where memory is short."},
    {"weight_decay", "Of all parameters but biases and norms."},
    {"max_grad_norm", "The norm that the gradients are clipped to; 0 for none."},
    {"torch_compile",
        "Compiles the model: the first steps take minutes, the others are faster. Leave it off while inputs change their sizes, or while you look for a mistake."},
    {"dataloader_num_workers",
        "Processes that load data beside the training, for each process of the job; 0 loads between the steps."},
    {"dataloader_pin_memory", "Keeps batches in memory that the GPU copies from without waiting."},
    {"auto_find_batch_size",
        "Halves the batch until it fits into memory: then `gradient_accumulation_steps` is no more what it was."},
    {"torch_empty_cache_steps",
        "Gives unused memory back every so many steps: less memory at the peak, and about a tenth more time."},
    {"eval_strategy", "When is evaluated. With `load_best_model_at_end` it is what `save_strategy` is."},
    {"save_strategy", "When a checkpoint is written."},
    {"save_total_limit", "Checkpoints that are kept; the oldest go."},
    {"save_only_model",
        "Leaves out the optimizer's state: smaller checkpoints, which cannot be resumed from."},
    {"load_best_model_at_end",
        "Loads the best checkpoint of those that were evaluated when the training ends."},
    {"deepspeed",
        "A configuration of DeepSpeed. What it says has to be what the arguments say, or \"auto\"."},
    {"fsdp", "Shards the model: `full_shard auto_wrap`, with `fsdp_config`."},
    {"ddp_find_unused_parameters",
        "Looks after each forward for parameters without a gradient: needed where some are unused, else it costs time."},
    {"use_liger_kernel",
        "Fused kernels of the usual language models: less memory for the loss over a large vocabulary."},
    {"report_to", "Where the logs go: `none`, `wandb`, `tensorboard`."},
    {"seed", "Of everything that is drawn at random."},
    {"resume_from_checkpoint",
        "The script hands it to `trainer.train`; the Trainer itself does not read it."},
    {"remove_unused_columns",
        "Drops columns that the model's forward does not take: set it to false where a collator needs them."},
    {"group_by_length", "Puts samples of about one length into a batch: less padding."},
};
constexpr KeyMeaning of_hydra[] = {
    {"defaults",
        "The list of configurations that this one is composed of, in order; `_self_` stands for this file itself."},
    {"_target_",
        "The class or function that `hydra.utils.instantiate` calls with the other keys of this table as arguments."},
    {"_partial_", "Makes `instantiate` give a `functools.partial` instead of calling."},
    {"_recursive_", "False leaves tables inside of this one as they are."},
    {"_convert_",
        "Whether lists and tables are handed over as OmegaConf's (`none`) or as plain ones (`partial`, `all`)."},
    {"_args_", "Arguments by their place."},
    {"hydra", "What Hydra itself reads: the folder of a run, sweeps, logging."},
};

const KeyMeaning* key_meaning_of(const auto& list, std::string_view name) {
  const auto found = std::find_if(
      std::begin(list), std::end(list), [&](const KeyMeaning& each) { return each[0] == name; });
  return found == std::end(list) ? nullptr : &*found;
}

std::string listed(std::string_view choices) {
  constexpr std::size_t most = 14;  // choices that a hover lists
  std::vector<std::string_view> parts = choices_in(choices);
  if (parts.size() <= most) return in_code(parts);
  parts.resize(most);
  return in_code(parts, ",") + " …";
}

std::string text_of(
    std::string_view name, std::string_view detail, const KeyMeaning* meaning, std::string_view reader) {
  std::string text = "`" + std::string(name) + "`" + (detail.empty() ? "" : ": " + std::string(detail)) +
      "\n\n";
  if (meaning) text += std::string((*meaning)[1]) + "\n\n";
  return text + std::string(reader);
}

std::string detail_of_lightning(std::string_view name) { return listed(libraries::lightning_choices(name)); }
std::string help_of_lightning(std::string_view name) {
  return text_of(name, detail_of_lightning(name), key_meaning_of(of_lightning, name),
      "Read by Lightning's Trainer: [its documentation](https://lightning.ai/docs/pytorch/stable/common/trainer.html#" +
          std::string(name) + ").");
}
std::string detail_of_transformers(const libraries::TrainingArgument& argument) {
  if (!argument.choices.empty()) return listed(argument.choices);
  return argument.type == ValueType::text ? std::string() : std::string(program::in_words(argument.type));
}
std::string help_of_transformers(std::string_view name, const libraries::TrainingArgument& argument) {
  return text_of(name, detail_of_transformers(argument), key_meaning_of(of_transformers, name),
      "Read by the Trainer of transformers: [its documentation](https://huggingface.co/docs/transformers/main_classes/trainer#transformers.TrainingArguments." +
          std::string(name) + ").");
}

bool holds(Span span, std::uint32_t offset) { return span.begin <= offset && offset < span.end; }

// A key of Hydra's own, at whatever depth.
std::optional<KeyHelp> help_of_hydra(const Node& node, std::uint32_t offset, bool is_top) {
  for (const Node& item : node.items)
    if (auto found = help_of_hydra(item, offset, false)) return found;
  for (const Field& field : node.fields) {
    if (holds(field.key_span, offset)) {
      const KeyMeaning* meaning = key_meaning_of(of_hydra, field.key);
      const bool is_of_top = field.key == "defaults" || field.key == "hydra";
      if (!meaning ||
          (is_of_top && (!is_top || (field.key == "defaults" && !field.value.is(Node::Kind::list)))))
        return std::nullopt;
      return KeyHelp{field.key_span,
          text_of(
              field.key, "", meaning, "Read by Hydra: [its documentation](https://hydra.cc/docs/intro/).")};
    }
    if (auto found = help_of_hydra(field.value, offset, false)) return found;
  }
  return std::nullopt;
}

std::string_view line_around(std::string_view text, std::uint32_t offset, std::uint32_t& begin) {
  const std::size_t before = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  begin = before == std::string_view::npos ? 0 : static_cast<std::uint32_t>(before) + 1;
  return text.substr(begin, std::min(text.find('\n', offset), text.size()) - begin);
}

}  // namespace

std::optional<KeyHelp> help(Role role, const Document& document, std::uint32_t offset) {
  if (role == Role::lightning)
    for (const Node* table : lightning::trainer_tables(document.root, true))
      for (const Field& field : table->fields)
        if (holds(field.key_span, offset) && libraries::is_lightning_argument(field.key))
          return KeyHelp{field.key_span, help_of_lightning(field.key)};
  if (role == Role::training_arguments)
    for (const Field& field : document.root.fields)
      if (holds(field.key_span, offset))
        if (const auto* argument = libraries::training_argument(field.key, true))
          return KeyHelp{field.key_span, help_of_transformers(field.key, *argument)};
  return document.language == documents::Language::yaml ? help_of_hydra(document.root, offset, true)
                                                        : std::nullopt;
}

std::vector<KeyChoice> choices(Role role, const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> made;
  if (document.language != documents::Language::yaml) return made;
  const std::string_view text = document.text->bytes();
  std::uint32_t begin = 0;
  const std::string_view line = line_around(text, offset, begin);
  const std::size_t indent = std::min<std::size_t>(
      std::min(line.find_first_not_of(' '), line.size()), offset - begin);
  // The table that the line lies in, by its indentation: what is being typed may be no YAML.
  std::string section;
  for (std::uint32_t at = begin; at > 0 && indent > 0 && section.empty();) {
    const std::string_view other = line_around(text, at - 1, at);
    const std::size_t own = std::min(other.find_first_not_of(' '), other.size());
    if (own < other.size() && other[own] != '#' && own < indent)
      section = other.substr(own, std::min(other.find(':'), other.size()) - own);
  }
  const std::size_t colon = line.find(':');
  const bool is_value = colon != std::string_view::npos && offset - begin > colon;
  const std::string name(is_value ? line.substr(indent, colon - indent) : "");
  const auto add_values = [&](std::string_view values, const std::string& help) {
    for (std::string_view rest = values; !rest.empty();) {
      const std::size_t bar = std::min(rest.find('|'), rest.size());
      made.push_back({std::string(rest.substr(0, bar)), "", help, true});
      rest.remove_prefix(std::min(bar + 1, rest.size()));
    }
  };
  if (role == Role::lightning && section == "trainer") {
    if (is_value) {
      add_values(libraries::lightning_choices(name), help_of_lightning(name));
      return made;
    }
    const Node* table = document.root.at("trainer");
    for (const std::string_view each : libraries::lightning_arguments())
      if (!table || !table->find(each))
        made.push_back({std::string(each), detail_of_lightning(each), help_of_lightning(each)});
  } else if (role == Role::training_arguments && section.empty()) {
    if (const auto* argument = is_value ? libraries::training_argument(name, true) : nullptr) {
      add_values(argument->choices, help_of_transformers(name, *argument));
    } else if (!is_value) {
      for (const libraries::TrainingArgument& each : libraries::training_arguments()) {
        const std::string_view own = each.flag.substr(2);
        if (!own.starts_with("no_") && !document.root.find(own))
          made.push_back({std::string(own), detail_of_transformers(each), help_of_transformers(own, each)});
      }
    }
  }
  return made;
}

}  // namespace stepzero::rules::trainer_help
