#include "server/workspace/libraries.hpp"

#include "server/workspace/paths.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace stepzero::server {
namespace {

namespace fs = std::filesystem;

bool is_folder(const std::string& path) {
  std::error_code error;
  return fs::is_directory(path, error);
}

void add(std::vector<std::string>& folders, const std::string& folder) {
  if (is_folder(folder) && std::find(folders.begin(), folders.end(), folder) == folders.end())
    folders.push_back(folder);
}

// `prefix`/lib/python3.11/site-packages, whatever the version.
void add_versions(std::vector<std::string>& folders, const std::string& prefix, const std::string& last) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator it(prefix + "/lib", error), end; !error && it != end; it.increment(error))
    if (it->path().filename().string().starts_with("python3"))
      found.push_back(it->path().string() + "/" + last);
  std::sort(found.rbegin(), found.rend());
  for (const std::string& folder : found) add(folders, folder);
}

std::vector<std::string> look(const std::vector<std::string>& roots, const std::vector<std::string>& named) {
  std::vector<std::string> folders;
  for (const std::string& folder : named)
    for (const std::string& packages : installed_packages(folder)) add(folders, packages);
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"})
    if (const char* prefix = std::getenv(variable); prefix && *prefix)
      add_versions(folders, prefix, "site-packages");
  for (const std::string& root : roots)
    for (std::string at = root; !at.empty(); at = at == "/" ? "" : parent_folder(at))
      for (const char* name : {".venv", "venv", "env"})
        if (is_folder(at + "/" + name + "/lib")) add_versions(folders, at + "/" + name, "site-packages");
  add_versions(folders, "/usr/local", "dist-packages");
  add_versions(folders, "/usr/local", "site-packages");
  add(folders, "/usr/lib/python3/dist-packages");
  return folders;
}

}  // namespace

std::vector<std::string> installed_packages(const std::string& folder) {
  std::vector<std::string> folders;
  if (is_folder(folder + "/lib")) add_versions(folders, folder, "site-packages");
  if (folders.empty()) add(folders, folder);
  return folders;
}

const std::vector<std::string>& library_folders(
    const std::vector<std::string>& roots, const std::vector<std::string>& named) {
  // Environments are seldom made while a server runs: each set of roots is looked at once.
  static std::mutex mutex;
  using Folders = std::vector<std::string>;
  static std::map<std::pair<Folders, Folders>, std::unique_ptr<const Folders>> known;
  const std::lock_guard lock(mutex);
  auto& entry = known[{roots, named}];
  if (!entry) entry = std::make_unique<const Folders>(look(roots, named));
  return *entry;
}

}  // namespace stepzero::server
