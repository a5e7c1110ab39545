// Hover and completion at the keys of configurations: those of DeepSpeed here.
#include "rules/launch/help.hpp"
#include "rules/config/accelerate_help.hpp"
#include "rules/config/torchtitan.hpp"
#include "rules/config/trainer_help.hpp"
#include "rules/deepspeed/sections.hpp"
#include "rules/launch/slurm_help.hpp"

namespace stepzero::rules {

namespace {

using namespace deepspeed;

std::string help_of(const Key& key) {
  std::string text = "`" + std::string(key.name) + "`";
  if (const std::string type = displayed_type(key); !type.empty()) text += ": " + type;
  text += "\n\n";
  if (const std::string_view purpose = deepspeed::purpose(key.section, key.name); !purpose.empty())
    text += std::string(purpose) + "\n\n";
  if (!key.instead.empty()) text += "Deprecated: write `" + std::string(key.instead) + "`.\n\n";
  if (key.type == KeyType::removed) text += std::string(asked) + " has removed it.\n\n";
  return text + "Read by DeepSpeed from `" +
      (key.section.empty() ? "the configuration" : std::string(key.section)) +
      "`: [its documentation](https://www.deepspeed.ai/docs/config-json/).";
}

// DeepSpeed 0.19, runtime/config.py. What may be written as the value, besides numbers and names of one's
// own: keys whose types do not say it.
struct Values {
  std::string_view section, name, choices;
};
constexpr Values values_of_keys[] = {
    {"optimizer", "type", "AdamW|Adam|Adagrad|Lamb|Lion|Muon|MuAdam|MuAdamW|MuSGD"},
    {"scheduler", "type", "WarmupLR|WarmupDecayLR|WarmupCosineLR|OneCycle|LRRangeTest"},
    {"", "communication_data_type", "fp16|bf16|fp32"},
    {"", "log_level", "debug|info|warning|error|critical"},
};

// The key in front of a value that begins at the place or is begun there; empty if there is none.
std::string key_before(std::string_view text, std::size_t at) {
  while (at > 0 && text[at - 1] != ':' && text[at - 1] != ',' && text[at - 1] != '{' && text[at - 1] != '\n')
    --at;
  if (at == 0 || text[at - 1] != ':') return {};
  const std::size_t end = text.rfind('"', at - 1);
  const std::size_t begin = end == std::string_view::npos || end == 0 ? end : text.rfind('"', end - 1);
  return begin == std::string_view::npos ? std::string()
                                         : std::string(text.substr(begin + 1, end - begin - 1));
}

std::vector<KeyChoice> value_choices(std::string_view section, const std::string& name) {
  std::vector<KeyChoice> choices;
  const Key* key = find_key(section, name);
  if (!key) return choices;
  const auto add = [&](std::string_view value, bool quoted) {
    choices.push_back({quoted ? '"' + std::string(value) + '"' : std::string(value),
        value == key->default_value ? "the default" : "", help_of(*key), true});
  };
  std::string_view all = key->choices;
  for (const Values& each : values_of_keys)
    if (each.section == section && each.name == name) all = each.choices;
  if (key->type == KeyType::boolean) add("true", false), add("false", false);
  for (std::string_view rest = all; !rest.empty();) {
    const std::size_t bar = std::min(rest.find('|'), rest.size());
    add(rest.substr(0, bar), key->type != KeyType::integer && key->type != KeyType::number);
    rest.remove_prefix(std::min(bar + 1, rest.size()));
  }
  return choices;
}

}  // namespace

std::optional<KeyHelp> key_help(Role role, const Document& document, std::uint32_t offset) {
  std::optional<KeyHelp> found;
  if (role == Role::script) return launch::word_help(document, offset);
  if (role == Role::accelerate) return accelerate::help(document, offset);
  if (role == Role::torchtitan) return config::torchtitan::help(document, offset);
  if (role != Role::deepspeed) return trainer_help::help(role, document, offset);
  each_section(document.root, [&](std::string_view section, const Node& table) {
    for (const Field& field : table.fields)
      if (field.key_span.begin <= offset && offset < field.key_span.end)
        if (const Key* key = find_key(section, field.key)) found = KeyHelp{field.key_span, help_of(*key)};
  });
  return found;
}

std::vector<KeyChoice> key_choices(Role role, const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> choices;
  if (role == Role::script) return launch::slurm_choices(document, offset);
  if (role == Role::accelerate) return accelerate::choices(document, offset);
  if (role == Role::torchtitan) return config::torchtitan::choices(document, offset);
  if (role != Role::deepspeed) return trainer_help::choices(role, document, offset);
  // The innermost table around the place; within a value there is nothing to choose.
  std::string section;
  const Node* around = nullptr;
  bool in_value = false;
  each_section(document.root, [&](std::string_view name, const Node& table) {
    if (table.span.begin >= offset || table.span.end < offset) return;
    around = &table;
    section = name;
    in_value = false;
    for (const Field& field : table.fields)
      if (field.value.span.begin < offset && offset < field.value.span.end) in_value = true;
  });
  if (!around) return choices;
  const std::string_view text = document.text->bytes();
  if (const std::string name = key_before(text, offset); !name.empty()) return value_choices(section, name);
  if (in_value) return choices;
  // After a colon stands a value.
  std::size_t before = offset;
  while (before > 0 && text[before - 1] != '\n' && text[before - 1] != ',' && text[before - 1] != '{' &&
      text[before - 1] != ':')
    --before;
  if (before > 0 && text[before - 1] == ':') return choices;
  for (const Key& key : keys())
    if (key.section == section && key.type != KeyType::removed && key.instead.empty() &&
        !around->find(key.name))
      choices.push_back({std::string(key.name), displayed_type(key), help_of(key)});
  return choices;
}

}  // namespace stepzero::rules
