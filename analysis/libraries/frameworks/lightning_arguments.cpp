#include "libraries/frameworks/lightning_arguments.hpp"

#include "interpreter/reasons.hpp"

#include "syntax/spelling.hpp"
#include "values/shape_text.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::libraries {

namespace {

using interpreter::Reason;
using interpreter::why;

using LightningKind = LightningSetting::Kind;

// What numbers it takes. share: a real number up to 1, or an integer.
enum class Range : unsigned char { any, share, from_minus_one, from_zero, from_one };

struct Argument {
  std::string_view name;
  Range takes = Range::any;
  std::string_view choices = {};
  bool is_closed = true;  // no other text is taken; registries of strategies and accelerators are open
};
constexpr Argument known_arguments[] = {
    {"accelerator", Range::any, "auto|cpu|gpu|cuda|mps|tpu", false},
    {"strategy", Range::any,
        "auto|ddp|ddp_find_unused_parameters_true|ddp_find_unused_parameters_false|ddp_spawn|ddp_fork|ddp_notebook|deepspeed|deepspeed_stage_1|deepspeed_stage_2|deepspeed_stage_2_offload|deepspeed_stage_3|"
        "deepspeed_stage_3_offload|deepspeed_stage_3_offload_nvme|fsdp|fsdp_cpu_offload|single_device|single_xla|xla|xla_debug",
        false},
    {"devices"},
    {"num_nodes", Range::from_one},
    {"precision", Range::any,
        "32-true|16-mixed|bf16-mixed|16-true|bf16-true|64-true|transformer-engine|transformer-engine-float16|64|32|16|bf16"},
    {"logger"},
    {"callbacks"},
    {"fast_dev_run", Range::from_zero},
    {"max_epochs", Range::from_minus_one},
    {"min_epochs"},
    {"max_steps", Range::from_minus_one},
    {"min_steps"},
    {"max_time"},
    {"limit_train_batches", Range::share},
    {"limit_val_batches", Range::share},
    {"limit_test_batches", Range::share},
    {"limit_predict_batches", Range::share},
    {"overfit_batches", Range::share},
    {"val_check_interval"},
    {"check_val_every_n_epoch"},
    {"num_sanity_val_steps"},
    {"log_every_n_steps"},
    {"enable_checkpointing"},
    {"enable_progress_bar"},
    {"enable_model_summary"},
    {"accumulate_grad_batches"},
    {"gradient_clip_val"},
    {"gradient_clip_algorithm", Range::any, "norm|value"},
    {"deterministic"},
    {"benchmark"},
    {"inference_mode"},
    {"use_distributed_sampler"},
    {"profiler", Range::any, "simple|advanced|pytorch|xla"},
    {"detect_anomaly"},
    {"barebones"},
    {"plugins"},
    {"sync_batchnorm"},
    {"reload_dataloaders_every_n_epochs", Range::from_zero},
    {"default_root_dir"},
    {"enable_autolog_hparams"},
    {"model_registry"},
};

// Arguments of Lightning 1, which 2.0 took away: by its guide to migration.
struct Former {
  std::string_view name, instead;
};
constexpr Former former[] = {
    {"gpus", "`devices` with `accelerator=\"gpu\"`"},
    {"tpu_cores", "`devices` with `accelerator=\"tpu\"`"},
    {"ipus", ""},
    {"num_processes", "`devices` with `accelerator=\"cpu\"`"},
    {"auto_select_gpus", ""},
    {"auto_scale_batch_size", "`Tuner.scale_batch_size`"},
    {"auto_lr_find", "`Tuner.lr_find`"},
    {"replace_sampler_ddp", "`use_distributed_sampler`"},
    {"resume_from_checkpoint", "`trainer.fit(ckpt_path=…)`"},
    {"progress_bar_refresh_rate", "`enable_progress_bar`, or a `TQDMProgressBar`"},
    {"checkpoint_callback", "`enable_checkpointing`"},
    {"weights_summary", "`enable_model_summary`"},
    {"distributed_backend", "`strategy`"},
    {"amp_backend", ""},
    {"amp_level", ""},
    {"move_metrics_to_cpu", ""},
    {"multiple_trainloader_mode", "`CombinedLoader`"},
    {"flush_logs_every_n_steps", ""},
    {"log_gpu_memory", "`DeviceStatsMonitor`"},
    {"prepare_data_per_node", "an attribute of the DataModule"},
    {"process_position", "a `TQDMProgressBar`"},
    {"stochastic_weight_avg", "the callback `StochasticWeightAveraging`"},
    {"terminate_on_nan", "`detect_anomaly`"},
    {"track_grad_norm", "`self.log` in `on_before_optimizer_step`"},
    {"truncated_bptt_steps", ""},
    {"weights_save_path", "`default_root_dir`"},
    {"reload_dataloaders_every_epoch", "`reload_dataloaders_every_n_epochs`"},
    {"automatic_optimization", "an attribute of the module"},
    {"overfit_pct", "`overfit_batches`"},
    {"val_percent_check", "`limit_val_batches`"},
    {"train_percent_check", "`limit_train_batches`"},
    {"early_stop_callback", "`callbacks`"},
    {"max_nb_epochs", "`max_epochs`"},
    {"row_log_interval", "`log_every_n_steps`"},
    {"nb_sanity_val_steps", "`num_sanity_val_steps`"},
    {"use_amp", "`precision`"},
    {"log_save_interval", ""},
    {"show_progress_bar", "`enable_progress_bar`"},
    {"stage", ""},
};

// Strategies of Lightning 1, by the same guide.
struct FormerStrategy {
  std::string_view name, instead;
};
constexpr FormerStrategy former_strategies[] = {
    {"dp", "ddp"},
    {"ddp2", "ddp"},
    {"ddp_sharded", "fsdp"},
    {"ddp_sharded_spawn", "fsdp"},
    {"ddp_fully_sharded", "fsdp"},
    {"fsdp_native", "fsdp"},
    {"fairscale", "fsdp"},
    {"horovod", ""},
    {"bagua", ""},
    {"hivemind", ""},
    {"colossalai", ""},
};

const Argument* find(std::string_view name) {
  const auto found = std::find_if(std::begin(known_arguments), std::end(known_arguments),
      [&](const Argument& each) { return each.name == name; });
  return found == std::end(known_arguments) ? nullptr : &*found;
}

template <class Each> void each_choice(std::string_view choices, const Each& each) {
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    each(choices.substr(0, bar));
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
}

// The one that is nearest by letters; empty if none is near.
std::string_view near(std::string_view word, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(1, word.size() / 5) + 1;
  for (const std::string_view each : known)
    if (const std::size_t apart = syntax::letters_between(word, each); apart < least)
      best = each, least = apart;
  return best;
}

void judge_name(const LightningSetting& setting, std::size_t at, std::vector<LightningMisuse>& into) {
  const auto old = std::find_if(
      std::begin(former), std::end(former), [&](const Former& each) { return each.name == setting.name; });
  if (old != std::end(former)) {
    into.push_back({at, {},
        old->instead.empty() ? why<Reason::former_of_lightning>(setting.name)
                             : why<Reason::renamed_by_lightning>(setting.name, old->instead),
        {}, true, true, true});
    return;
  }
  const std::string_view meant = near(setting.name, lightning_arguments());
  into.push_back({at, {},
      meant.empty() ? why<Reason::not_of_lightning>(setting.name)
                    : why<Reason::other_of_lightning>(setting.name, meant),
      meant, true, !meant.empty(), false});
}

void judge_text(const Argument& argument, const LightningSetting& setting, std::size_t at,
    std::vector<LightningMisuse>& into) {
  if (argument.choices.empty()) return;
  std::vector<std::string_view> known;
  each_choice(argument.choices, [&](std::string_view each) { known.push_back(each); });
  std::string lower = setting.text;
  std::transform(lower.begin(), lower.end(), lower.begin(),
      [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  if (std::find(known.begin(), known.end(), argument.name == "precision" ? setting.text : lower) !=
      known.end())
    return;
  const auto* old = std::ranges::find(former_strategies, lower, &FormerStrategy::name);
  if (argument.name == "strategy" && old != std::end(former_strategies)) {
    into.push_back({at, {},
        old->instead.empty() ? why<Reason::former_strategy>(setting.text)
                             : why<Reason::renamed_strategy>(setting.text, old->instead),
        {}, false, false, true});
    return;
  }
  constexpr std::size_t least_letters = 5;  // shorter names are near each other by chance
  std::string_view meant = near(lower, known);
  // Of strategies there are few, and those of other packages are near none.
  if (lower.size() < least_letters && !argument.is_closed && argument.name != "strategy" &&
      // but one letter too many is no other name
      (lower.size() != meant.size() + 1 || !lower.starts_with(meant)))
    meant = {};
  if (!argument.is_closed && meant.empty()) return;
  std::string listed;
  for (const std::string_view each : known) listed += (listed.empty() ? "" : ", ") + values::code(each);
  into.push_back({at, {},
      meant.empty() ? why<Reason::not_known_to_lightning>(setting.name, setting.text, listed)
                    : why<Reason::other_known_to_lightning>(setting.name, setting.text, meant),
      meant, false, argument.is_closed, false});
}

void judge_number(const Argument& argument, const LightningSetting& setting, std::size_t at,
    std::vector<LightningMisuse>& into) {
  const auto tell = [&](interpreter::Refusal refusal) {
    into.push_back({at, {}, std::move(refusal), {}, false, true, false});
  };
  switch (argument.takes) {
  case Range::share:
    if (setting.number < 0 || (setting.kind == LightningKind::real && setting.number > 1))
      tell(why<Reason::lightning_share>(setting.name));
    break;
  case Range::from_minus_one:
    if (setting.number < -1) tell(why<Reason::lightning_end>(setting.name));
    break;
  case Range::from_zero:
    if (setting.number < 0) tell(why<Reason::lightning_number>(setting.name, 0));
    break;
  case Range::from_one:
    if (setting.number < 1) tell(why<Reason::lightning_number>(setting.name, 1));
    break;
  case Range::any: break;
  }
}

}  // namespace

bool is_lightning_argument(std::string_view name) { return find(name) != nullptr; }
std::vector<std::string_view> lightning_arguments() {
  std::vector<std::string_view> names;
  for (const Argument& each : known_arguments) names.push_back(each.name);
  return names;
}
std::string_view lightning_choices(std::string_view name) {
  const Argument* known = find(name);
  return known ? known->choices : std::string_view();
}

std::vector<LightningMisuse> misuses_of_lightning(std::span<const LightningSetting> settings) {
  std::vector<LightningMisuse> found;
  std::optional<std::size_t> barebones, no_epochs;
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const LightningSetting& one = settings[i];
    const Argument* argument = find(one.name);
    if (!argument)
      judge_name(one, i, found);
    else if (one.kind == LightningKind::text)
      judge_text(*argument, one, i, found);
    else if (one.kind == LightningKind::whole || one.kind == LightningKind::real)
      judge_number(*argument, one, i, found);
    if (one.name == "barebones" && one.kind == LightningKind::truth && one.truth) barebones = i;
    if (one.name == "check_val_every_n_epoch" && one.kind == LightningKind::none) no_epochs = i;
  }
  constexpr std::string_view not_bare[] = {
      "enable_checkpointing", "enable_progress_bar", "enable_model_summary", "logger", "detect_anomaly"};
  for (std::size_t i = 0; i < settings.size(); ++i) {
    const LightningSetting& one = settings[i];
    if (barebones && one.kind == LightningKind::truth && one.truth &&
        std::find(std::begin(not_bare), std::end(not_bare), one.name) != std::end(not_bare))
      found.push_back({i, barebones, why<Reason::barebones>(one.name), {}, false, true, false});
    if (no_epochs && one.name == "val_check_interval" && one.kind == LightningKind::real)
      found.push_back({i, no_epochs, why<Reason::interval_across_epochs>(), {}, false, true, false});
  }
  return found;
}

}  // namespace stepzero::libraries
