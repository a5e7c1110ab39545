// Files that a test edits: one by itself, and one of an installed library.
#pragma once

#include "server/workspace/files.hpp"
#include "server/workspace/paths.hpp"
#include "snapshot/snapshot.hpp"

#include <memory>
#include <string>
#include <vector>

namespace stepzero::replay {

class OneFile : public program::Sources {
public:
  OneFile(std::string path, std::string text) : path_(std::move(path)), document_(std::move(text)) {}

  void replace_all(const std::string& text) {
    document_.apply({{{0, static_cast<std::uint32_t>(document_.bytes().size())}, text}});
    module_ = nullptr;
  }
  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) {
    document_.apply({{{begin, end}, text}});
    module_ = nullptr;
  }
  const std::string& bytes() const { return document_.bytes(); }

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override {
    if (path != path_) return nullptr;
    if (!module_) module_ = document_.module();
    return module_;
  }
  bool is_file(const std::string& path) const override { return path == path_; }
  bool is_folder(const std::string&) const override { return false; }
  const std::vector<std::string>& roots() const override { return roots_; }

private:
  std::string path_;
  mutable syntax::Document document_;
  mutable std::shared_ptr<const syntax::Module> module_;
  std::vector<std::string> roots_;
};

// A file of an installed library, edited: its imports are read as they lie on the disk.
class InstalledFile {
public:
  explicit InstalledFile(std::string path, std::string text)
      : path_(std::move(path)), document_(std::move(text)) {}

  void edit(std::uint32_t begin, std::uint32_t end, const std::string& text) {
    document_.apply({{{begin, end}, text}});
  }
  const std::string& bytes() const { return document_.bytes(); }
  snapshot::Result analyze(const snapshot::Options& options) {
    const auto overlay = std::make_shared<server::Overlay>(server::Overlay{{path_, document_.module()}});
    const server::FileSources sources(cache_, server::import_roots({}, path_), overlay);
    return snapshot::analyze(sources, path_, options);
  }

private:
  std::string path_;
  syntax::Document document_;
  std::shared_ptr<server::ModuleCache> cache_ = std::make_shared<server::ModuleCache>();
};

}  // namespace stepzero::replay
