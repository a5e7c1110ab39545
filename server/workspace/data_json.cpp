#include "server/workspace/data.hpp"

#include <nlohmann/json.hpp>

namespace stepzero::server {

namespace {

constexpr int deepest = 64;

bool convert(const nlohmann::json& json, program::Data& into, int depth) {
  using enum program::Data::Kind;
  if (depth > deepest) return false;
  switch (json.type()) {
  case nlohmann::json::value_t::null: into.kind = null; return true;
  case nlohmann::json::value_t::boolean:
    into.kind = boolean;
    into.truth = json.get<bool>();
    return true;
  case nlohmann::json::value_t::number_unsigned:
    if (json.get<std::uint64_t>() > static_cast<std::uint64_t>(INT64_MAX)) {
      into.kind = unknown;
      return true;
    }
    [[fallthrough]];
  case nlohmann::json::value_t::number_integer:
    into.kind = integer;
    into.integer = json.get<std::int64_t>();
    return true;
  case nlohmann::json::value_t::number_float:
    into.kind = real;
    into.real = json.get<double>();
    return true;
  case nlohmann::json::value_t::string:
    into.kind = text;
    into.text = json.get<std::string>();
    return true;
  case nlohmann::json::value_t::array:
    into.kind = list;
    for (const auto& item : json)
      if (!convert(item, into.items.emplace_back(), depth + 1)) return false;
    return true;
  case nlohmann::json::value_t::object:
    into.kind = table;
    for (const auto& [name, field] : json.items()) {
      into.fields.emplace_back(name, program::Data{});
      if (!convert(field, into.fields.back().second, depth + 1)) return false;
    }
    return true;
  default: return false;
  }
}

}  // namespace

bool read_json(std::string_view text, program::Data& into) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return !json.is_discarded() && convert(json, into, 0);
}

}  // namespace stepzero::server
