// The communication schedule as a picture for reviews: SVG, and Mermaid's sequence diagram, which GitHub and
// GitLab draw. Loops whose rounds are alike are drawn once. Knows no terminal and no protocol.
#pragma once

#include "server/features/schedule.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

struct Drawn {
  const snapshot::Schedule* schedule;
  std::string path;
};

// A whole SVG document; light and dark.
std::string schedule_svg(const std::vector<Drawn>& drawn, const PathName& name);

std::string schedule_mermaid(const Drawn& drawn, const PathName& name);

}  // namespace stepzero::server
