#include "server/workspace/discovery.hpp"

#include "documents/document.hpp"
#include "server/workspace/ignore.hpp"
#include "server/workspace/notebook.hpp"
#include "server/workspace/paths.hpp"
#include "server/workspace/read.hpp"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

namespace stepzero::server {
namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
  std::error_code error;
  return fs::exists(path, error);
}

// The ignore files that hold at a place, from the top of the repository down.
class IgnoreFiles {
public:
  // Those of `folder` and of what is above it.
  static IgnoreFiles above(const std::string& folder) {
    std::vector<std::string> folders = {folder};
    while (!exists(join(folders.back(), ".git")) && folders.back() != "/") {
      folders.push_back(parent_folder(folders.back()));
    }
    IgnoreFiles files;
    const bool in_repository = exists(join(folders.back(), ".git"));
    if (in_repository) {
      files.add(folders.back(), join(folders.back(), ".git/info/exclude"));
    } else {
      folders.resize(1);
    }
    for (auto it = folders.rbegin(); it != folders.rend(); ++it) files.add(*it, join(*it, ".gitignore"));
    return files;
  }

  // The number of files before, for `leave`.
  std::size_t enter(const std::string& folder) {
    const std::size_t before = files_.size();
    add(folder, join(folder, ".gitignore"));
    return before;
  }
  void leave(std::size_t before) { files_.resize(before); }

  bool ignores(const std::string& path, bool is_folder) const {
    for (auto file = files_.rbegin(); file != files_.rend(); ++file) {
      const auto verdict = file->patterns.verdict(relative_to(path, file->folder), is_folder);
      if (verdict != IgnorePatterns::Verdict::none) return verdict == IgnorePatterns::Verdict::ignored;
    }
    return false;
  }

private:
  struct File {
    std::string folder;
    IgnorePatterns patterns;
  };
  void add(const std::string& folder, const std::string& path) {
    if (!file_stamp(path)) return;
    const ReadText read = read_text(path);
    if (!read.text) return;
    IgnorePatterns patterns(*read.text);
    if (!patterns.empty()) files_.push_back({folder, std::move(patterns)});
  }
  std::vector<File> files_;
};

constexpr std::uintmax_t largest_document = 256 << 10;  // larger ones are data

// Hidden folders that hold launches, and no program.
bool holds_launches(std::string_view path) {
  return file_name(path) == ".vscode" || file_name(path) == ".github" ||
      (file_name(path) == "workflows" && file_name(parent_folder(std::string(path))) == ".github");
}
bool is_never_entered(std::string_view name) {
  return name.starts_with('.') || name == "node_modules" || name == "__pycache__";
}

class Walk {
public:
  Walk(const std::string& folder, const std::atomic<bool>* cancelled, NotebookFiles notebooks,
      Documents documents)
      : ignore_(IgnoreFiles::above(folder)), cancelled_(cancelled),
        notebooks_(notebooks == NotebookFiles::included), documents_(documents == Documents::included) {
    enter(folder);
    drop_links_to_found();
  }
  Discovery found;

private:
  void enter(const std::string& folder) {
    if (cancelled_ != nullptr && cancelled_->load(std::memory_order_relaxed)) return;
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    fs::directory_iterator it(folder, error);
    while (!error && it != fs::directory_iterator()) {
      entries.push_back(*it);
      it.increment(error);
    }
    if (error) {
      found.unreadable.push_back(
          {folder, error == std::errc::permission_denied ? "permission denied" : error.message()});
      return;
    }
    std::sort(entries.begin(), entries.end(),
        [](const auto& a, const auto& b) { return a.path().native() < b.path().native(); });
    for (const fs::directory_entry& entry : entries) look_at(entry);
  }

  void look_at(const fs::directory_entry& entry) {
    const std::string& path = entry.path().native();
    const std::string_view name = file_name(path);
    std::error_code error;
    const bool is_link = entry.is_symlink(error);
    if (entry.is_directory(error)) {
      const bool only_launches = documents_ && holds_launches(path);
      if (is_link || (is_never_entered(name) && !only_launches) || (in_hidden_ && !only_launches) ||
          exists(join(path, "pyvenv.cfg")) || ignore_.ignores(path, true))
        return;
      const std::size_t before = ignore_.enter(path);
      const bool was_hidden = in_hidden_;
      in_hidden_ = in_hidden_ || is_never_entered(name);
      enter(path);
      in_hidden_ = was_hidden;
      ignore_.leave(before);
    } else if (!in_hidden_ && (name.ends_with(".py") || (notebooks_ && is_notebook(name))) &&
        !name.starts_with("._") && entry.is_regular_file(error)) {
      if (ignore_.ignores(path, false)) return;
      if (is_link) links_.insert(path);
      found.files.push_back(path);
    } else if (documents_ && !is_link && documents::language_of(path) != documents::Language::none &&
        entry.is_regular_file(error)) {
      if (entry.file_size(error) <= largest_document && !ignore_.ignores(path, false))
        found.documents.push_back(path);
    }
  }

  void drop_links_to_found() {
    if (links_.empty()) return;
    std::set<std::string> real;
    for (const std::string& file : found.files) {
      if (!links_.contains(file)) real.insert(resolved(file));
    }
    std::erase_if(found.files, [&](const std::string& file) {
      return links_.contains(file) && !real.insert(resolved(file)).second;
    });
  }

  static std::string resolved(const std::string& path) {
    std::error_code error;
    const fs::path real = fs::canonical(path, error);
    return error ? path : real.native();
  }

  IgnoreFiles ignore_;
  const std::atomic<bool>* cancelled_;
  const bool notebooks_;
  const bool documents_;
  bool in_hidden_ = false;
  std::set<std::string> links_;
};

}  // namespace

Discovery find_python_files(const std::string& folder, const std::atomic<bool>* cancelled,
    NotebookFiles notebooks, Documents documents) {
  return std::move(Walk(folder, cancelled, notebooks, documents).found);
}

bool is_left_out(const std::string& file, const std::string& folder) {
  IgnoreFiles ignore = IgnoreFiles::above(folder);
  const std::string_view relative = relative_to(file, folder);
  bool in_hidden = false;
  for (std::size_t slash = relative.find('/'); slash != std::string_view::npos;
      slash = relative.find('/', slash + 1)) {
    const std::string parent = join(folder, relative.substr(0, slash));
    const bool only_launches = holds_launches(parent) && !file.ends_with(".py") &&
        !is_notebook(file_name(file));
    in_hidden = in_hidden || is_never_entered(file_name(parent));
    if ((in_hidden && !only_launches) || exists(join(parent, "pyvenv.cfg")) || ignore.ignores(parent, true)) {
      return true;
    }
    ignore.enter(parent);
  }
  return ignore.ignores(file, false);
}

}  // namespace stepzero::server
