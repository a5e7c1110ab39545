// TOML text as a settings value with places, as documents/toml.cpp reads it.
#pragma once

#include "server/configuration/value.hpp"

#include <optional>
#include <string>

namespace stepzero::server {

struct Toml {
  std::optional<Value> table;     // nothing: the text has no such table, or is broken
  std::optional<Problem> broken;  // why the text is not TOML
};

// The table at `keys` ("tool", "stepzero"), or the whole text for none.
Toml read_toml(const syntax::Text& text, const std::vector<std::string>& keys);

}  // namespace stepzero::server
