// The memory of a training step as JSON for tools.
#pragma once

#include "server/features/footprint.hpp"

#include <nlohmann/json_fwd.hpp>

namespace stepzero::server {

nlohmann::ordered_json footprint_json(
    const footprint::Footprint& footprint, const std::string& path, const DisplayPath& name);

}  // namespace stepzero::server
