// YAML as the analysis of documents reads it, without the places.
#include "documents/document.hpp"
#include "server/workspace/data.hpp"

#include <utility>

namespace stepzero::server {

namespace {

void convert(documents::Node&& node, program::Data& into) {
  if (node.has_other_keys) {
    into.kind = program::Data::Kind::unknown;
    return;
  }
  into.kind = static_cast<program::Data::Kind>(node.kind);
  into.truth = node.truth;
  into.integer = node.integer;
  into.real = node.real;
  into.text = std::move(node.text);
  for (documents::Node& item : node.items) convert(std::move(item), into.items.emplace_back());
  for (documents::Field& field : node.fields) convert(std::move(field.value), into.fields.emplace_back(std::move(field.key), program::Data{}).second);
}

// The kinds are the same, in the same order.
static_assert(static_cast<int>(documents::Node::Kind::unknown) == static_cast<int>(program::Data::Kind::unknown));
static_assert(static_cast<int>(documents::Node::Kind::text) == static_cast<int>(program::Data::Kind::text));
static_assert(static_cast<int>(documents::Node::Kind::table) == static_cast<int>(program::Data::Kind::table));

} // namespace

bool read_yaml(std::string_view text, program::Data& into, bool bare_exponents) {
  documents::Node node;
  if (!documents::read_yaml(text, node, bare_exponents ? documents::Exponents::bare : documents::Exponents::need_a_dot)) return false;
  convert(std::move(node), into);
  return true;
}

} // namespace stepzero::server
