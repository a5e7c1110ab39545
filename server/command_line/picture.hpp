// What the report draws of a file: its schedule and its models.
#pragma once

#include "server/command_line/checker.hpp"
#include "server/command_line/report_page.hpp"

namespace stepzero::server {

// `world` 0: see snapshot::Options. Thread-safe.
Picture picture_of(const Checker& checker, const Inputs& inputs, const std::string& path, int world);

}  // namespace stepzero::server
