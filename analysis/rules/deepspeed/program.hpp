// Configurations that a program hands to `deepspeed.initialize` as dicts: the rules of the file read them as
// if they stood in one, and find the keys where the dict is written out.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/report.hpp"
#include "rules/training/training.hpp"

#include <optional>

namespace stepzero::rules::deepspeed {

void check_program(const Record& record, Report& report, const Rule& rule,
    void (*judge)(const Document& document, DocumentReport& report));
// The configuration of an engine, where the run knows all of it.
std::optional<Node> configuration_of(const Record& record, values::Value engine);
// Do both stand on one way through a loop, or may they?
bool on_one_way(const TrainingEvent& one, const TrainingEvent& other);
// The batch sizes against the processes of a known launch.
void check_batch_of_launch(const Record& record, Report& report);

}  // namespace stepzero::rules::deepspeed
