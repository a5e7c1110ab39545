// Which scripts launch which programs: the launch lines of scripts, with what each gives its program.
#pragma once

#include "program/sources.hpp"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace stepzero::interpreter {
struct Launch;
}

namespace stepzero::snapshot {

// Those of one program, in order; null: none.
using LaunchesOfOne = std::shared_ptr<const std::vector<interpreter::Launch>>;

class Launches {
public:
  // Those of a script. Launches that give the same are one; the first counts.
  void add(const program::Sources& sources, const std::string& script);
  LaunchesOfOne of(const std::string& program) const;
  // The programs that are launched in another way than there.
  std::set<std::string> changed_since(const Launches& before) const;

private:
  std::map<std::string, std::shared_ptr<std::vector<interpreter::Launch>>> by_program_;
};

} // namespace stepzero::snapshot
