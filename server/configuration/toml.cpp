#include "server/configuration/toml.hpp"

#include "documents/document.hpp"

#include <utility>

namespace stepzero::server {
namespace {

Value value(documents::Node&& node) {
  using Kind = documents::Node::Kind;
  Value result;
  result.where = node.span;
  switch (node.kind) {
  case Kind::text: result.kind = Value::Kind::string, result.text = std::move(node.text); break;
  case Kind::integer:
  case Kind::real: result.kind = Value::Kind::number; break;
  case Kind::boolean: result.kind = Value::Kind::boolean; break;
  case Kind::list:
    result.kind = Value::Kind::list;
    for (documents::Node& item : node.items) result.items.push_back(value(std::move(item)));
    break;
  case Kind::table:
    result.kind = Value::Kind::table;
    for (documents::Field& field : node.fields)
      result.entries.push_back({std::move(field.key), field.key_span, value(std::move(field.value))});
    break;
  case Kind::null:
  case Kind::unknown: break;
  }
  return result;
}

}  // namespace

Toml read_toml(const syntax::Text& text, const std::vector<std::string>& keys) {
  documents::Node root;
  std::vector<syntax::Span> comments;
  if (const auto broken = documents::read_toml(text, root, comments))
    return {std::nullopt, Problem{broken->where, broken->why, {}}};
  const documents::Node* node = &root;
  for (const std::string& key : keys) {
    node = node->at(key);
    if (node == nullptr) return {};
  }
  return {value(documents::Node(*node)), std::nullopt};
}

}  // namespace stepzero::server
