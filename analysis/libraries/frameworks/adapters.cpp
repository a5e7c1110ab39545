// As peft 0.21 does it (mapping_func.py, tuners/tuners_utils.py, tuners/lora/model.py, utils/other.py): all
// that the model has is frozen, layers with the wanted names are replaced by what the package's own code
// makes of them, and modules that are to be saved get a copy that is trained.
#include "libraries/frameworks/adapters.hpp"

#include "interpreter/record.hpp"
#include "libraries/python/expressions.hpp"

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
// Are there other layers in the place of the two matrices, or beside them others than lengths?
bool is_variant(Call& call, Value config) {
  for (const std::string_view plain : {"use_bdlora", "arrow_config", "alora_invocation_tokens",
           "velora_config", "monteclora_config", "kasa_config"})
    if (!is_empty(call.run, call.run.resolve(call.run.attribute_or_none(config, Name(plain), call.place))))
      return true;
  const Value made = call.run.resolve(
      call.run.attribute_or_none(config, Name("init_lora_weights"), call.place));
  return !made.is(Kind::boolean) &&
      !(made.is(Kind::string) &&
          (made.text() == "gaussian" || made.text() == "orthogonal" || made.text() == "olora" ||
              made.text() == "pissa" || made.text().starts_with("pissa_niter_")));
}
// LoraLayer.resolve_lora_variant(config=…)
Value variant(Call& call) {
  const Value config = call.run.resolve(call.at(0));
  if (!config.is(Kind::instance) || is_variant(call, config)) return call.run.heap().unseen("", call.place);
  if (is_empty(call.run, call.run.resolve(call.run.attribute_or_none(config, Name("use_dora"), call.place))))
    return Value::none();
  // Lengths of columns, which the package's own code makes.
  const auto* layer = call.self.is(Kind::instance) ? call.self.as<values::Instance>() : nullptr;
  const Value module = call.run.import_named("peft.tuners.lora.variants");
  const Value made = layer && layer->cls && layer->cls->name.text() == "Linear" && module.is(Kind::module)
      ? call.run.resolve(call.run.attribute(module, Name("DoraLinearVariant"), call.place))
      : Value{};
  return made.is(Kind::class_) ? call.run.call(made, {}, call.place) : call.run.heap().unseen("", call.place);
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

// dequantize_module_weight(module): its weight, where that is in no format of a package.
Value weight_of(Call& call) {
  return call.run.attribute(call.run.resolve(call.at(0)), Name("weight"), call.place);
}

class Adapting {
public:
  Adapting(Call& call, Value model, Value config) : call_(call), model_(model), config_(config) {}

  bool can_be_followed() {
    for (const std::string_view plain :
        {"layers_pattern", "layer_replication", "target_parameters", "trainable_token_indices",
            "megatron_config", "eva_config", "corda_config", "ensure_weight_tying"})
      if (!is_empty(call_.run, setting(plain))) return false;
    if (is_variant(call_, config_)) return false;
    const Value bias = setting("bias");
    if (!bias.is(Kind::string) ||
        (bias.text() != "none" && bias.text() != "all" && bias.text() != "lora_only"))
      return false;
    bias_ = bias.text();
    find_modules();
    targets_ = wanted();
    saved_ = names_of(setting("modules_to_save"), std::vector<std::string>());
    excluded_ = names_of(setting("exclude_modules"), std::vector<std::string>());
    return is_whole_ && targets_ && saved_ && excluded_ && has_layers() && has_ranks();
  }

  Value run() {
    const Value dispatch = function("peft.tuners.lora.layer", "dispatch_default"),
                wrapper = function("peft.utils.other", "ModulesToSaveWrapper");
    if (!dispatch || !wrapper) return {};
    call(attribute(model_, "requires_grad_"), {Value::of(call_.run.symbols().boolean(false))});
    for (const auto& [name, module] : modules_) {
      const bool is_saved = has_name(*saved_, name);
      if (!is_saved && !is_adapted(name)) continue;
      const Value old = call_.run.resolve(module), label = call_.run.heap().string("default");
      const Value made = is_saved ? call(wrapper, {old, label})
                                  : call(dispatch, {old, label, config_},
                                        {{"r", rank_of(name)}, {"lora_alpha", setting("lora_alpha")}});
      if (!made.is(Kind::instance)) continue;
      put(name, made);
      if (!is_saved && bias_ == "lora_only") train(attribute(old, "bias"));
      if (is_saved)
        if (const Value copy = attribute(attribute(made, "modules_to_save"), "default");
            copy.is(Kind::instance))
          call(attribute(copy, "requires_grad_"), {Value::of(call_.run.symbols().boolean(true))});
    }
    if (bias_ == "all")
      for (const auto& [name, module] : modules_)
        if (call_.run.has_attribute(module, Name("bias")) == symbolic::Answer::yes)
          train(attribute(module, "bias"));
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
  void train(Value parameter) {
    if (parameter.is(Kind::tensor))
      call(attribute(parameter, "requires_grad_"), {Value::of(call_.run.symbols().boolean(true))});
  }
  // The names of what is adapted. Nothing: it is not known.
  std::optional<std::vector<std::string>> wanted() {
    const Value given = setting("target_modules");
    if (!given.is(Kind::string)) return names_of(given, targets_by_model());
    const std::string_view text = given.text();
    if (text == "all-linear") return all_linear();
    const auto pattern = RegularExpression::read(text, RegularExpression::Flags::none);
    if (!pattern) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, module] : modules_) {
      const auto take = [&](const Match&) {
        names.push_back(name);
        return false;
      };
      if (!pattern->each(name, RegularExpression::Place::whole, take)) return std::nullopt;
    }
    is_pattern_ = true;
    return names;
  }
  // _maybe_include_all_linear_layers(): all but the one that makes the scores.
  std::optional<std::vector<std::string>> all_linear() {
    is_pattern_ = true;
    const Value linear = call_.run.library_symbol("torch.nn.Linear");
    Value scores;
    if (call_.run.has_attribute(model_, Name("get_output_embeddings")) == symbolic::Answer::yes)
      scores = call(attribute(model_, "get_output_embeddings"), {});
    // What PreTrainedModel's own returns.
    if (!scores.is(Kind::instance) &&
        call_.run.has_attribute(model_, Name("lm_head")) == symbolic::Answer::yes)
      scores = attribute(model_, "lm_head");
    const Value task = setting("task_type");
    if (!scores.is(Kind::instance) && !is_empty(call_.run, task)) return std::nullopt;
    std::vector<std::string> names;
    for (const auto& [name, value] : modules_) {
      const Value module = call_.run.resolve(value);
      if (!module.is(Kind::instance)) return std::nullopt;
      const auto* object = module.as<values::Instance>();
      const bool is_linear = object->cls ? object->cls->name.text() == "Conv1D" ||
              call_.run.is_subclass(Value::of(Kind::class_, object->cls), linear) == symbolic::Answer::yes
                                         : object->native && object->native->path == "torch.nn.Linear";
      if (is_linear && !(module == scores)) names.push_back(name);
    }
    return names;
  }
  bool has_layers() {
    const Value given = setting("layers_to_transform");
    if (is_empty(call_.run, given)) return true;
    if (is_pattern_) return false;
    const auto items = given.is(Kind::integer) ? std::optional(std::vector<Value>{given})
        : given.is(Kind::list)                 ? call_.run.take(given, call_.place, true)
                                               : std::nullopt;
    if (!items) return false;
    layers_.emplace();
    for (const Value& item : *items) {
      const auto number = call_.run.to_constant(item);
      if (!number) return false;
      layers_->push_back(std::to_string(*number));
    }
    return true;
  }
  // The first number in the name that has two parts before it, and one after it.
  bool is_in_layers(std::string_view name) const {
    if (!layers_) return true;
    std::size_t part = 0;
    for (auto dot = name.find('.'); dot != std::string_view::npos; dot = name.find('.'), ++part) {
      const std::string_view at = name.substr(0, dot);
      if (part >= 2 && !at.empty() && std::ranges::all_of(at, [](char c) { return c >= '0' && c <= '9'; }))
        return std::ranges::find(*layers_, at) != layers_->end();
      name.remove_prefix(dot + 1);
    }
    return false;
  }
  bool has_ranks() {
    const Value given = setting("rank_pattern");
    if (is_empty(call_.run, given)) return true;
    const auto* state = given.is(Kind::dict) ? values::Heap::dict_state(given) : nullptr;
    if (!state || state->open) return false;
    for (const auto& [key, rank] : state->items) {
      const Value name = call_.run.resolve(key);
      if (!name.is(Kind::string) || name.text().find_first_of("^$*+?()[]{}|\\") != std::string_view::npos)
        return false;
      ranks_.emplace_back(std::string(name.text()), rank);
    }
    return true;
  }
  Value rank_of(std::string_view name) {
    for (const auto& [key, rank] : ranks_)
      if (has_name({key}, name)) return rank;
    return setting("r");
  }
  bool is_adapted(std::string_view name) const {
    const bool is_wanted = is_pattern_ ? std::ranges::find(*targets_, name) != targets_->end()
                                       : has_name(*targets_, name) && is_in_layers(name);
    return is_wanted && !has_name(*excluded_, name);
  }
  // None, or a list of names. Nothing: another.
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
  std::optional<std::vector<std::string>> targets_, saved_, excluded_, layers_;
  bool is_pattern_ = false;  // targets_ are whole names
  std::string_view bias_;
  std::vector<std::pair<std::string, Value>> ranks_;
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
      row("peft.tuners.tuners_utils._get_in_out_features", values::RowKind::function, "module", in_and_out),
      row("peft.utils.integrations.dequantize_module_weight", values::RowKind::function, "module",
          weight_of)};
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
