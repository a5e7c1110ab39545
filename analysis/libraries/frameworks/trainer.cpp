// The Trainer of transformers. Read in the source of 5.23 and asked: tests/frameworks.
#include "libraries/frameworks/counted_steps.hpp"

#include "interpreter/reasons.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/frameworks/trainer_settings.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::libraries {

using symbolic::Role;

namespace {

template <const std::string_view& path> Value part(Call& call) {
  Instance* made = call.run.make_native(path, call.place);
  made->open = true;
  return Value::of(Kind::instance, made);
}
constexpr std::string_view arguments = "transformers.TrainingArguments", state = "transformers.TrainerState",
                           accelerator = "accelerate.Accelerator";

// Of all versions from 3 to 5.23.
constexpr std::string_view of_trainer[] = {"model", "args", "data_collator", "train_dataset", "eval_dataset",
    "processing_class", "tokenizer", "model_init", "compute_loss_func", "compute_metrics", "callbacks",
    "optimizers", "optimizer_cls_and_kwargs", "preprocess_logits_for_metrics", "prediction_loss_only",
    "tb_writer"};
// What programs call them that come from other libraries, and what the Trainer calls them.
constexpr std::pair<std::string_view, std::string_view> meant[] = {{"collate_fn", "data_collator"},
    {"collator", "data_collator"}, {"dataset", "train_dataset"}, {"train_data", "train_dataset"},
    {"training_args", "args"}, {"arguments", "args"}, {"val_dataset", "eval_dataset"},
    {"valid_dataset", "eval_dataset"}, {"test_dataset", "eval_dataset"}, {"metrics", "compute_metrics"},
    {"compute_metric", "compute_metrics"}, {"callback", "callbacks"}, {"optimizer", "optimizers"}};

// Trainer(collate_fn=...): names that it refuses, told where they are written.
Value trainer_made(Call& call) {
  for (const auto& [name, value] : call.options) {
    const std::string_view text = name.text();
    if (std::ranges::find(of_trainer, text) != std::end(of_trainer)) continue;
    interpreter::ProblemEvent* event = call.run.problem(values::ProblemKind::argument, call);
    const auto* instead = std::ranges::find(
        meant, text, &std::pair<std::string_view, std::string_view>::first);
    explain(*event,
        instead == std::end(meant) ? why<Reason::not_of_trainer>(text)
                                   : why<Reason::other_of_trainer>(text, instead->second));
    if (call.expr)
      for (const syntax::Keyword& each : call.expr->keywords)
        if (each.name.text() == text) event->place = {call.place.chunk, each.span};
  }
  keep_trainer(call);
  return moves_modules(call);
}
Value trained(Call& call) {
  return counts_a_step(call) && step_of_trainer(call) ? nothing(call) : trains(call);
}

// Whether the flag is set is what the call is told.
constexpr std::string_view each_own_flag = "each process reads its own flag, and what follows communicates";

constexpr Hidden trainer_hidden[] = {
    {"transformers.Trainer.train", "*arguments, **options", trained,
        {.name = "trainer.train", .hidden = true, .because = runs_everywhere}, RowKind::method,
        Operation::framework},
    {"transformers.Trainer.evaluate", "*arguments, **options", evaluates,
        {.name = "trainer.evaluate",
            .hidden = true,
            .because = "it gathers the losses and the predictions of all processes"},
        RowKind::method, Operation::framework},
    {"transformers.Trainer.predict", "*arguments, **options", predicts,
        {.name = "trainer.predict", .hidden = true, .because = "it gathers the predictions of all processes"},
        RowKind::method, Operation::framework},
    {"transformers.TrainerControl.$set.should_save", "value", nothing,
        {.name = "the save that `control.should_save` asks for",
            .hidden = true,
            .because = each_own_flag,
            .only_if = 0}},
    {"transformers.TrainerControl.$set.should_evaluate", "value", nothing,
        {.name = "the evaluation that `control.should_evaluate` asks for",
            .hidden = true,
            .because = each_own_flag,
            .only_if = 0}},
    {"transformers.TrainerControl.$set.should_log", "value", nothing,
        {.name = "the log entry that `control.should_log` asks for",
            .hidden = true,
            .because = each_own_flag,
            .only_if = 0}},
    {"transformers.TrainerControl.$set.should_training_stop", "value", nothing,
        {.name = "the end that `control.should_training_stop` asks for",
            .hidden = true,
            .because = each_own_flag,
            .only_if = 0}},
    {"transformers.TrainingArguments.main_process_first", "local=True, desc='work'", context,
        {.name = "main_process_first",
            .hidden = true,
            .because = "the other processes wait in it for the main one"}},
};

}  // namespace

std::vector<Row> trainer_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("transformers.Trainer", class_, "*arguments, **options", trainer_made, {}, Operation::framework),
      row("transformers.Seq2SeqTrainer", class_, "*arguments, **options", trainer_made,
          "transformers.Trainer", Operation::framework),
      row("transformers.Trainer.is_world_process_zero", method, "", is_first),
      row("transformers.Trainer.is_local_process_zero", method, "", is_local_first),
      row("transformers.Trainer.args", property, "", part<arguments>),
      row("transformers.Trainer.state", property, "", part<state>),
      row("transformers.Trainer.accelerator", property, "", part<accelerator>),
      row("transformers.TrainingArguments.process_index", property, "", role_value<Role::rank>),
      row("transformers.TrainingArguments.local_process_index", property, "", role_value<Role::local_rank>),
      row("transformers.TrainingArguments.world_size", property, "", role_value<Role::world_size>),
      row("transformers.TrainingArguments.should_save", property, "", is_first),
      row("transformers.TrainingArguments.should_log", property, "", is_local_first),
      row("transformers.TrainerControl", class_, "*arguments, **options", nullptr),
      row("transformers.TrainerCallback", class_, "*arguments, **options", nullptr),
      row("transformers.TrainerCallback.$given.args", class_, "", nullptr, arguments),
      row("transformers.TrainerCallback.$given.state", class_, "", nullptr, state),
      row("transformers.TrainerCallback.$given.control", class_, "", nullptr, "transformers.TrainerControl"),
      row("transformers.TrainerState", class_, "*arguments, **options", nullptr),
      row("transformers.TrainerState.is_world_process_zero", property, "", is_first),
      row("transformers.TrainerState.is_local_process_zero", property, "", is_local_first),
  };
  for (const std::string_view flag :
      {"transformers.TrainerControl.should_save", "transformers.TrainerControl.should_evaluate",
          "transformers.TrainerControl.should_log", "transformers.TrainerControl.should_training_stop"})
    rows.push_back(row(flag, property, "", uniform));
  // What the Trainer hands to each of them.
  static std::deque<std::string> hooks;  // texts of rows live as long as the process
  for (const std::string_view hook : {"on_init_end", "on_train_begin", "on_train_end", "on_epoch_begin",
           "on_epoch_end", "on_step_begin", "on_pre_optimizer_step", "on_optimizer_step", "on_substep_end",
           "on_step_end", "on_evaluate", "on_predict", "on_save", "on_log", "on_prediction_step"})
    rows.push_back(row(hooks.emplace_back("transformers.TrainerCallback." + std::string(hook)), method,
        "args, state, control, **options", nothing));
  add_hidden(rows, trainer_hidden);
  for (Row& each : trainer_setting_rows()) rows.push_back(std::move(each));
  return rows;
}

}  // namespace stepzero::libraries
