// TOML as the documents read it, without places.
#include "documents/document.hpp"
#include "server/workspace/data.hpp"

namespace stepzero::server {

namespace {

program::Data data_of(const documents::Node& node) {
  using In = documents::Node::Kind;
  using Out = program::Data::Kind;
  program::Data made;
  switch (node.kind) {
  case In::null: made.kind = Out::null; break;
  case In::boolean: made.kind = Out::boolean, made.truth = node.truth; break;
  case In::integer: made.kind = Out::integer, made.integer = node.integer; break;
  case In::real: made.kind = Out::real, made.real = node.real; break;
  case In::text: made.kind = Out::text, made.text = node.text; break;
  case In::list:
    made.kind = Out::list;
    for (const documents::Node& item : node.items) made.items.push_back(data_of(item));
    break;
  case In::table:
    made.kind = Out::table;
    for (const documents::Field& field : node.fields)
      made.fields.emplace_back(field.key, data_of(field.value));
    break;
  case In::unknown: made.kind = Out::unknown; break;
  }
  return made;
}

}  // namespace

bool read_toml(std::string_view text, program::Data& into) {
  documents::Node root;
  std::vector<syntax::Span> comments;
  if (documents::read_toml(syntax::Text(std::string(text)), root, comments)) return false;
  into = data_of(root);
  return true;
}

}  // namespace stepzero::server
