// What a document holds, with places: the values of JSON and YAML, and the keys that they stand under. Knows
// no framework.
#pragma once

#include "syntax/text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::documents {

using syntax::Span;

struct Field;

struct Node {
  // `unknown`: a value that is no plain one, such as a date, an object with a tag, or what cannot be read.
  enum class Kind : std::uint8_t { null, boolean, integer, real, text, list, table, unknown };
  Kind kind = Kind::unknown;
  bool truth = false;
  std::int64_t integer = 0;
  double real = 0;
  std::string text;
  Span span;                    // of the value as it is written, quotes and brackets included
  std::vector<Node> items;      // of a list
  std::vector<Field> fields;    // of a table, in order; a later one of the same key wins
  bool has_other_keys = false;  // keys that are no text: they are left out

  bool is(Kind wanted) const { return kind == wanted; }
  bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  double number() const { return kind == Kind::integer ? static_cast<double>(integer) : real; }
  bool is_text(std::string_view wanted) const { return kind == Kind::text && text == wanted; }
  // Null if it is no table, or has no such key.
  const Field* find(std::string_view key) const;
  const Node* at(std::string_view key) const;
};

struct Field {
  std::string key;
  Span key_span;  // with its quotes
  bool is_quoted = false;
  bool is_merged = false;  // of YAML: it stands in another table, which is merged into this one
  Node value;
};

// "an integer", "a text" …
std::string_view kind_name(Node::Kind kind);

}  // namespace stepzero::documents
