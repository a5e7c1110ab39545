// The configuration that a script of Hydra is composed of, as far as its YAML files decide it: which keys an
// override on the command line may name.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"

namespace stepzero::rules::launch {

// Reports overrides that Hydra refuses. Nothing where the script is none of Hydra's, or its configuration is
// not known wholly.
void judge_overrides(
    const DocumentInput& input, const LaunchLine& line, const std::string& script, DocumentReport& report);

}  // namespace stepzero::rules::launch
