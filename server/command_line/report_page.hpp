// `stepzero report`: findings, schedules and models as one page that needs nothing else. Knows no engine.
#pragma once

#include "footprint/footprint.hpp"
#include "server/command_line/report.hpp"
#include "server/features/model_outline.hpp"
#include "snapshot/schedule.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stepzero::server {

// What is drawn of one file.
struct Picture {
  std::string path;
  std::shared_ptr<const snapshot::Schedule> schedule;  // null: nothing communicates
  std::vector<ModelOutline> models;
  std::vector<footprint::Model> made;  // by the file as it runs, of whatever file's classes
};

std::string report_page(
    const Report& report, const std::vector<std::string>& paths, const std::vector<Picture>& pictures);

}  // namespace stepzero::server
