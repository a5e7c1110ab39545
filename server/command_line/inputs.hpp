// What the paths of a command line stand for: files, and the names to show them under. Knows no findings.
#pragma once

#include "server/configuration/configuration.hpp"
#include "server/workspace/files.hpp"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace stepzero::server {

// How files are called in the output: as the user named them or the folder they were found in; others
// relative to the current folder where they lie in it.
class Names {
public:
  explicit Names(std::string current_folder) : current_folder_(std::move(current_folder)) {}
  void give(const std::string& path, std::string name) { given_.emplace(path, std::move(name)); }
  std::string displayed(const std::string& path) const;
  const std::string& current_folder() const { return current_folder_; }

private:
  std::string current_folder_;
  std::map<std::string, std::string> given_;
};

struct Unreadable {
  std::string name;
  std::string reason;
};

struct Inputs {
  explicit Inputs(const std::string& current_folder) : names(current_folder) {}
  std::vector<std::string> files;  // normal paths in the order given, folders sorted; each once
  Names names;
  std::vector<std::string> workspace_folders;
  std::vector<Unreadable> unreadable;
  std::vector<std::string> notes;
  std::set<std::string>
      found_documents;  // of `files` the configurations and scripts that lie in the folders given
  // Standard input as a file.
  std::string standard_input;  // its path; empty: it is not read
  std::shared_ptr<const Overlay> overlay;
  std::shared_ptr<const Cells> standard_input_cells;  // null if it is no notebook
};

// `paths`: files, folders, and "-". Files found in folders are left out where the nearest settings exclude
// them.
Inputs find_inputs(const std::vector<std::string>& paths, const std::string& stdin_filename,
    ConfigurationFiles& configuration);
// Says on standard error what is not read, and why. The status so far.
int say_unreadable(const Inputs& inputs);

}  // namespace stepzero::server
