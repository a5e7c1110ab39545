#include "program/value_type.hpp"

#include <algorithm>

namespace stepzero::program {

namespace {

struct NamedType {
  std::string_view name;
  ValueType type;
};
constexpr NamedType named_types[] = {
    {"str", ValueType::text},
    {"STRING", ValueType::text},
    {"int", ValueType::integer},
    {"INT", ValueType::integer},
    {"float", ValueType::number},
    {"FLOAT", ValueType::number},
    {"bool", ValueType::truth},
    {"BOOL", ValueType::truth},
};

}  // namespace

ValueType type_named(std::string_view name) {
  const auto* found = std::ranges::find(named_types, name, &NamedType::name);
  return found == std::end(named_types) ? ValueType::unknown : found->type;
}

std::string_view in_words(ValueType type) {
  switch (type) {
  case ValueType::text: return "a string";
  case ValueType::integer: return "an integer";
  case ValueType::number: return "a number";
  case ValueType::truth: return "a boolean";
  case ValueType::unknown: break;
  }
  return "a value";
}

}  // namespace stepzero::program
