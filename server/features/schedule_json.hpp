// The communication schedule as JSON for tools.
#pragma once

#include "server/features/schedule.hpp"

#include <nlohmann/json_fwd.hpp>

namespace stepzero::server {

// {"path": …, "world": …, "schedules": […], "functions": […]}. Paths as `name` writes them; README.md says
// what is in it.
nlohmann::ordered_json schedule_json(
    const snapshot::Schedule& schedule, const std::string& path, const PathName& name);

}  // namespace stepzero::server
