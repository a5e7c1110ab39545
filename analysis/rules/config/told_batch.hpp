// What a configuration of the program's own says of the batch that all processes train on together.
#pragma once

#include "rules/documents/check.hpp"
#include "rules/report.hpp"

namespace stepzero::rules::config::told_batch {

// Tells where the loader, the processes and the accumulation of the training make another batch of it.
void check(const Record& record, Report& report);
// The same of a launch that hands both to the Trainer of transformers.
void check_launches(const DocumentInput& input, DocumentReport& report);

}  // namespace stepzero::rules::config::told_batch
