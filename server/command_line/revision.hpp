// What files held at a revision of git. Runs `git`, and nothing that the repository could name: no hooks,
// filters or diff drivers.
#pragma once

#include "server/workspace/files.hpp"

#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stepzero::server {

struct Revision {
  // The Python files and notebooks that differ from the working tree, as they were; null for those that did
  // not exist.
  std::shared_ptr<const Overlay> overlay;
  std::string error;  // why it is not known, in one line; empty: it is
};

// Of the repositories that hold `files`. `name`: what `git rev-parse` understands, such as "origin/main".
Revision read_revision(const std::string& name, const std::vector<std::string>& files);

}  // namespace stepzero::server
