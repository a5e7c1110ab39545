// Programs whose command line LightningCLI makes: of the arguments of the Trainer, and of those of the model
// and the data that the program hands over.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/launch/line.hpp"

namespace stepzero::rules::launch {

// Tells what LightningCLI refuses of a launch, and of the model's and the data's arguments in the files that
// it names. Nothing where the program makes none.
void judge_lightning_cli(
    const DocumentInput& input, const LaunchLine& line, const std::string& script, DocumentReport& report);

}  // namespace stepzero::rules::launch
