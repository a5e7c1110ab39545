// The memory of a file's training step: a run of its own, of the program as it runs by itself, to its end.
// Nobody waits for it while typing.
#pragma once

#include "footprint/footprint.hpp"
#include "program/sources.hpp"
#include "snapshot/launches.hpp"

#include <memory>
#include <string>

namespace stepzero::snapshot {

// A program by its defaults, or as a script launches it.
struct Started {
  LaunchesOfOne launches;
  std::size_t number = 0;  // of those that are run, from 1; 0: by its defaults
};
// How many of them are run.
std::size_t number_of_runs(const LaunchesOfOne& launches);

// Null if there is no such file. A pure function of the sources and the options, as analyze() is. A launch
// says how many processes there are unless the options do.
std::shared_ptr<const footprint::Footprint> footprint_of_file(const program::Sources& sources,
    const std::string& path, const footprint::Options& options, const Started& started = {});

}  // namespace stepzero::snapshot
