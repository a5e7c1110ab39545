// What the JSON formats of the command line share. Included by few files: the JSON library is slow to
// compile.
#pragma once

#include "server/command_line/report.hpp"

#include <nlohmann/json.hpp>

namespace stepzero::server {

using Json = nlohmann::ordered_json;

// Broken UTF-8 becomes U+FFFD: the output is always JSON.
inline std::string written(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

// One finding, as `check --format json` tells it.
Json diagnostic_json(const Report& report, const rules::Finding& finding);

}  // namespace stepzero::server
