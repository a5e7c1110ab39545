// What is said of the reasons of arguments of trainers and of configurations.
#include "rules/shape/reason_texts.hpp"

namespace stepzero::rules {

namespace {

using interpreter::Reason;

constexpr ReasonText framework_texts[] = {
    {Reason::two_configurations,
        "This launch names a configuration, `--deepspeed_config {}`, and the call passes another. DeepSpeed takes only one, and raises \"we were given deepspeed configs in the deepspeed arguments and deepspeed.initialize() function call\". Leave one of them out."},
    {Reason::no_configuration,
        "Neither this launch nor the call names a configuration: \"DeepSpeed requires --deepspeed_config to specify configuration file\". Pass `config=`, or launch with `--deepspeed_config`."},
    {Reason::former_of_lightning, "Since Lightning 2 the Trainer has no argument `{}`: `TypeError`"},
    {Reason::renamed_by_lightning,
        "Since Lightning 2 the Trainer has no argument `{}`: `TypeError`. Today it is {}"},
    {Reason::not_of_lightning, "Lightning's Trainer has no argument `{}`: `TypeError`"},
    {Reason::other_of_lightning, "Lightning's Trainer has no argument `{}`: `TypeError`. Did you mean `{}`?"},
    {Reason::former_strategy, "Since Lightning 2 the Trainer has no strategy \"{}\": `ValueError`"},
    {Reason::renamed_strategy,
        "Since Lightning 2 the Trainer has no strategy \"{}\": `ValueError`. Today it is \"{}\""},
    {Reason::not_known_to_lightning, "Lightning's Trainer does not know `{}=\"{}\"` and raises: it takes {}"},
    {Reason::other_known_to_lightning,
        "Lightning's Trainer does not know `{}=\"{}\"` and raises. Did you mean `{}`?"},
    {Reason::lightning_share,
        "`{}` takes a share up to 1.0 or an integer number of batches; Lightning's Trainer refuses other numbers"},
    {Reason::lightning_end,
        "`{}` takes -1 for no end, or a number from 0 on; Lightning's Trainer refuses other numbers"},
    {Reason::lightning_number, "`{}` takes a number from {} on; Lightning's Trainer refuses other numbers"},
    {Reason::barebones, "`barebones` and `{}` exclude each other: `ValueError`"},
    {Reason::interval_across_epochs,
        "Without `check_val_every_n_epoch` Lightning counts batches across epochs, so `val_check_interval` must be an integer: it raises for a share of an epoch"},
    {Reason::interpolated_key,
        "`{}` names a key that the configuration does not have{?, unless the command line gives it}: `InterpolationKeyError`"},
    {Reason::key_to_give,
        "`{}` is `???`, which must be given before it is read{?, unless the command line gives it}: `MissingMandatoryValue`"},
    {Reason::configuration_key,
        "The configuration has no key `{}`{?, unless the command line gives it}: \"Missing key {}\""},
    {Reason::other_configuration_key,
        "The configuration has no key `{}`{?, unless the command line gives it}: \"Missing key {}\". It has `{}`"},
    {Reason::not_of_trainer, "The Trainer takes no argument `{}`, and raises `TypeError` when it is made"},
    {Reason::other_of_trainer,
        "The Trainer takes no argument `{}`, and raises `TypeError` when it is made. Call it `{}`"},
    {Reason::of_file, "`{}`: {}"},
    {Reason::other_than_configured,
        "`{}={}`{?, which is the default,} differs from `{}` in the configuration, which is {}: the Trainer refuses a configuration that does not match its arguments. Write \"auto\" in the configuration, and the Trainer fills in the value"},
    {Reason::unused_keys,
        "`{}` has {}, which no class of this parser takes: \"Some keys are not used by the HfArgumentParser\". Correct the file, or pass `allow_extra_keys=True`"},
    {Reason::besides, "{}. Besides, {}"},
    {Reason::former_choice, "Since transformers 5 `{}` can no longer be \"{}\": `ValueError`"},
    {Reason::not_among_choices, "`{}` cannot be \"{}\": `ValueError`. It takes {}"},
    {Reason::other_choice, "`{}` cannot be \"{}\": `ValueError`. Did you mean \"{}\"?"},
    {Reason::number_as_text,
        "`{}` takes a number, and \"{}\" is a string: nothing converts it, and the comparison or the optimizer that gets it raises `TypeError`"},
    {Reason::former_name_and_choice,
        "`{}` cannot be \"{}\": `ValueError`. It takes {}, and since transformers {} is `{}`"},
    {Reason::former_name, "Since transformers {} the Trainer's arguments have no `{}`: `TypeError`"},
    {Reason::renamed,
        "Since transformers {} the Trainer's arguments have no `{}`: `TypeError`. Today it is `{}`"},
    {Reason::no_training_argument, "The Trainer's arguments have no `{}` in transformers 5.23: `TypeError`"},
    {Reason::other_training_argument,
        "The Trainer's arguments have no `{}`: `TypeError`. Did you mean `{}`?"},
    {Reason::both_on, "`{}` and `{}` are both on, and the Trainer refuses them: \"{}\". Choose one"},
    {Reason::best_of_strategies,
        "`load_best_model_at_end` takes the best of the checkpoints that were evaluated, but `eval_strategy` is \"{}\"{? by default} and `save_strategy` is \"{}\"{? by default}: `ValueError`. Use the same strategy for both"},
    {Reason::best_of_steps,
        "`load_best_model_at_end` needs each saved checkpoint to be evaluated, but `save_steps` of {} is not a multiple of `eval_steps` of {}: `ValueError`. Make it one"},
    {Reason::schedule_of_evaluation,
        "`lr_scheduler_type` \"{}\" follows the evaluation, but `eval_strategy` is \"no\": `ValueError`. Set `eval_strategy`"},
    {Reason::trainer_prefetch,
        "`dataloader_prefetch_factor` is for workers, but `dataloader_num_workers` is 0: `ValueError`. Set `dataloader_num_workers` above 0, or leave it out"},
    {Reason::warmup_beyond_end,
        "`warmup_steps` of {} is more than `max_steps` of {}: the training ends before the learning rate is reached. Warm up for a part of the steps"},
    {Reason::cache_switched_off,
        "`use_cache` has no effect beside `gradient_checkpointing`: in training the layers switch the cache off, \"Caching is incompatible with gradient checkpointing\". Set `use_cache=False`"},
    {Reason::other_sharding, "`fsdp` has no option \"{}\": `ValueError`. Did you mean \"{}\"?"},
    {Reason::sharding_without_blanks,
        "`fsdp` has no option \"{}\": `ValueError`. Separate the options with spaces"},
    {Reason::no_sharding, "`fsdp` has no option \"{}\": `ValueError`. It is made of {}"},
};
static_assert(is_complete(framework_texts));

}  // namespace

std::span<const ReasonText> texts_of_frameworks() { return framework_texts; }

}  // namespace stepzero::rules
