// The run of a file whose shapes are shown: begun with what the file's own run found of parameters.
#pragma once

#include "interpreter/interpreter.hpp"
#include "snapshot/run_cache.hpp"

#include <functional>
#include <string>

namespace stepzero::snapshot {

// The record of the run that is shown; null: the file's own. It begins with what the run before it found of
// parameters, and may tell more of others: a few runs at most follow each other. Each goes on after an edit
// that leaves what it began with.
//
// `begin` runs the file from the beginning.
const interpreter::Record* run_to_show(Run& run, const program::Sources& sources, const std::string& path,
    const interpreter::Limits& limits, const std::function<void(Run&, const interpreter::Limits&)>& begin);

}  // namespace stepzero::snapshot
