// A settings value as written, whether in TOML or in JSON, and its meaning. Knows neither of the two.
#pragma once

#include "rules/finding.hpp"
#include "server/configuration/settings.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

struct Entry;

struct Value {
  enum class Kind { string, number, boolean, list, table, nothing, other };
  Kind kind = Kind::other;
  std::string text;  // of a string
  std::vector<Value> items;
  std::vector<Entry> entries;
  syntax::Span where;
};

struct Entry {
  std::string key;
  syntax::Span where;  // of the key
  Value value;
};

struct Problem {
  syntax::Span where;
  std::string message;
  std::string replacement;  // what may have been meant, as it would be written there
};

struct Meaning {
  Layer layer;
  std::vector<Problem> problems;
};

// `known_rules`: what names a rule or a family.
Meaning interpret(const Value& table, const std::vector<std::string>& known_rules);

}  // namespace stepzero::server
