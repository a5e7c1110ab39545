// The arguments of a launch, read as argparse (or click) reads them.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"

namespace stepzero::rules::launch {

// Tells each argument that the script refuses, and what it misses. `options` is closed.
void judge_arguments(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
    const std::string& path, DocumentReport& report);

}  // namespace stepzero::rules::launch
