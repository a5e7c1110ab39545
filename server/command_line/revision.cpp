#include "server/command_line/revision.hpp"

#include "documents/document.hpp"
#include "server/workspace/notebook.hpp"
#include "server/workspace/paths.hpp"
#include "syntax/document.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char** environ;

namespace stepzero::server {
namespace {

struct Ran {
  int status = -1;  // of the program; -1: it could not be run
  std::string out;
};

// Standard error is dropped: what git has to say is said in our own words.
Ran run(std::vector<std::string> words) {
  std::array<int, 2> pipe = {};
  if (::pipe(pipe.data()) != 0) return {};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addclose(&actions, pipe[0]);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = ::posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(pipe[1]);
  Ran ran;
  std::array<char, 1 << 16> buffer = {};
  while (error == 0) {
    const ssize_t count = ::read(pipe[0], buffer.data(), buffer.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) break;
    ran.out.append(buffer.data(), static_cast<std::size_t>(count));
  }
  ::close(pipe[0]);
  if (error != 0) return {};
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {}
  ran.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return ran;
}

Ran git(const std::string& root, std::vector<std::string> words) {
  std::vector<std::string> all = {"git", "-C", root, "-c", "core.fsmonitor=false"};
  all.insert(all.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  return run(std::move(all));
}

std::vector<std::string> split_at_nul(const std::string& text) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

// The folder above `path` that has a .git; empty if none does. In a linked worktree or a submodule that is a
// file.
std::string repository_of(const std::string& path) {
  for (std::string folder = parent_folder(path);; folder = parent_folder(folder)) {
    struct stat status = {};
    if (::stat(join(folder, ".git").c_str(), &status) == 0) return folder;
    if (folder == "/") return {};
  }
}

bool is_program(std::string_view path) {
  return path.ends_with(".py") || path.ends_with(".pyi") || is_notebook(path) ||
      documents::language_of(path) != documents::Language::none;
}

std::shared_ptr<const syntax::Module> parsed(const std::string& path, std::string text) {
  if (!is_notebook(path)) return documents::module_of(path, std::move(text));
  ReadNotebook notebook = read_notebook(text);
  return notebook.program ? syntax::parse(std::move(notebook.program->text)) : nullptr;
}

// Adds what differs in one repository; an error, or empty.
std::string add_repository(const std::string& root, const std::string& name, Overlay& overlay) {
  const Ran found = git(root, {"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"});
  if (found.status == -1) return "--since needs git, which cannot be run here";
  if (found.status != 0)
    return "--since: there is no revision \"" + name + "\" in " + root + "; fetch it, or name another";
  const std::string commit = found.out.substr(0, found.out.find('\n'));
  const Ran differing = git(root,
      {"diff", "--name-status", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules", commit, "--"});
  const Ran untracked = git(root, {"ls-files", "--others", "--exclude-standard", "-z"});
  if (differing.status != 0 || untracked.status != 0)
    return "--since: git cannot compare " + root + " with \"" + name + "\"";
  for (const std::string& path : split_at_nul(untracked.out)) {
    if (is_program(path)) overlay[join(root, path)] = nullptr;
  }
  const std::vector<std::string> parts = split_at_nul(differing.out);  // status, path, status, path…
  for (std::size_t i = 0; i + 1 < parts.size(); i += 2) {
    const std::string& path = parts[i + 1];
    if (!is_program(path)) continue;
    std::shared_ptr<const syntax::Module>& before = overlay[join(root, path)];
    if (parts[i] == "A") continue;
    Ran text = git(root, {"cat-file", "blob", commit + ":" + path});
    if (text.status == 0) before = parsed(path, std::move(text.out));
  }
  return {};
}

}  // namespace

Revision read_revision(const std::string& name, const std::vector<std::string>& files) {
  std::set<std::string> folders, roots;
  for (const std::string& path : files) {
    if (!folders.insert(parent_folder(path)).second) continue;
    const std::string root = repository_of(path);
    if (root.empty()) return {nullptr, "--since needs a git repository; " + path + " lies in none"};
    roots.insert(root);
  }
  auto overlay = std::make_shared<Overlay>();
  for (const std::string& root : roots) {
    if (std::string error = add_repository(root, name, *overlay); !error.empty())
      return {nullptr, std::move(error)};
  }
  return {std::move(overlay), {}};
}

}  // namespace stepzero::server
