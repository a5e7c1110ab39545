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
  for (documents::Field& field : node.fields)
    convert(std::move(field.value), into.fields.emplace_back(std::move(field.key), program::Data{}).second);
}

// The kinds are the same, in the same order.
static_assert(
    static_cast<int>(documents::Node::Kind::unknown) == static_cast<int>(program::Data::Kind::unknown));
static_assert(static_cast<int>(documents::Node::Kind::text) == static_cast<int>(program::Data::Kind::text));
static_assert(static_cast<int>(documents::Node::Kind::table) == static_cast<int>(program::Data::Kind::table));

// "# @package model.small" in the first lines, which says where Hydra puts what the file holds. It is kept as
// a field of that name.
void add_package(std::string_view text, program::Data& into) {
  constexpr std::size_t first_lines = 400;
  const std::size_t at = text.substr(0, first_lines).find("@package");
  if (at == std::string_view::npos ||
      text.substr(0, at).find_first_not_of("# \t\r\n") != std::string_view::npos)
    return;
  if (into.kind == program::Data::Kind::null) into.kind = program::Data::Kind::table;
  if (into.kind != program::Data::Kind::table) return;
  std::string_view name = text.substr(at + 8);
  name = name.substr(0, name.find('\n'));
  while (!name.empty() && (name.front() == ' ' || name.front() == ':')) name.remove_prefix(1);
  while (!name.empty() && (name.back() == ' ' || name.back() == '\r')) name.remove_suffix(1);
  program::Data& package = into.fields.emplace_back(program::Data::package, program::Data{}).second;
  package.kind = program::Data::Kind::text;
  package.text = name;
}

}  // namespace

bool read_yaml(std::string_view text, program::Data& into, bool bare_exponents) {
  documents::Node node;
  if (!documents::read_yaml(
          text, node, bare_exponents ? documents::Exponents::bare : documents::Exponents::need_a_dot))
    return false;
  convert(std::move(node), into);
  if (bare_exponents) add_package(text, into);
  return true;
}

}  // namespace stepzero::server
