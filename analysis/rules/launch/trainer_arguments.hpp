// Arguments of transformers' Trainer that do not go together.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"
#include "rules/launch/parsers.hpp"

namespace stepzero::rules::launch {

void judge_trainer_arguments(const LaunchLine& line, const ScriptOptions& options, DocumentReport& report);

}  // namespace stepzero::rules::launch
