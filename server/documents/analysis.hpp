// The immutable result of one analysis, stamped with the version that it saw: what every feature of the
// editor reads. Knows no protocol.
#pragma once

#include "server/configuration/configuration.hpp"
#include "server/documents/memories.hpp"
#include "server/documents/run_sources.hpp"
#include "snapshot/launches.hpp"
#include "snapshot/snapshot.hpp"

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stepzero::server {

using AnalyzeFunction = std::function<snapshot::Result(
    const program::Sources&, const std::string& path, const snapshot::Options&)>;

// What all analyses of one moment share. Replaced as a whole, never changed.
struct SharedState {
  AnalyzeFunction analyze = snapshot::analyze;
  // Syntax trees are several times as large as the texts that this counts.
  std::shared_ptr<ModuleCache> cache = std::make_shared<ModuleCache>(8u << 20);
  std::shared_ptr<ConfigurationFiles> configuration = std::make_shared<ConfigurationFiles>();
  std::shared_ptr<const OpenDrafts> open = std::make_shared<OpenDrafts>();
  std::shared_ptr<RunCaches> memories = std::make_shared<RunCaches>();
  std::shared_ptr<const snapshot::Launches> launches =
      std::make_shared<snapshot::Launches>();     // by scripts of the workspace
  std::vector<std::string> folders;               // of the workspace
  Layer editor;                                   // settings without a folder of their own
  std::map<std::string, Layer> editor_by_folder;  // by workspace folder

  // The innermost workspace folder that holds the path; empty if none does.
  std::string folder_of(const std::string& path) const;
  Settings settings(const std::string& path) const;
};

// How the scripts launch programs, open ones as they stand in the editor. Runs on the pool.
std::shared_ptr<const snapshot::Launches> find_launches(
    const SharedState& world, const std::vector<std::string>& scripts, const std::atomic<bool>& cancelled);

struct Analysis {
  std::string path;
  int version = -1;                              // of the open document; -1: the file on disk
  std::shared_ptr<const syntax::Module> module;  // null if the path cannot be read
  std::shared_ptr<const Cells> cells;  // of an open notebook: which lines of its module belong to which
  snapshot::Result result;
  Settings settings;
  std::vector<rules::Finding> configuration_problems;  // in the settings file that applies
  std::string configuration_path;
  std::shared_ptr<const syntax::Text> configuration_text;
  // The texts of the other files that findings and facts point into, as this run saw them; unreadable ones
  // left out.
  std::map<std::string, std::shared_ptr<const syntax::Text>> others;

  // The text that a location's span counts in; null if it is not known.
  const syntax::Text* text_of(const std::string& path) const;
};

using Early = std::function<void(std::shared_ptr<const Analysis>)>;

// Runs on the pool. With `want_facts` false no hover and no hint can be answered from it. `early` gets the
// analysis as it is before its facts are collected.
std::shared_ptr<const Analysis> analyze(const SharedState& world, const std::string& path, bool want_facts,
    const std::atomic<bool>* cancelled, const Early& early = {});

// Analyses an open document from the beginning, and keeps that run for its next edit. Runs on the pool.
void renew(const SharedState& world, const std::string& path, const std::atomic<bool>* cancelled);

// The schedule of a file for so many ranks (0: see snapshot::Options), and nothing else of it. Runs on the
// pool; null if the path cannot be read, or the run was cancelled.
std::shared_ptr<const snapshot::Schedule> schedule_of_file(
    const SharedState& world, const std::string& path, int ranks, const std::atomic<bool>* cancelled);

}  // namespace stepzero::server
