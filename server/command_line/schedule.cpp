// `stepzero schedule`: who communicates what, rank by rank.
#include "server/command_line/checker.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "server/command_line/json.hpp"
#include "server/command_line/with_progress.hpp"
#include "server/features/schedule_json.hpp"
#include "server/features/schedule_picture.hpp"
#include "snapshot/snapshot.hpp"

#include <exception>
#include <set>

namespace stepzero::server {
namespace {

// The schedule of one file, written.
struct OfFile {
  std::vector<std::shared_ptr<const snapshot::Schedule>> schedules;  // of the file, and of each launch of it
  std::vector<Json> json;
  std::string text;
  std::string unreadable;
  bool communicates = false;
};

OfFile schedule_of_file(
    const Checker& checker, const Inputs& inputs, const std::string& path, const ScheduleOptions& asked) {
  OfFile made;
  const FileSources sources = checker.sources(path, inputs.overlay);
  if (!sources.module(path)) {
    made.unreadable = read_text(path).reason;
    return made;
  }
  snapshot::Options options;
  options.select = {"none"};  // no rule has this name
  options.want_facts = false;
  options.want_schedule = true;
  options.want_launched = true;
  options.launches = [&] { return checker.launches(path, inputs.overlay); };
  options.world = asked.world;
  options.background = checker.background();
  try {
    const snapshot::Result result = checker.analyze()(sources, path, options);
    if (!result.schedule) return made;
    const PathName name = [&](const std::string& each) { return inputs.names.displayed(each); };
    // What is the same however the program is started is told once.
    made.schedules = {result.schedule};
    std::set<std::string> told = {schedule_text(*result.schedule, path, name)};
    for (const auto& launched : result.launched) {
      snapshot::Schedule plain = *launched;
      plain.launch.clear();
      const bool is_table = asked.format == Format::json || asked.format == Format::text;
      if (is_table && !plain.parts.empty() && told.insert(schedule_text(plain, path, name)).second)
        made.schedules.push_back(launched);
    }
    for (const auto& schedule : made.schedules) {
      made.communicates = made.communicates || !schedule->parts.empty();
      if (asked.format == Format::json)
        made.json.push_back(schedule_json(*schedule, path, name));
      else if (asked.format == Format::mermaid)
        made.text += schedule_mermaid({schedule.get(), path}, name);
      else if (asked.format == Format::text)
        made.text += (made.text.empty() ? "" : "\n") + schedule_text(*schedule, path, name);
    }
  } catch (const std::exception& error) {
    made.unreadable = std::string("internal error: ") + error.what();
  }
  return made;
}

// Control characters of the program's own text would be the terminal's.
}  // namespace

int run_schedule(const ScheduleOptions& options) {
  ConfigurationFiles configuration;
  const Inputs inputs = find_inputs(options.paths, options.stdin_filename, configuration);
  const Checker checker(inputs, configuration, {});
  int status = say_unreadable(inputs);
  auto all = with_progress("following the ranks", inputs.files.size(),
      [&](std::size_t i) { return schedule_of_file(checker, inputs, inputs.files[i], options); });
  Json files = Json::array();
  std::string text;
  std::vector<Drawn> drawn;
  std::size_t silent = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!all[i].unreadable.empty()) {
      say(inputs.names.displayed(inputs.files[i]) + ": " + all[i].unreadable);
      status = exit_status::trouble;
      continue;
    }
    if (!all[i].communicates && all.size() > 1) {
      // Of a folder, only what communicates is told.
      ++silent;
      continue;
    }
    if (!text.empty() && all[i].communicates) text += "\n";
    text += sanitized_lines(all[i].text);
    for (const auto& schedule : all[i].schedules) drawn.push_back({schedule.get(), inputs.files[i]});
    for (Json& json : all[i].json) files.push_back(std::move(json));
  }
  if (silent > 0 && silent == all.size()) text = "no communication in " + std::to_string(silent) + " files\n";
  if (options.format == Format::mermaid && text.find("sequenceDiagram") == std::string::npos)
    text = "sequenceDiagram\n  %% no communication\n";
  if (options.format == Format::svg)
    text = schedule_svg(drawn, [&](const std::string& each) { return inputs.names.displayed(each); });
  if (options.format == Format::json) text = written({{"version", 1}, {"files", std::move(files)}});
  return write_out(text) == Written::failed ? exit_status::trouble : status;
}

}  // namespace stepzero::server
