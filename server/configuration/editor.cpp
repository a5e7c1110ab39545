// The editor's settings: a JSON object with the keys of the settings file.
#include "server/configuration/configuration.hpp"
#include "server/configuration/value.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cctype>

namespace stepzero::server {
namespace {

// Editors write settings in camel case.
std::string in_kebab_case(const std::string& key) {
  std::string result;
  for (const char c : key) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0) {
      result.push_back('-');
      result.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
    } else {
      result.push_back(c);
    }
  }
  return result;
}

Value value_of(const nlohmann::json& json) {
  Value value;
  switch (json.type()) {
  case nlohmann::json::value_t::string:
    value.kind = Value::Kind::string;
    value.text = json.get<std::string>();
    break;
  case nlohmann::json::value_t::boolean: value.kind = Value::Kind::boolean; break;
  case nlohmann::json::value_t::number_integer:
  case nlohmann::json::value_t::number_unsigned:
  case nlohmann::json::value_t::number_float: value.kind = Value::Kind::number; break;
  case nlohmann::json::value_t::null: value.kind = Value::Kind::nothing; break;
  // Settings are two levels deep: deeper ones are wrong by their type, and not followed.
  case nlohmann::json::value_t::array:
    value.kind = Value::Kind::list;
    for (const nlohmann::json& item : json) {
      Value inner;
      if (item.is_string()) {
        inner = value_of(item);
      } else {
        inner.kind = Value::Kind::other;
      }
      value.items.push_back(std::move(inner));
    }
    break;
  case nlohmann::json::value_t::object:
    value.kind = Value::Kind::table;
    for (const auto& [key, item] : json.items()) {
      if (item.is_structured()) {
        value.entries.push_back({key, {}, {}});
      } else {
        value.entries.push_back({key, {}, value_of(item)});
      }
    }
    break;
  default: break;
  }
  return value;
}

}  // namespace

EditorConfiguration read_configuration(const nlohmann::json& object) {
  EditorConfiguration result;
  if (object.is_null()) return result;
  if (!object.is_object()) {
    result.problems.emplace_back("The settings \"stepzero\" take an object.");
    return result;
  }
  static const std::vector<std::string> of_the_editor = {
      "editor", "server", "path", "trace", "log", "enable"};
  Value table;
  table.kind = Value::Kind::table;
  for (const auto& [key, item] : object.items()) {
    std::string name = in_kebab_case(key);
    if (std::find(of_the_editor.begin(), of_the_editor.end(), name) != of_the_editor.end()) continue;
    table.entries.push_back({std::move(name), {}, value_of(item)});
  }
  Meaning meaning = interpret(table, selectable_names());
  result.layer = std::move(meaning.layer);
  for (Problem& problem : meaning.problems) result.problems.push_back(std::move(problem.message));
  return result;
}

}  // namespace stepzero::server
