// The sources of an analysis over the file system and over open documents. Thread-safe. Knows no protocol.
#pragma once

#include "program/sources.hpp"
#include "server/workspace/notebook.hpp"
#include "server/workspace/read.hpp"

#include <cstddef>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::server {

// Parsed files, shared by all runs. A file is read again when its stamp changed, and parsed once however many
// threads ask at the same time. Holds about `capacity` bytes of text; what was used longest ago goes first.
class ModuleCache {
public:
  // `background`: takes a part of reading a file.
  explicit ModuleCache(std::size_t capacity = 64u << 20, syntax::BackgroundRunner background = {})
      : capacity_(capacity), background_(std::move(background)) {}

  // Null if there is no such file or it is not text. A notebook is the program of its cells.
  std::shared_ptr<const syntax::Module> module(const std::string& path);
  // Of the module that was last given out for the path; null if it is no notebook.
  std::shared_ptr<const Cells> cells(const std::string& path);
  void clear();

private:
  struct Entry {
    std::mutex mutex;  // held while the file is read and parsed
    std::optional<FileStamp> stamp;
    std::shared_ptr<const syntax::Module> module;
    std::shared_ptr<const Cells> cells;
  };
  struct Slot {
    std::shared_ptr<Entry> entry;
    std::size_t bytes = 0;
    std::list<std::string>::iterator used;
  };
  std::shared_ptr<Entry> entry(const std::string& path);
  void count_bytes(const std::string& path, const std::shared_ptr<Entry>& entry, std::size_t bytes);

  std::size_t capacity_;
  syntax::BackgroundRunner background_;
  std::mutex mutex_;
  std::size_t bytes_ = 0;
  std::unordered_map<std::string, Slot> slots_;
  std::list<std::string> used_;  // most recently used first
};

// Open documents by path: they stand before the files of that name. Null: as if there were no such file.
using Overlay = std::map<std::string, std::shared_ptr<const syntax::Module>>;

// What one run sees. The first answer about a path is its answer until the end, so a run sees one moment.
class FileSources final : public program::Sources {
public:
  FileSources(std::shared_ptr<ModuleCache> cache, std::vector<std::string> roots,
      std::shared_ptr<const Overlay> overlay = nullptr, const std::vector<std::string>& library_folders = {});

  std::shared_ptr<const syntax::Module> module(const std::string& path) const override;
  bool is_file(const std::string& path) const override;
  bool is_folder(const std::string& path) const override;
  std::shared_ptr<const program::Data> data(
      const std::string& path, program::DataFormat format) const override;
  const std::vector<std::string>& roots() const override { return roots_; }
  const std::vector<std::string>& libraries() const override { return libraries_; }

private:
  enum class Kind { nothing, file, folder };
  Kind kind(const std::string& path) const;

  std::shared_ptr<ModuleCache> cache_;
  std::vector<std::string> roots_;
  std::vector<std::string> libraries_;
  std::shared_ptr<const Overlay> overlay_;
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, std::shared_ptr<const syntax::Module>> modules_;
  mutable std::unordered_map<std::string, Kind> kinds_;
  mutable std::map<std::pair<std::string, program::DataFormat>, std::shared_ptr<const program::Data>> data_;
};

}  // namespace stepzero::server
