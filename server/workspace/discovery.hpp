// Which Python files a folder holds. Respects .gitignore files (those of the folder, below it, and above it
// up to the top of its repository) and .git/info/exclude. Knows nothing of settings.
#pragma once

#include <atomic>
#include <string>
#include <vector>

namespace stepzero::server {

struct Discovery {
  struct Unreadable {
    std::string path;
    std::string reason;
  };
  std::vector<std::string> files;  // sorted by folder and name, each once
  std::vector<std::string>
      documents;  // configurations and scripts of the shell, if they are wanted; likewise
  std::vector<Unreadable> unreadable;
};

enum class NotebookFiles { left_out, included };
enum class Documents { left_out, included };

// All *.py, and *.ipynb if they are wanted, below `folder` (a normal path). Not entered: hidden folders,
// node_modules, __pycache__, virtual environments, symbolic links to folders; `.vscode` and
// `.github/workflows` for their documents alone. A symbolic link to a file counts, unless its target is found
// as well.
Discovery find_python_files(const std::string& folder, const std::atomic<bool>* cancelled = nullptr,
    NotebookFiles notebooks = NotebookFiles::left_out, Documents documents = Documents::left_out);

// Whether `find_python_files(folder)` would leave out the file for its place alone (it need not exist).
bool is_left_out(const std::string& file, const std::string& folder);

}  // namespace stepzero::server
