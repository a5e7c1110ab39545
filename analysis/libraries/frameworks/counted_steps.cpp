#include "libraries/frameworks/counted_steps.hpp"

#include "interpreter/record.hpp"
#include "libraries/torch/data/batches.hpp"
#include "values/kept_by_packages.hpp"
#include "values/limits.hpp"

#include <algorithm>

namespace stepzero::libraries {

namespace {

using values::TrainerState;

Value call_with(Call& call, Value function, std::vector<Value> arguments,
    std::vector<std::pair<Name, Value>> keywords = {}) {
  return call.run.call(function, {std::move(arguments), std::move(keywords), false}, call.place);
}
Value method_of(Call& call, Value object, std::string_view name) {
  return object.is(Kind::instance) ? call.run.find_method(object.as<Instance>(), Name(name)) : Value{};
}

Value batch_of(Call& call, Value loader) {
  loader = call.run.resolve(loader);
  return loader && !loader.is(Kind::none)
      ? moved_batch(call.run, call.run.element(loader, call.place), call.place)
      : Value{};
}

// An item of a dict whose keys are known; absent if there is none.
Value item_of(Call& call, Value dict, std::string_view wanted) {
  for (const auto& [key, value] : values::Heap::dict_state(dict)->items)
    if (key.is(Kind::string) && key.text() == wanted) return call.run.resolve(value);
  return {};
}

// The loss, as a trainer finds it in what the step gave back: a dict's `loss`, or the tensor itself.
Value loss_in(Call& call, Value output) {
  output = call.run.resolve(output);
  if (output.is(Kind::dict)) return item_of(call, output, "loss");
  return output;
}

// Is it set to anything but these texts, numbers or False? Of what is not known it may be.
bool may_be_set(Call& call, Value setting, std::initializer_list<std::string_view> harmless = {}) {
  if (!setting || setting.is(Kind::none)) return false;
  if (setting.is(Kind::boolean))
    return call.run.symbols().decide(setting.condition()) != symbolic::Answer::no;
  if (setting.is(Kind::string)) return std::ranges::find(harmless, setting.text()) == harmless.end();
  if (const auto number = setting.is(Kind::integer) ? call.run.to_constant(setting) : std::nullopt)
    return *number != 0 && std::ranges::find(harmless, std::to_string(*number)) == harmless.end();
  return true;
}

// The first optimizer of what configure_optimizers gives: itself, a list, lists of optimizers and schedules,
// a dict.
Value optimizer_in(Call& call, Value given, int depth = 0) {
  given = call.run.resolve(given);
  if (given.is(Kind::instance) && call.run.is_a(given, "torch.optim.Optimizer")) return given;
  if (depth > values::deepest_data || !given) return {};
  if (given.is(Kind::dict)) return optimizer_in(call, item_of(call, given, "optimizer"), depth + 1);
  if (!given.is(Kind::tuple) && !given.is(Kind::list)) return {};
  const auto items = call.run.elements(given, call.place);
  return items && !items->empty() ? optimizer_in(call, items->front(), depth + 1) : Value{};
}

bool step_with(Call& call, Value optimizer, Value loss, bool clears_first) {
  if (!loss.is(Kind::tensor)) return false;
  if (clears_first) call_row(call, optimizer, "torch.optim.Optimizer.zero_grad");
  call_row(call, loss, "torch.Tensor.backward");
  call_row(call, optimizer, "torch.optim.Optimizer.step");
  if (!clears_first) call_row(call, optimizer, "torch.optim.Optimizer.zero_grad");
  return true;
}

}  // namespace

bool counts_a_step(const Call& call) {
  const auto& conditions = call.run.record().conditions;
  return conditions.contains(values::RecordCondition::counted) &&
      conditions.contains(values::RecordCondition::no_launcher);
}

bool step_of_lightning(Call& call) {
  const auto given = [&](std::size_t at, std::string_view name) {
    return at < call.rest.size() ? call.run.resolve(call.rest[at]) : option(call, name);
  };
  const Value model = given(0, "model");
  Value loader = given(1, "train_dataloaders");
  if (call.spread || !model.is(Kind::instance) || !call.run.is_a(model, "pytorch_lightning.LightningModule"))
    return false;
  if (may_be_set(call, kept(call, TrainerState::precision), {"32", "32-true"})) return false;
  const Value step = method_of(call, model, "training_step"),
              configure = method_of(call, model, "configure_optimizers");
  const Value by_itself = kept(call.run, *model.as<Instance>(), "automatic_optimization");
  if (!step || !configure ||
      (by_itself &&
          !(by_itself.is(Kind::boolean) &&
              call.run.symbols().decide(by_itself.condition()) == symbolic::Answer::yes)))
    return false;
  // A data module, or the module itself, makes its loader.
  const auto loader_of = [&](Value maker) {
    if (const Value setup = method_of(call, maker, "setup"))
      call_with(call, setup, {call.run.heap().string("fit")});
    const Value make = method_of(call, maker, "train_dataloader");
    return make ? call_with(call, make, {}) : Value{};
  };
  if (const Value module = given(3, "datamodule"); module && !module.is(Kind::none))
    loader = loader_of(module);
  if (loader.is(Kind::instance) && call.run.is_a(loader, "pytorch_lightning.LightningDataModule"))
    loader = loader_of(loader);
  if (!loader || loader.is(Kind::none)) loader = loader_of(model);
  const Value optimizer = optimizer_in(call, call_with(call, configure, {}));
  const Value batch = batch_of(call, loader);
  if (!optimizer || !batch) return false;
  std::vector<Value> arguments{batch};
  const auto* method = step.is(Kind::bound) ? step.as<values::Bound>() : nullptr;
  const auto* function =
      method && method->function.is(Kind::function) ? method->function.as<values::Function>() : nullptr;
  if (!function || !function->parameters || function->parameters->list.size() > 2)
    arguments.push_back(call.run.heap().unknown("batch_idx", Sharing::uniform, call.place));
  return step_with(call, optimizer, loss_in(call, call_with(call, step, std::move(arguments))), true);
}

void keep_trainer(Call& call) {
  if (!counts_a_step(call) || call.spread) return;
  const std::pair<std::string_view, values::KeptKey> all[] = {{"model", TrainerState::model},
      {"args", TrainerState::arguments}, {"train_dataset", TrainerState::data},
      {"data_collator", TrainerState::collator}, {"compute_loss_func", TrainerState::otherwise},
      {"optimizers", TrainerState::otherwise}, {"optimizer_cls_and_kwargs", TrainerState::otherwise},
      {"callbacks", TrainerState::otherwise}};
  for (const auto& [name, key] : all)
    if (const Value value = option(call, name); value && !value.is(Kind::none)) keep(call, key, value);
  if (!call.rest.empty()) keep(call, TrainerState::model, call.run.resolve(call.rest[0]));
  if (call.rest.size() > 1) keep(call, TrainerState::arguments, call.run.resolve(call.rest[1]));
}

void keep_training_arguments(Call& call) {
  if (!counts_a_step(call)) return;
  std::vector<std::pair<Value, Value>> items;
  items.reserve(call.options.size());
  for (const auto& [name, value] : call.options)
    items.emplace_back(call.run.heap().string(name.text()), call.run.resolve(value));
  keep(call, TrainerState::settings, call.run.heap().dict(std::move(items), call.spread, {}));
}

bool step_of_trainer(Call& call) {
  const Value model = kept(call, TrainerState::model), arguments = kept(call, TrainerState::arguments),
              data = kept(call, TrainerState::data);
  if (!model.is(Kind::instance) || !call.run.is_a(model, "torch.nn.Module") || !data ||
      kept(call, TrainerState::otherwise))
    return false;
  // A trainer of the program's own may do otherwise.
  if (call.self.is(Kind::instance) && call.self.as<Instance>()->cls) return false;
  const Value settings = arguments.is(Kind::instance)
      ? kept(call.run, *arguments.as<Instance>(), TrainerState::settings)
      : Value{};
  if (!settings.is(Kind::dict) || values::Heap::dict_state(settings)->open) return false;
  const auto setting = [&](std::string_view name) { return item_of(call, settings, name); };
  for (const std::string_view name : {"bf16", "fp16", "gradient_checkpointing", "fsdp", "deepspeed",
           "label_smoothing_factor", "torch_compile", "use_liger_kernel", "auto_find_batch_size",
           "bf16_full_eval", "neftune_noise_alpha", "group_by_length"})
    if (may_be_set(call, setting(name))) return false;
  if (may_be_set(call, setting("optim"), {"adamw_torch", "adamw_torch_fused"})) return false;
  if (may_be_set(call, setting("gradient_accumulation_steps"), {"1"})) return false;
  Value batch_size = setting("per_device_train_batch_size");
  if (!batch_size) batch_size = call.run.heap().integer(8);
  std::vector<std::pair<Name, Value>> keywords{
      {Name("batch_size"), batch_size}, {Name("drop_last"), call.run.heap().boolean(true)}};
  if (const Value collator = kept(call, TrainerState::collator))
    keywords.emplace_back(Name("collate_fn"), collator);
  const Value loader = call_with(
      call, call.run.library_symbol("torch.utils.data.DataLoader"), {data}, std::move(keywords));
  const Value batch = batch_of(call, loader);
  if (!batch.is(Kind::dict) || values::Heap::dict_state(batch)->open) return false;
  std::vector<std::pair<Name, Value>> inputs;
  for (const auto& [key, value] : values::Heap::dict_state(batch)->items) {
    if (!key.is(Kind::string)) return false;
    // As its own collation names them.
    const bool is_label = !kept(call, TrainerState::collator) &&
        (key.text() == "label" || key.text() == "label_ids");
    inputs.emplace_back(Name(is_label ? std::string_view("labels") : key.text()), value);
  }
  const Value parameters = method_of(call, model, "parameters");
  if (!parameters) return false;
  const Value optimizer = call_with(call, call.run.library_symbol("torch.optim.AdamW"),
      {call_with(call, parameters, {})}, {{Name("fused"), call.run.heap().boolean(true)}});
  const Value output = call.run.resolve(call_with(call, model, {}, std::move(inputs)));
  Value loss = loss_in(call, output);
  if (output.is(Kind::instance))
    loss = call.run.resolve(call.run.attribute(output, Name("loss"), call.place));
  return step_with(call, optimizer, loss, false);
}

}  // namespace stepzero::libraries
