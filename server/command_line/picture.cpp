#include "server/command_line/picture.hpp"

#include "snapshot/footprint_run.hpp"

#include <exception>

namespace stepzero::server {

Picture picture_of(const Checker& checker, const Inputs& inputs, const std::string& path, int world) {
  Picture made{path, nullptr, {}, {}};
  const FileSources sources = checker.sources(path, inputs.overlay);
  Analysis analysis;
  analysis.path = path;
  analysis.module = sources.module(path);
  if (!analysis.module) return made;
  snapshot::Options options;
  options.select = {"none"};  // no rule has this name
  options.want_schedule = true;
  options.world = world;
  options.background = checker.background();
  try {
    analysis.result = checker.analyze()(sources, path, options);
  } catch (const std::exception&) {
    return made;  // the check has told of it
  }
  if (analysis.result.schedule && !analysis.result.schedule->parts.empty())
    made.schedule = analysis.result.schedule;
  made.models = model_outlines(analysis);
  try {
    if (const auto footprint = snapshot::footprint_of_file(sources, path, {})) made.made = footprint->models;
  } catch (const std::exception&) {
    return made;  // there are no numbers then
  }
  return made;
}

}  // namespace stepzero::server
