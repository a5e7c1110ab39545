// The memory of a file's training step: a run of its own, of the program as it runs by itself, to its end.
// Nobody waits for it while typing.
#pragma once

#include "footprint/footprint.hpp"
#include "program/sources.hpp"

#include <memory>
#include <string>

namespace stepzero::snapshot {

// Null if there is no such file. A pure function of the sources and the options, as analyze() is.
std::shared_ptr<const footprint::Footprint> footprint_of_file(
    const program::Sources& sources, const std::string& path, const footprint::Options& options);

}  // namespace stepzero::snapshot
