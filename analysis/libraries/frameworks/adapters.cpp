// As peft 0.21 does it (mapping_func.py, tuners/tuners_utils.py, tuners/lora/model.py, utils/other.py): all
// that the model has is frozen, layers with the wanted names are replaced by what the package's own code
// makes of them, and modules that are to be saved get a copy that is trained.
#include "libraries/frameworks/adapters.hpp"

#include "interpreter/record.hpp"

#include <algorithm>
#include <optional>

namespace stepzero::libraries {

namespace {

using values::Kind;

bool is_empty(Runtime& run, Value value) {
  if (!value || value.is(Kind::none)) return true;
  if (value.is(Kind::boolean)) return run.symbols().decide(value.condition()) == symbolic::Answer::no;
  if (value.is(Kind::dict)) {
    const auto* state = values::Heap::dict_state(value);
    return state && !state->open && state->items.empty();
  }
  return value.is(Kind::list) && !values::Heap::list_state(value)->open &&
      values::Heap::list_state(value)->items.empty();
}
// Are there other layers in the place of the two matrices?
bool is_variant(Call& call, Value config) {
  for (const std::string_view plain : {"use_dora", "use_bdlora", "arrow_config", "alora_invocation_tokens",
           "velora_config", "monteclora_config", "kasa_config"})
    if (!is_empty(call.run, call.run.resolve(call.run.attribute_or_none(config, Name(plain), call.place))))
      return true;
  const Value made = call.run.resolve(
      call.run.attribute_or_none(config, Name("init_lora_weights"), call.place));
  return !made.is(Kind::boolean) && !(made.is(Kind::string) && made.text() == "gaussian");
}
// LoraLayer.resolve_lora_variant(config=…)
Value variant(Call& call) {
  const Value config = call.run.resolve(call.at(0));
  return config.is(Kind::instance) && !is_variant(call, config) ? Value::none()
                                                                : call.run.heap().unseen("", call.place);
}

// _get_in_out_features(module): of transformers' Conv1D those of its weight.
Value in_and_out(Call& call) {
  const Value module = call.run.resolve(call.at(0));
  const auto attribute = [&](std::string_view name) {
    return call.run.resolve(call.run.attribute(module, Name(name), call.place));
  };
  for (const auto& [in, out] : {std::pair{"in_features", "out_features"},
           std::pair{"in_channels", "out_channels"}, std::pair{"num_embeddings", "embedding_dim"}})
    if (call.run.has_attribute(module, Name(in)) == symbolic::Answer::yes)
      return call.run.heap().tuple({attribute(in), attribute(out)});
  return attribute("weight").is(Kind::tensor)
      ? call.run.attribute(attribute("weight"), Name("shape"), call.place)
      : call.run.heap().unseen("", call.place);
}

class Adapting {
public:
  Adapting(Call& call, Value model, Value config) : call_(call), model_(model), config_(config) {}

  bool can_be_followed() {
    for (const std::string_view plain :
        {"use_rslora", "layers_to_transform", "layers_pattern", "exclude_modules", "layer_replication",
            "target_parameters", "trainable_token_indices", "rank_pattern", "alpha_pattern",
            "megatron_config", "eva_config", "corda_config", "ensure_weight_tying"})
      if (!is_empty(call_.run, setting(plain))) return false;
    if (is_variant(call_, config_)) return false;
    const Value bias = setting("bias");
    if (!(bias.is(Kind::string) && bias.text() == "none")) return false;
    targets_ = names_of(setting("target_modules"), targets_by_model());
    saved_ = names_of(setting("modules_to_save"), std::vector<std::string>());
    return targets_ && saved_ && (find_modules(), is_whole_);
  }

