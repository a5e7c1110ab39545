// Lightning's Trainer and modules. Read in the source of 2.6 and asked: tests/frameworks.
#include "libraries/frameworks/counted_steps.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "libraries/frameworks/lightning_arguments.hpp"
#include "values/kept_by_packages.hpp"

namespace stepzero::libraries {

using symbolic::Role;

namespace {

Value lightning_trainer(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("pytorch_lightning.Trainer", call.place));
}
LightningSetting lightning_setting(Call& call, std::string_view name, Value value) {
  using Kind_ = LightningSetting::Kind;
  LightningSetting made;
  made.name = name;
  value = call.run.resolve(value);
  if (value.is(Kind::none))
    made.kind = Kind_::none;
  else if (value.is(Kind::string))
    made.kind = Kind_::text, made.text = value.text();
  else if (value.is(Kind::real))
    made.kind = Kind_::real, made.number = value.real();
  else if (const auto whole = value.is(Kind::integer) ? call.run.to_constant(value) : std::nullopt)
    made.kind = Kind_::whole, made.number = static_cast<double>(*whole);
  else if (value.is(Kind::boolean))
    if (const auto known = call.run.symbols().decide(value.condition()); known != symbolic::Answer::unknown)
      made.kind = Kind_::truth, made.truth = known == symbolic::Answer::yes;
  return made;
}
// One device of one node: whatever other processes there are, such a trainer has nothing to do with them.
bool trains_alone(Call& call) {
  const auto is_one = [&](Value value) {
    value = call.run.resolve(value);
    if (value.is(Kind::list)) {
      const auto* devices = values::Heap::list_state(value);
      return !devices->open && devices->items.size() == 1;
    }
    return value.is(Kind::string) ? value.text() == "1" : call.run.to_constant(value) == 1;
  };
  bool one_node = true, one_device = false;
  for (std::size_t i = 0; i < call.row.parameters.size(); ++i) {
    const std::string_view name = call.row.parameters[i].text();
    if (name == "devices") one_device = is_one(call.at(i));
    if (name == "num_nodes") one_node = is_one(call.at(i));
  }
  if (const Value gpus = option(call, "gpus")) one_device = one_device || is_one(gpus);
  return one_device && one_node && !call.spread;
}
// Trainer(max_epochs=3): names and values that it refuses, told where they are written.
Value lightning_trainer_made(Call& call) {
  std::vector<LightningSetting> settings;
  settings.reserve(call.options.size());
  for (const auto& [name, value] : call.options)
    settings.push_back(lightning_setting(call, name.text(), value));
  ArgumentChecks found;
  for (const LightningMisuse& misuse : misuses_of_lightning(settings))
    found.add(settings[misuse.at].name, misuse.refusal, misuse.is_certain && !misuse.is_former, call.row);
  found.tell(call);
  if (const Value precision = option(call, "precision"))
    keep(call, values::TrainerState::precision, precision);
  if (trains_alone(call)) keep(call, values::TrainerState::alone, call.run.heap().boolean(true));
  return {};
}
Value fits(Call& call) {
  return counts_a_step(call) && step_of_lightning(call) ? nothing(call) : trains(call);
}
Value lightning_strategy(Call& call) {
  return Value::of(Kind::instance, call.run.make_native("pytorch_lightning.Strategy", call.place));
}

// What rank 0 alone is to log is not reduced.
template <int sync> Value logs(Call& call) {
  if (const Value alone = option(call, "rank_zero_only");
      alone && call.run.symbols().decide(call.run.truth(alone)) == symbolic::Answer::yes)
    call.arguments[sync] = call.run.heap().boolean(false);
  return Value::none();
}

constexpr Hidden lightning_hidden[] = {
    {"pytorch_lightning.Trainer.save_checkpoint", "filepath, *more, **options", nothing,
        {.name = "trainer.save_checkpoint",
            .hidden = true,
            .because = "it gathers sharded states and ends in a barrier"}},
    {"pytorch_lightning.Trainer.fit", "*arguments, **options", fits,
        {.name = "trainer.fit", .hidden = true, .because = runs_everywhere}, RowKind::method,
        Operation::framework},
    {"pytorch_lightning.Trainer.validate", "*arguments, **options", evaluates,
        {.name = "trainer.validate", .hidden = true, .because = runs_everywhere}, RowKind::method,
        Operation::framework},
    {"pytorch_lightning.Trainer.test", "*arguments, **options", evaluates,
        {.name = "trainer.test", .hidden = true, .because = runs_everywhere}, RowKind::method,
        Operation::framework},
    {"pytorch_lightning.Trainer.predict", "*arguments, **options", predicts,
        {.name = "trainer.predict", .hidden = true, .because = runs_everywhere}, RowKind::method,
        Operation::framework},
    {"pytorch_lightning.Trainer.log_dir", "", uniform,
        {.name = "trainer.log_dir", .hidden = true, .because = "reading it broadcasts the path from rank 0"},
        RowKind::property},
    {"pytorch_lightning.Trainer.$set.should_stop", "value", nothing,
        {.name = "the end that `trainer.should_stop` asks for",
            .hidden = true,
            .because = "each rank reads its own flag, and the others go on without it",
            .only_if = 0}},
    {"pytorch_lightning.LightningModule.log",
        "name, value, prog_bar=False, logger=None, on_step=None, on_epoch=None, reduce_fx='mean', enable_graph=False, sync_dist=False, **options",
        logs<8>,
        {.name = "`self.log` with `sync_dist=True`",
            .hidden = true,
            .because = "it reduces the value over all ranks",
            .only_if = 8}},
    {"pytorch_lightning.LightningModule.log_dict",
        "dictionary, prog_bar=False, logger=None, on_step=None, on_epoch=None, reduce_fx='mean', enable_graph=False, sync_dist=False, **options",
        logs<7>,
        {.name = "self.log_dict with sync_dist",
            .hidden = true,
            .because = "it reduces the values over all ranks",
            .only_if = 7}},
    {"pytorch_lightning.Strategy.broadcast", "obj, src=0", uniform,
        {.name = "strategy.broadcast", .root = 1, .hidden = true, .because = "the other ranks receive"}},
    {"pytorch_lightning.Strategy.reduce", "tensor, group=None, reduce_op='mean'", gathered,
        {.name = "strategy.reduce", .hidden = true, .because = "it reduces over all ranks", .reduces = true}},
    {"pytorch_lightning.Strategy.all_gather", "tensor, group=None, sync_grads=False", gathered,
        {.name = "strategy.all_gather", .hidden = true, .because = gathers}},
    {"pytorch_lightning.Strategy.reduce_boolean_decision", "decision, all=True", uniform,
        {.name = "strategy.reduce_boolean_decision",
            .hidden = true,
            .because = "it sums the answers of all ranks",
            .reduces = true}},
    {"pytorch_lightning.LightningModule.manual_backward", "loss, *more, **options", nothing,
        {.name = "self.manual_backward", .hidden = true, .because = "it averages the gradients of all ranks"},
        RowKind::method, Operation::framework},
    {"pytorch_lightning.Strategy.barrier", "name=None", nothing,
        {.name = "strategy.barrier", .hidden = true, .because = is_barrier}},
    {"pytorch_lightning.LightningModule.all_gather", "data, *more, **options", gathered,
        {.name = "self.all_gather", .hidden = true, .because = gathers}},
};

}  // namespace

