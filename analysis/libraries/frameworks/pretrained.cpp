// Classes of packages that are not there to be read, from which programs derive their models and
// configurations: what they are at least. Where the package is installed its own text is run. Read in
// transformers 5.23 (modeling_utils.py, configuration_utils.py) and peft (mapping_func.py,
// tuners/tuners_utils.py); of diffusers' ModelMixin only that it is a module, as its documentation says.
#include "libraries/frameworks/adapters.hpp"
#include "libraries/frameworks/frameworks.hpp"
#include "values/internal_rows.hpp"
#include "values/kept.hpp"

namespace stepzero::libraries {

namespace {

// PreTrainedModel.__init__(config): keeps the configuration.
Value keeps_config(Call& call) {
  if (call.at(0)) call.run.set_attribute(call.self, Name("config"), call.at(0));
  return Value::none();
}
// PretrainedConfig.__init__(**options): all that is given becomes an attribute.
Value keeps_settings(Call& call) {
  for (const auto& [name, value] : call.options) call.run.set_attribute(call.self, name, value);
  return Value::none();
}

// peft.get_peft_model(model, config): freezes the model in place, and puts new layers that are trained into
// it.
Value adapts(Call& call) {
  if (const Value made = adapted_model(call)) return made;
  // Its code is not seen.
  const Value unseen = call.run.heap().unseen("get_peft_model", call.place);
  return call.run.call(unseen, {{call.at(0), call.at(1)}, {}, false}, call.place);
}

}  // namespace

std::vector<Row> pretrained_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row(values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel">, class_,
          "*arguments, **options", nullptr, "torch.nn.Module"),
      row(values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel.__init__">, method,
          "config=None, *arguments, **options", keeps_config),
      row(values::under<values::InternalRow::of_unseen, "diffusers.ModelMixin">, class_,
          "*arguments, **options", nullptr, "torch.nn.Module"),
      row(values::under<values::InternalRow::of_unseen, "transformers.PretrainedConfig">, class_,
          "*arguments, **options", nullptr),
      row(values::under<values::InternalRow::of_unseen, "transformers.PretrainedConfig.__init__">, method,
          "*arguments, **options", keeps_settings),
      row("peft.get_peft_model", function, "model, peft_config, *more, **options", adapts, {},
          Operation::trained_from_here),
      row("peft.mapping_func.get_peft_model", function, "model, peft_config, *more, **options", adapts, {},
          Operation::trained_from_here),
      row(values::under<values::InternalRow::of_unseen, "transformers.PreTrainedConfig">, class_,
          "*arguments, **options", nullptr,
          values::under<values::InternalRow::of_unseen, "transformers.PretrainedConfig">),
  };
  for (Row& each : adapter_rows()) rows.push_back(std::move(each));
  // Weights are made, written down, or computed anew in the backward: the parts stay what they are.
  for (const std::string_view harmless :
      {values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel.post_init">,
          values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel.init_weights">,
          values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel.save_pretrained">,
          values::under<values::InternalRow::of_unseen, "transformers.PreTrainedModel.push_to_hub">,
          values::under<values::InternalRow::of_unseen,
              "transformers.PreTrainedModel.gradient_checkpointing_enable">,
          values::under<values::InternalRow::of_unseen,
              "transformers.PreTrainedModel.gradient_checkpointing_disable">,
          values::under<values::InternalRow::of_unseen, "diffusers.ModelMixin.save_pretrained">,
          values::under<values::InternalRow::of_unseen,
              "diffusers.ModelMixin.enable_gradient_checkpointing">})
    rows.push_back(row(harmless, method, "*arguments, **options", nothing));
  // Of a model that is not seen: whether its layers compute their activations again.
  for (const std::string_view switches :
      {values::under<values::InternalRow::of_unseen, "gradient_checkpointing_enable">,
          values::under<values::InternalRow::of_unseen, "activation_checkpointing_enable">,
          values::under<values::InternalRow::of_unseen, "gradient_checkpointing_disable">,
          values::under<values::InternalRow::of_unseen, "activation_checkpointing_disable">})
    rows.push_back(row(switches, method, "*arguments, **options", nothing, {}, Operation::recomputed));
  return rows;
}

}  // namespace stepzero::libraries
