// Hover and completion at the keys of DeepSpeed's configuration.
#include "rules/deepspeed/sections.hpp"

namespace stepzero::rules {

namespace {

using namespace deepspeed;

std::string help_of(const Key& key) {
  std::string text = "`" + std::string(key.name) + "`";
  if (const std::string type = shown_type(key); !type.empty()) text += ": " + type;
  text += "\n\n";
  if (const std::string_view purpose = deepspeed::purpose(key.section, key.name); !purpose.empty()) text += std::string(purpose) + "\n\n";
  if (!key.instead.empty()) text += "Deprecated: write `" + std::string(key.instead) + "`.\n\n";
  if (key.type == KeyType::removed) text += std::string(asked) + " has removed it.\n\n";
  return text + "Read by DeepSpeed from `" + (key.section.empty() ? "the configuration" : std::string(key.section)) + "`: [its documentation](https://www.deepspeed.ai/docs/config-json/).";
}

} // namespace

std::optional<KeyHelp> key_help(Role role, const Document& document, std::uint32_t offset) {
  std::optional<KeyHelp> found;
  if (role != Role::deepspeed) return found;
  each_section(document.root, [&](std::string_view section, const Node& table) {
    for (const Field& field : table.fields)
      if (field.key_span.begin <= offset && offset < field.key_span.end)
        if (const Key* key = find_key(section, field.key)) found = KeyHelp{field.key_span, help_of(*key)};
  });
  return found;
}

std::vector<KeyChoice> key_choices(Role role, const Document& document, std::uint32_t offset) {
  std::vector<KeyChoice> choices;
  if (role != Role::deepspeed) return choices;
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
  if (!around || in_value) return choices;
  const std::string_view text = document.text->bytes();
  // Behind a colon stands a value.
  std::size_t before = offset;
  while (before > 0 && text[before - 1] != '\n' && text[before - 1] != ',' && text[before - 1] != '{' && text[before - 1] != ':') --before;
  if (before > 0 && text[before - 1] == ':') return choices;
  for (const Key& key : keys())
    if (key.section == section && key.type != KeyType::removed && key.instead.empty() && !around->find(key.name)) choices.push_back({std::string(key.name), shown_type(key), help_of(key)});
  return choices;
}

} // namespace stepzero::rules
