#include "libraries/frameworks/training_arguments.hpp"

#include "interpreter/reasons.hpp"

#include "syntax/spelling.hpp"

#include <algorithm>
#include <cmath>

namespace stepzero::libraries {

namespace {

using interpreter::Reason;
using interpreter::why;
using program::Takes;
using program::ValueType;

constexpr TrainingArgument all[] = {
#include "libraries/frameworks/training_arguments.inc"
};

// What transformers 4 had and 5 has no more, or has on the command line only: from the migration guide of
// transformers 5 and the changes of 4.x.
constexpr FormerArgument former_arguments[] = {
    {"adafactor", "5", "optim=\"adafactor\""},
    {"bf16_backend", "5"},
    {"cuda_amp"},
    {"dispatch_batches", "4.46", "accelerator_config"},
    {"evaluate_during_training", "4", "eval_strategy"},
    {"evaluation_strategy", "4.46", "eval_strategy"},
    {"fp16_backend", "5"},
    {"fp16_opt_level", "5"},
    {"fsdp_min_num_params", "5", "fsdp_config"},
    {"fsdp_transformer_layer_cls_to_wrap", "5", "fsdp_config"},
    {"group_by_length", "5", "train_sampling_strategy=\"group_by_length\""},
    {"half_precision_backend", "5"},
    {"include_inputs_for_metrics", "5", "include_for_metrics"},
    {"jit_mode_eval", "5"},
    {"local-rank"},
    {"logging_dir", "5"},
    {"mp_parameters", "5"},
    {"no_cuda", "5", "use_cpu"},
    {"overwrite_output_dir", "5"},
    {"past_index", "5"},
    {"per_gpu_eval_batch_size", "5", "per_device_eval_batch_size"},
    {"per_gpu_train_batch_size", "5", "per_device_train_batch_size"},
    {"push_to_hub_model_id", "5", "hub_model_id"},
    {"push_to_hub_organization", "5", "hub_model_id"},
    {"push_to_hub_token", "5", "hub_token"},
    {"ray_scope", "5"},
    {"save_safetensors", "5"},
    {"sharded_ddp", "4.40"},
    {"split_batches", "4.46", "accelerator_config"},
    {"torchdynamo", "5", "torch_compile_backend"},
    {"tpu_metrics_debug", "5"},
    {"tpu_num_cores", "5"},
    {"use_ipex", "5"},
    {"use_mps_device", "5"},
    {"warmup_ratio", "5", "warmup_steps"},
    {"xpu_backend", "4.40"},
};

struct FormerChoice {
  std::string_view name, value;
};
constexpr FormerChoice former_choices[] = {{"optim", "adamw_hf"}, {"optim", "adamw_apex_fused"}};

// Words that the text of `fsdp` is made of: FSDPOption of transformers.
constexpr std::string_view sharding_words =
    "full_shard|shard_grad_op|no_shard|hybrid_shard|hybrid_shard_zero2|offload|auto_wrap";

// Numbers that no training does without.
constexpr std::string_view always_read[] = {"learning_rate", "weight_decay", "num_train_epochs", "max_steps",
    "warmup_steps", "per_device_train_batch_size"};

bool is_choice(std::string_view choices, std::string_view text) {
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    if (rest.substr(0, bar) == text) return true;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return false;
}
std::string_view near_choice(std::string_view choices, std::string_view text) {
  std::string_view best;
  std::size_t least = 3;
  for (std::string_view rest = choices; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    const std::string_view one = rest.substr(0, bar);
    if (const std::size_t apart = syntax::letters_between(text, one);
        apart < least && apart < one.size() / 2 + 1)
      best = one, least = apart;
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return best;
}
std::string listed(std::string_view choices) {
  std::string text;
  std::size_t count = 0;
  constexpr std::size_t most = 8;  // choices that a message lists
  for (std::string_view rest = choices; !rest.empty() && count <= most; ++count) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    const bool is_last = bar == rest.size() && count > 0 && count < most;
    text += (text.empty()     ? ""
                    : is_last ? " or "
                              : ", ") +
        (count == most ? std::string("…") : "\"" + std::string(rest.substr(0, bar)) + "\"");
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return text;
}

using TrainingKind = TrainingSetting::Kind;

class Judge {
public:
  Judge(std::span<const TrainingSetting> settings, bool of_sequences, bool all_seen, bool names)
      : settings_(settings), of_sequences_(of_sequences), all_seen_(all_seen), names_(names) {}

  std::vector<TrainingMisuse> run() {
    for (std::size_t i = 0; i < settings_.size(); ++i) judge_one(i);
    refuse_both("fp16", "bf16", "At most one of fp16 and bf16 can be True");
    refuse_both("fp16_full_eval", "bf16_full_eval", "At most one of fp16 and bf16 can be True for full eval");
    judge_best();
    judge_plateau();
    judge_prefetch();
    judge_warmup();
    judge_cache();
    judge_sharding();
    return std::move(found_);
  }

private:
  std::optional<std::size_t> index(std::string_view name) const {
    for (std::size_t i = settings_.size(); i-- > 0;)
      if (settings_[i].name == name) return i;
    // Under the name that it had: in the versions that know it, it is set.
    for (std::size_t i = settings_.size(); i-- > 0;)
      if (const FormerArgument* old = former_training_argument(settings_[i].name);
          old && old->instead == name)
        return i;
    return std::nullopt;
  }
  const TrainingSetting* setting(std::string_view name) const {
    const auto at = index(name);
    return at ? &settings_[*at] : nullptr;
  }
  bool is_on(std::string_view name) const {
    const TrainingSetting* one = setting(name);
    return one && one->kind == TrainingKind::truth && one->truth;
  }
  // The text that is set, or the default where it is known that none is; nothing where that is not known.
  std::optional<std::string> text(std::string_view name, std::string_view otherwise) const {
    const TrainingSetting* one = setting(name);
    if (one) return one->kind == TrainingKind::text ? std::optional(one->text) : std::nullopt;
    return all_seen_ ? std::optional<std::string>(otherwise) : std::nullopt;
  }
  std::optional<double> number(std::string_view name, double otherwise) const {
    const TrainingSetting* one = setting(name);
    if (one) return one->kind == TrainingKind::number ? std::optional(one->number) : std::nullopt;
    return all_seen_ ? std::optional(otherwise) : std::nullopt;
  }

  void judge_one(std::size_t i) {
    const TrainingSetting& one = settings_[i];
    const TrainingArgument* known = training_argument(one.name, of_sequences_);
    if (!known) return judge_name(i);
    if (one.kind != TrainingKind::text) return;
    if (is_former_training_choice(one.name, one.text)) {
      TrainingMisuse& misuse = found_.emplace_back();
      misuse.at = i, misuse.is_certain = false, misuse.is_former = true;
      misuse.refusal = why<Reason::former_choice>(one.name, one.text);
    } else if (!known->choices.empty() && !is_choice(known->choices, one.text)) {
      const std::string_view meant = near_choice(known->choices, one.text);
      found_.push_back({i, {},
          meant.empty() ? why<Reason::not_among_choices>(one.name, one.text, listed(known->choices))
                        : why<Reason::other_choice>(one.name, one.text, meant),
          meant, !meant.empty() || one.name.ends_with("_strategy")});
    } else if (known->choices.empty() && is_number(known->type)) {
      found_.push_back({i, {}, why<Reason::number_as_text>(one.name, one.text), {},
          std::ranges::find(always_read, one.name) != std::end(always_read)});
    }
  }
  void judge_name(std::size_t i) {
    const std::string& name = settings_[i].name;
    if (const FormerArgument* old = former_training_argument(name)) {
      if (old->since.empty()) return;
      const bool renames = !old->instead.empty() && old->instead.find('=') == std::string_view::npos &&
          old->instead != "accelerator_config" && old->instead != "fsdp_config" &&
          old->instead != "warmup_steps";
      // What it takes today it took then.
      const TrainingArgument* today = renames ? training_argument(old->instead, of_sequences_) : nullptr;
      const TrainingSetting& one = settings_[i];
      if (today && one.kind == TrainingKind::text && !today->choices.empty() &&
          !is_choice(today->choices, one.text)) {
        found_.push_back({i, {},
            why<Reason::former_name_and_choice>(
                name, one.text, listed(today->choices), old->since, old->instead),
            {}, true});
        return;
      }
      found_.push_back({i, {},
          old->instead.empty() ? why<Reason::former_name>(old->since, name)
                               : why<Reason::renamed>(old->since, name, old->instead),
          renames ? old->instead : std::string_view(), false, false, true});
      return;
    }
    const std::string_view meant = near_training_argument(name, !names_);
    if (meant.empty() && !names_) return;
    found_.push_back({i, {},
        meant.empty() ? why<Reason::no_training_argument>(name)
                      : why<Reason::other_training_argument>(name, meant),
        meant, names_ && !meant.empty()});
  }

  void refuse_both(std::string_view one, std::string_view other, std::string_view quote) {
    if (!is_on(one) || !is_on(other)) return;
    found_.push_back({*index(other), index(one), why<Reason::both_on>(one, other, quote), {}, true, true});
  }
  void judge_best() {
    const auto saves = text("save_strategy", "steps"), evaluates = text("eval_strategy", "no");
    if (!is_on("load_best_model_at_end") || !saves || !evaluates || *saves == "best") return;
    const std::size_t at = *index("load_best_model_at_end");
    const auto other = index("eval_strategy") ? index("eval_strategy") : index("save_strategy");
    if (*saves != *evaluates) {

      found_.push_back({at, other,
          why<Reason::best_of_strategies>(
              *evaluates, !setting("eval_strategy"), *saves, !setting("save_strategy")),
          {}, true, true});
      return;
    }
    const double save = number("save_steps", 500).value_or(0),
                 logging = number("logging_steps", 500).value_or(0);
    const double eval = setting("eval_steps") ? number("eval_steps", 0).value_or(0) : all_seen_ ? logging : 0;
    if (*saves != "steps" || eval < 1 || save < 1 || std::fmod(save, eval) == 0) return;
    found_.push_back({at, index("save_steps") ? index("save_steps") : index("eval_steps"),
        why<Reason::best_of_steps>(static_cast<std::int64_t>(save), static_cast<std::int64_t>(eval)), {},
        true, true});
  }
  void judge_plateau() {
    const TrainingSetting* schedule = setting("lr_scheduler_type");
    const auto evaluates = text("eval_strategy", "no");
    if (!schedule || schedule->kind != TrainingKind::text ||
        (schedule->text != "reduce_lr_on_plateau" && schedule->text != "greedy") || !evaluates ||
        *evaluates != "no")
      return;
    found_.push_back({*index("lr_scheduler_type"), index("eval_strategy"),
        why<Reason::schedule_of_evaluation>(schedule->text), {}, true, true});
  }
  void judge_prefetch() {
    const TrainingSetting* prefetch = setting("dataloader_prefetch_factor");
    const auto workers = number("dataloader_num_workers", 0);
    if (!prefetch || prefetch->kind != TrainingKind::number || !workers || *workers != 0) return;
    found_.push_back({*index("dataloader_prefetch_factor"), index("dataloader_num_workers"),
        why<Reason::trainer_prefetch>(), {}, true, true});
  }

  void judge_warmup() {
    const double warmup = number("warmup_steps", 0).value_or(0), steps = number("max_steps", -1).value_or(-1);
    // What is below 1 is a part of all steps.
    if (!setting("warmup_steps") || !setting("max_steps") || steps < 1 || warmup <= steps) return;
    found_.push_back({*index("warmup_steps"), index("max_steps"),
        why<Reason::warmup_beyond_end>(static_cast<std::int64_t>(warmup), static_cast<std::int64_t>(steps)),
        {}, false, true});
  }
  void judge_cache() {
    if (!is_on("use_cache") || !is_on("gradient_checkpointing")) return;
    found_.push_back({*index("use_cache"), index("gradient_checkpointing"), why<Reason::cache_switched_off>(),
        {}, false, true});
  }

  // Each word by itself: they are parted by blanks alone.
  void judge_sharding() {
    const TrainingSetting* fsdp = setting("fsdp");
    if (!fsdp || fsdp->kind != TrainingKind::text) return;
    for (std::string_view rest = fsdp->text; !rest.empty();) {
      const std::size_t blank = std::min(rest.find(' '), rest.size());
      const std::string_view word = rest.substr(0, blank);
      rest.remove_prefix(std::min(blank + 1, rest.size()));
      if (word.empty() || is_choice(sharding_words, word)) continue;
      const std::string_view meant = near_choice(sharding_words, word);
      found_.push_back({*index("fsdp"), {},
          !meant.empty() ? why<Reason::other_sharding>(word, meant)
              : word.find(',') != std::string_view::npos
              ? why<Reason::sharding_without_blanks>(word)
              : why<Reason::no_sharding>(word, listed(sharding_words)),
          {}, true, true});
      return;
    }
  }

  std::span<const TrainingSetting> settings_;
  const bool of_sequences_, all_seen_, names_;
  std::vector<TrainingMisuse> found_;
};

}  // namespace

std::span<const TrainingArgument> training_arguments() { return all; }

const TrainingArgument* training_argument(std::string_view name, bool of_sequences) {
  for (const TrainingArgument& each : all)
    if (each.flag.substr(2) == name && (each.plain || of_sequences)) return &each;
  return nullptr;
}

std::string_view near_training_argument(std::string_view name, bool among_others) {
  constexpr std::size_t short_name = 5, middle = 10, long_name = 14;
  std::string_view best;
  std::size_t least = name.size() >= (among_others ? long_name : middle) ? 3 : 2;
  if (name.size() < (among_others ? middle : short_name)) return best;
  for (const TrainingArgument& each : all) {
    const std::string_view one = each.flag.substr(2);
    if (one.starts_with("no_") || one.size() < 5) continue;
    if (const std::size_t apart = syntax::letters_between(name, one); apart < least)
      best = one, least = apart;
  }
  return best;
}

const FormerArgument* former_training_argument(std::string_view name) {
  const auto* found = std::ranges::find(former_arguments, name, &FormerArgument::name);
  return found == std::end(former_arguments) ? nullptr : found;
}

bool is_former_training_choice(std::string_view name, std::string_view value) {
  return std::ranges::any_of(
      former_choices, [&](const FormerChoice& each) { return each.name == name && each.value == value; });
}

std::vector<TrainingMisuse> misuses_of_training(
    std::span<const TrainingSetting> settings, bool of_sequences, bool all_seen, bool names) {
  return Judge(settings, of_sequences, all_seen, names).run();
}

}  // namespace stepzero::libraries
