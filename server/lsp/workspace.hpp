// The workspace as the client shows it: its folders, its files on disk, and the scan that makes imports
// quick. Belongs to the loop's thread.
#pragma once

#include "server/lsp/configuration.hpp"
#include "server/lsp/session.hpp"

#include <set>
#include <string>
#include <vector>

namespace stepzero::server {

class Workspace {
public:
  Workspace(Session& session, Configuration& configuration)
      : session_(session), configuration_(configuration) {}

  void serve();
  void set_folders(std::vector<lsp::WorkspaceFolder> folders);
  const std::vector<lsp::WorkspaceFolder>& folders() const { return folders_; }
  // Asks to hear of files that change; allowed once the client said `initialized`.
  void watch();
  // Finds the workspace's files and parses as many as the cache is meant to hold at the start.
  void scan();
  // A script was opened or changed: what it launches may be something else now.
  void script_changed(const std::string& path);
  // The same of a program, where it starts others or did so before.
  void program_changed(const std::string& path);

private:
  void files_changed(const lsp::DidChangeWatchedFilesParams& params);
  bool speaks_of_launches(const std::string& path) const;

  Session& session_;
  Configuration& configuration_;
  std::vector<lsp::WorkspaceFolder> folders_;
  int scans_ = 0;
  void find_launches();
  std::set<std::string> scripts_;  // that may launch programs
};

}  // namespace stepzero::server
