// `stepzero check --why-silent FILE:LINE`: which runs come to a line, and what keeps the rules from judging
// it.
#include "server/command_line/checker.hpp"
#include "server/command_line/commands.hpp"
#include "server/command_line/console.hpp"
#include "server/command_line/display.hpp"
#include "snapshot/snapshot.hpp"

#include <charconv>

namespace stepzero::server {

int run_why(const std::string& place) {
  const std::size_t colon = place.rfind(':');
  std::uint32_t line = 0;
  if (colon != std::string::npos)
    std::from_chars(place.data() + colon + 1, place.data() + place.size(), line);
  if (line == 0) {
    say("--why-silent takes a file and a line of it, such as train.py:12");
    return exit_status::trouble;
  }
  ConfigurationFiles configuration;
  const Inputs inputs = find_inputs({place.substr(0, colon)}, "", configuration);
  for (const Unreadable& unreadable : inputs.unreadable) say(unreadable.name + ": " + unreadable.reason);
  if (inputs.files.size() != 1) return exit_status::trouble;
  const Checker checker(inputs, configuration, {});
  const std::string& path = inputs.files.front();
  const FileSources sources = checker.sources(path, inputs.overlay);
  snapshot::Options options;
  options.want_facts = false;
  options.launches = [&] { return checker.launches(path, inputs.overlay); };
  options.why_line = line;
  std::string text;
  for (const std::string& sentence : checker.analyze()(sources, path, options).why)
    text += sanitized(sentence) + "\n";
  return write_out(text) == Written::failed ? exit_status::trouble : exit_status::success;
}

}  // namespace stepzero::server
