// The arguments of a launch, read as argparse (or click) reads them.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"

namespace stepzero::rules::launch {

// Tells each argument that the script refuses, and what it misses. `options` is closed.
void judge_arguments(const DocumentInput& input, const LaunchLine& line, const ScriptOptions& options,
    const std::string& path, DocumentReport& report);

// The options that the beginning of a name may stand for.
std::vector<std::string_view> beginnings(const ScriptOptions& options, std::string_view flag);

}  // namespace stepzero::rules::launch