  Value run() {
    const Value dispatch = function("peft.tuners.lora.layer", "dispatch_default"),
                wrapper = function("peft.utils.other", "ModulesToSaveWrapper");
    if (!dispatch || !wrapper) return {};
    call(attribute(model_, "requires_grad_"), {Value::of(call_.run.symbols().boolean(false))});
    for (const auto& [name, module] : modules_) {
      const bool is_saved = has_name(*saved_, name);
      if (!is_saved && !has_name(*targets_, name)) continue;
      const Value old = call_.run.resolve(module), label = call_.run.heap().string("default");
      const Value made = is_saved ? call(wrapper, {old, label})
                                  : call(dispatch, {old, label, config_},
                                        {{"r", setting("r")}, {"lora_alpha", setting("lora_alpha")}});
      if (!made.is(Kind::instance)) continue;
      put(name, made);
      if (is_saved)
        if (const Value copy = attribute(attribute(made, "modules_to_save"), "default");
            copy.is(Kind::instance))
          call(attribute(copy, "requires_grad_"), {Value::of(call_.run.symbols().boolean(true))});
    }
    // Of the object around the model that the package makes there is only what says how much is trained.
    call_.run.set_attribute(
        model_, Name("print_trainable_parameters"), call_.run.library_symbol("builtins.print"), call_.place);
    return model_;
  }

private:
  using Keywords = std::vector<std::pair<std::string_view, Value>>;
  Value attribute(Value of, std::string_view name) {
    return call_.run.resolve(call_.run.attribute(of, Name(name), call_.place));
  }
  Value setting(std::string_view name) {
    return call_.run.resolve(call_.run.attribute_or_none(config_, Name(name), call_.place));
  }
  Value call(Value function, std::vector<Value> arguments, const Keywords& keywords = {}) {
    interpreter::Arguments given{std::move(arguments), {}, false};
    for (const auto& [name, value] : keywords) given.keywords.emplace_back(Name(name), value);
    return call_.run.resolve(call_.run.call(function, std::move(given), call_.place));
  }
  Value function(std::string_view module, std::string_view name) {
    const Value found = call_.run.import_named(module);
    const Value made = found.is(Kind::module) ? attribute(found, name) : Value{};
    return made.is(Kind::function) || made.is(Kind::class_) ? made : Value{};
  }
  // None, a list of names, or one name without the signs of a pattern. Nothing: another.
  std::optional<std::vector<std::string>> names_of(
      Value given, std::optional<std::vector<std::string>> otherwise) {
    if (!given || given.is(Kind::none)) return otherwise;
    const auto items = given.is(Kind::list) || given.is(Kind::tuple)
        ? call_.run.take(given, call_.place, true)
        : std::nullopt;
    if (!items) return std::nullopt;
    std::vector<std::string> names;
    for (const Value& item : *items) {
      const Value name = call_.run.resolve(item);
      if (!name.is(Kind::string)) return std::nullopt;
      names.emplace_back(name.text());
    }
    return names;
  }
  // What is adapted in a model of transformers, where nothing is said.
  std::optional<std::vector<std::string>> targets_by_model() {
    const Value config = call_.run.resolve(call_.run.attribute_or_none(model_, Name("config"), call_.place));
    const Value kind = config.is(Kind::instance) ? attribute(config, "model_type") : Value{};
    const Value module = call_.run.import_named("peft.utils.constants");
    if (!kind.is(Kind::string) || !module.is(Kind::module)) return std::nullopt;
    const Value table = attribute(module, "TRANSFORMERS_MODELS_TO_LORA_TARGET_MODULES_MAPPING");
    if (!table.is(Kind::dict)) return std::nullopt;
    const Value found = call_.run.resolve(call_.run.dict_get(table, kind, Value::none()));
    return found.is(Kind::none) ? std::nullopt : names_of(found, std::nullopt);
  }
  void find_modules() {
    const auto items = call_.run.elements(call(attribute(model_, "named_modules"), {}), call_.place);
    is_whole_ = items.has_value();
    if (!items) return;
    for (const Value& item : *items) {
      const Value pair = call_.run.resolve(item);
      const Value name = pair.is(Kind::tuple) && pair.as<values::Tuple>()->items.size() == 2
          ? call_.run.resolve(pair.as<values::Tuple>()->items[0])
          : Value{};
      if (!name.is(Kind::string)) return void(is_whole_ = false);
      modules_.emplace_back(std::string(name.text()), pair.as<values::Tuple>()->items[1]);
    }
  }
  static bool has_name(const std::vector<std::string>& wanted, std::string_view name) {
    return std::ranges::any_of(
        wanted, [&](const std::string& each) { return name == each || name.ends_with("." + each); });
  }
  void put(std::string_view name, Value made) {
    Value parent = model_;
    while (true) {
      const auto dot = name.find('.');
      if (dot == std::string_view::npos) break;
      parent = attribute(parent, name.substr(0, dot));
      name.remove_prefix(dot + 1);
    }
    call(call_.run.library_symbol("builtins.setattr"), {parent, call_.run.heap().string(name), made});
  }

  Call& call_;
  Value model_, config_;
  std::optional<std::vector<std::string>> targets_, saved_;
  std::vector<std::pair<std::string, Value>> modules_;
  bool is_whole_ = false;
};

bool is_of_class(Value value, std::string_view name) {
  return value.is(Kind::instance) && value.as<values::Instance>()->cls &&
      value.as<values::Instance>()->cls->name.text() == name;
}

}  // namespace

std::vector<values::Row> adapter_rows() {
  return {row("peft.tuners.lora.layer.LoraLayer.resolve_lora_variant", values::RowKind::method,
              "config=None, **options", variant),
      row("peft.tuners.tuners_utils._get_in_out_features", values::RowKind::function, "module", in_and_out)};
}

Value adapted_model(Call& call) {
  const Value model = call.run.resolve(call.at(0)), config = call.run.resolve(call.at(1));
  if (!call.run.record().conditions.contains(values::RecordCondition::counted) || call.spread ||
      !call.rest.empty() || !call.options.empty() || !is_of_class(config, "LoraConfig") ||
      !model.is(Kind::instance) || !model.as<values::Instance>()->cls)
    return {};
  Adapting adapting(call, model, config);
  return adapting.can_be_followed() ? adapting.run() : Value{};
}

}  // namespace stepzero::libraries
