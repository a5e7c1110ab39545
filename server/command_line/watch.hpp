// `check --watch`: what was found of each file while nothing that it depends on changes, and the wait for a
// change. Looks at the files' stamps every now and then, which works on every file system. Knows no output.
#pragma once

#include "server/command_line/checker.hpp"

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

class Kept {
public:
  // Files are looked at anew from here on. Before each round.
  void begin();
  // What `make` once said of the file, if it is still true. From any thread.
  Checked checked(
      const std::string& path, const ConfigurationFile& settings, const std::function<Checked()>& make);
  // Files that were not there, are not there any more, or have changed, or read what has.
  std::vector<std::string> changed(const Inputs& inputs, ConfigurationFiles& configuration);

private:
  struct One {
    Checked checked;
    std::uint64_t fingerprint = 0;
  };
  std::uint64_t state_of(const std::string& path);
  std::uint64_t fingerprint(
      const std::string& path, const ConfigurationFile& settings, const std::vector<std::string>& read);

  std::mutex mutex_;
  std::map<std::string, One> files_;
  std::map<std::string, std::uint64_t> states_;  // of this round
};

// From here on Ctrl-C ends the next wait, and not the program at once.
void end_in_order();

// Calls `look` until it says that something changed; it takes at most a twentieth of a core. False: Ctrl-C,
// or the like.
bool wait_for_change(const std::function<bool()>& look);

}  // namespace stepzero::server
