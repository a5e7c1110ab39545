// The engine as the command line drives it: each file under its own settings. Thread-safe once made. Knows no
// output.
#pragma once

#include "rules/finding.hpp"
#include "server/command_line/inputs.hpp"
#include "server/configuration/configuration.hpp"
#include "server/workspace/files.hpp"
#include "snapshot/launches.hpp"
#include "snapshot/snapshot.hpp"
#include "syntax/phase.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::server {

// What the command line sets on top of the files' settings.
struct CommandLineSettings {
  Layer layer;
  std::vector<std::string> ignore;  // added to, not replacing, what the settings ignore
  bool statistics = false;          // what goes on is timed, one thing after the other
};

struct Checked {
  std::vector<rules::Finding> findings;  // wanted by the settings
  std::vector<std::string> read;         // other files the findings depend on
  std::vector<std::string> failures;     // rules that threw: "id: what"
  std::string unreadable;                // why the file is not checked; empty: it is
  std::string not_checked;               // why no rule reads it; empty: it was checked
  bool is_too_large = false;             // readable, but beyond what is analyzed
  std::vector<std::uint32_t> unparsed;   // lines that are no Python, in order; zero-based
  // For --statistics.
  bool is_from_cache = false;
  std::chrono::microseconds reading{},
      analyzing{};  // until its own syntax was there; from then on, with what it imports
  std::array<std::chrono::microseconds, static_cast<std::size_t>(syntax::Phase::count)> phases{};
  std::vector<std::pair<std::string, std::uint64_t>> roots;  // that took the most steps
  std::uint64_t steps = 0;
  std::size_t units = 0;  // functions that nobody calls, and classes
};

class Checker {
public:
  using Analyze =
      std::function<snapshot::Result(const program::Sources&, const std::string&, const snapshot::Options&)>;

  Checker(const Inputs& inputs, ConfigurationFiles& configuration, const CommandLineSettings& command_line,
      Analyze analyze = snapshot::analyze);

  const Analyze& analyze() const { return analyze_; }
  // Empty where all cores have files of their own.
  const syntax::BackgroundRunner& background() const { return background_; }

  Checked check(const std::string& path, const std::shared_ptr<const Overlay>& overlay) const;

  const Settings& settings(const std::string& path) const { return *settings_.at(path); }
  // The settings file that holds for a file, or an empty one.
  const ConfigurationFile& configuration(const std::string& path) const {
    return *configuration_of_.at(path);
  }

  // Of the settings files that hold for the inputs, each once.
  const std::vector<std::shared_ptr<const ConfigurationFile>>& configurations() const {
    return configurations_;
  }
  // The settings that hold for the findings in a settings file.
  const Settings& settings_of(const ConfigurationFile& file) const { return *merged_.at(&file); }

  // The scripts that may launch one of the inputs.
  const std::vector<std::string>& scripts() const { return scripts_; }

  // Of a notebook that was checked; null if the path is none.
  std::shared_ptr<const Cells> cells(const std::string& path) const;

  // How scripts launch a file: those found in the folders given, else those that lie where scripts of a
  // program usually do.
  snapshot::LaunchesOfOne launches(
      const std::string& path, const std::shared_ptr<const Overlay>& overlay) const;
  // Of all of them.
  const snapshot::LaunchCounts& launch_counts(const std::shared_ptr<const Overlay>& overlay) const;

  FileSources sources(const std::string& path, const std::shared_ptr<const Overlay>& overlay) const;

private:
  void find_launches(const std::shared_ptr<const Overlay>& overlay) const;

  Analyze analyze_;
  std::vector<std::string> workspace_folders_;
  std::string standard_input_;
  std::shared_ptr<const Cells> standard_input_cells_;
  bool statistics_;
  syntax::BackgroundRunner background_;
  std::shared_ptr<ModuleCache> modules_;
  std::vector<std::shared_ptr<const ConfigurationFile>> configurations_;
  std::map<const ConfigurationFile*, std::shared_ptr<const Settings>> merged_;
  std::map<std::string, std::shared_ptr<const Settings>> settings_;
  std::map<std::string, std::shared_ptr<const ConfigurationFile>> configuration_of_;
  std::vector<std::string> scripts_;  // of the inputs
  mutable std::once_flag found_launches_;
  mutable snapshot::Launches launches_;  // of all scripts, as they are on disk
};

}  // namespace stepzero::server