std::vector<Row> lightning_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("pytorch_lightning.Trainer", class_, "*arguments, devices='auto', num_nodes=1, **options",
          lightning_trainer_made, {}, Operation::framework),
      row("pytorch_lightning.Trainer.is_global_zero", property, "", is_first),
      row("pytorch_lightning.Trainer.global_rank", property, "", role_value<Role::rank>),
      row("pytorch_lightning.Trainer.local_rank", property, "", role_value<Role::local_rank>),
      row("pytorch_lightning.Trainer.world_size", property, "", role_value<Role::world_size>),
      row("pytorch_lightning.Trainer.strategy", property, "", lightning_strategy),
      row("pytorch_lightning.Trainer.should_stop", property, "", uniform),
      row("pytorch_lightning.Trainer.node_rank", property, "", role_value<Role::node_rank>),
      row("pytorch_lightning.Strategy", class_, "", nullptr),
      row("pytorch_lightning.Strategy.is_global_zero", property, "", is_first),
      row("pytorch_lightning.Strategy.global_rank", property, "", role_value<Role::rank>),
      row("pytorch_lightning.Strategy.local_rank", property, "", role_value<Role::local_rank>),
      row("pytorch_lightning.Strategy.world_size", property, "", role_value<Role::world_size>),
      row("pytorch_lightning.LightningModule", class_, "*arguments, **options", nullptr, "torch.nn.Module"),
      row("pytorch_lightning.LightningModule.save_hyperparameters", method, "*arguments, **options", nothing),
      row("pytorch_lightning.LightningModule.hparams", property, "", nothing_learned),
      row("pytorch_lightning.LightningModule.trainer", property, "", lightning_trainer),
      row("pytorch_lightning.LightningModule.global_rank", property, "", role_value<Role::rank>),
      row("pytorch_lightning.LightningModule.local_rank", property, "", role_value<Role::local_rank>),
      row("pytorch_lightning.utilities.rank_zero_only", function, "fn", is_first),
      row("pytorch_lightning.utilities.rank_zero_only.rank", constant, "", role_value<Role::rank>),
  };
  add_hidden(rows, lightning_hidden);
  return rows;
}

}  // namespace stepzero::libraries
