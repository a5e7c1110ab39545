#include "libraries/python/auto_models.hpp"

#include <algorithm>

namespace stepzero::libraries {
namespace {

using values::Kind;

// Which table of transformers.models.auto.modeling_auto has the names of the classes. (transformers 5.23)
struct AutoClass {
  std::string_view path, from_config, from_pretrained, names;
};
#define AUTO_CLASS(name, table)                                                                              \
  AutoClass {                                                                                                \
    "transformers.models.auto.modeling_auto." name,                                                          \
        "transformers.models.auto.modeling_auto." name ".from_config",                                       \
        "transformers.models.auto.modeling_auto." name ".from_pretrained", table                             \
  }
constexpr AutoClass auto_classes[] = {
    AUTO_CLASS("AutoModel", "MODEL_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForPreTraining", "MODEL_FOR_PRETRAINING_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForCausalLM", "MODEL_FOR_CAUSAL_LM_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForMaskedLM", "MODEL_FOR_MASKED_LM_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForSeq2SeqLM", "MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForSequenceClassification", "MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForTokenClassification", "MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForQuestionAnswering", "MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES"),
    AUTO_CLASS("AutoModelForImageClassification", "MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES"),
};
#undef AUTO_CLASS

Value unseen(Call& call) { return call.run.heap().unseen("", call.place); }

bool is_seen(Value config) { return config.is(Kind::instance) && config.as<values::Instance>()->cls; }

// "gpt2" of a GPT2Config, and the class that the table has under it: `modeling_gpt2.GPT2LMHeadModel`.
Value class_for(Call& call, Value config, std::string_view names) {
  const Value kind = call.run.resolve(call.run.attribute_or_none(config, Name("model_type"), call.place));
  const Value module = call.run.import_named("transformers.models.auto.modeling_auto");
  if (!kind.is(Kind::string) || !module.is(Kind::module)) return {};
  const Value table = call.run.resolve(call.run.attribute(module, Name(names), call.place));
  if (!table.is(Kind::dict)) return {};
  Value name = call.run.resolve(call.run.dict_get(table, kind, Value::none()));
  // Of several the first is made, where the configuration names none.
  if (name.is(Kind::tuple) && !name.as<values::Tuple>()->items.empty())
    name = call.run.resolve(name.as<values::Tuple>()->items.front());
  if (!name.is(Kind::string)) return {};
  std::string package(kind.text());
  for (char& letter : package)
    if (letter == '-') letter = '_';
  const Value models = call.run.import_named("transformers.models." + package + ".modeling_" + package);
  if (!models.is(Kind::module)) return {};
  const Value found = call.run.resolve(call.run.attribute(models, Name(name.text()), call.place));
  return found.is(Kind::class_) ? found : Value{};
}

// Options that leave shapes and types as the configuration has them.
bool are_harmless(const Call& call) {
  constexpr std::string_view harmless[] = {"config", "attn_implementation", "cache_dir", "token", "revision",
      "trust_remote_code", "ignore_mismatched_sizes", "state_dict", "local_files_only", "force_download",
      "proxies", "subfolder", "variant", "use_safetensors", "low_cpu_mem_usage", "from_tf", "from_flax"};
  return !call.spread && std::ranges::all_of(call.options, [&](const auto& given) {
    return std::ranges::find(harmless, given.first.text()) != std::end(harmless);
  });
}

Value built(Call& call, Value config, std::string_view names) {
  const Value cls = class_for(call, config, names);
  if (!cls) return unseen(call);
  if (const Value attention = option(call, "attn_implementation"))
    call.run.set_attribute(config, Name("_attn_implementation"), attention, call.place);
  return call.run.call(cls, {{config}, {}, false}, call.place);
}
const AutoClass& auto_class(const Call& call) {
  for (const AutoClass& each : auto_classes)
    if (call.row.path == each.from_config || call.row.path == each.from_pretrained) return each;
  return auto_classes[0];
}

Value in_evaluation(Call& call, Value model) {
  if (model.is(Kind::instance))
    call.run.call(call.run.attribute(model, Name("eval"), call.place), {}, call.place);
  return model;
}

Value from_config(Call& call) {
  const Value given = option(call, "config");
  const Value config = given ? given : call.rest.empty() ? Value{} : call.run.resolve(call.rest.front());
  return is_seen(config) && are_harmless(call) ? built(call, config, auto_class(call).names) : unseen(call);
}
Value auto_pretrained(Call& call) {
  const Value config = option(call, "config");
  return is_seen(config) && are_harmless(call)
      ? in_evaluation(call, built(call, config, auto_class(call).names))
      : unseen(call);
}

}  // namespace

Value pretrained(Call& call) {
  const Value config = option(call, "config");
  const Value cls = call.self ? call.run.resolve(call.self) : Value{};
  if (!cls.is(Kind::class_) || !is_seen(config) || !are_harmless(call)) return unseen(call);
  return in_evaluation(call, call.run.call(cls, {{config}, {}, false}, call.place));
}

std::vector<values::Row> auto_model_rows() {
  std::vector<values::Row> rows;
  for (const AutoClass& each : auto_classes) {
    rows.push_back(row(each.path, values::RowKind::class_, "*arguments, **options", nullptr));
    rows.push_back(row(each.from_config, values::RowKind::function, "*arguments, **options", from_config));
    rows.push_back(
        row(each.from_pretrained, values::RowKind::function, "*arguments, **options", auto_pretrained));
  }
  return rows;
}

}  // namespace stepzero::libraries
