// Which configurations launch lines and programs name, and to whom they hand them: what a file is whose own
// keys do not tell.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace stepzero::rules::launch {

struct NamedConfiguration {
  Role role = Role::nothing;
  std::string file;  // as it is written
};

// `program`: the text of what the line launches; empty where it is not seen.
std::vector<NamedConfiguration> configurations_of(const LaunchLine& line, std::string_view program);

bool may_name_configurations(std::string_view text);
std::vector<NamedConfiguration> configurations_of(const syntax::Module& module);

}  // namespace stepzero::rules::launch
