#include "server/workspace/files.hpp"

#include "documents/document.hpp"
#include "server/workspace/data.hpp"
#include "server/workspace/libraries.hpp"

#include <sys/stat.h>

namespace stepzero::server {

namespace {
constexpr std::uint64_t largest_configuration = 1 << 20;  // larger files of data are no configurations
}

std::shared_ptr<ModuleCache::Entry> ModuleCache::entry(const std::string& path) {
  const std::lock_guard lock(mutex_);
  auto [slot, is_new] = slots_.try_emplace(path);
  if (is_new) {
    slot->second.entry = std::make_shared<Entry>();
    used_.push_front(path);
    slot->second.used = used_.begin();
  } else {
    used_.splice(used_.begin(), used_, slot->second.used);
  }
  return slot->second.entry;
}

void ModuleCache::count_bytes(
    const std::string& path, const std::shared_ptr<Entry>& entry, std::size_t bytes) {
  // What a missing file costs too, so that a flood of failed look-ups is bounded.
  bytes += 512 + path.size();
  const std::lock_guard lock(mutex_);
  const auto slot = slots_.find(path);
  if (slot == slots_.end() || slot->second.entry != entry) return;
  bytes_ += bytes - slot->second.bytes;
  slot->second.bytes = bytes;
  while (bytes_ > capacity_ && used_.size() > 1) {
    const auto oldest = slots_.find(used_.back());
    bytes_ -= oldest->second.bytes;
    slots_.erase(oldest);
    used_.pop_back();
  }
}

std::shared_ptr<const syntax::Module> ModuleCache::module(const std::string& path) {
  const std::shared_ptr<Entry> found = entry(path);
  const std::lock_guard lock(found->mutex);
  const std::optional<FileStamp> stamp = file_stamp(path);
  if (stamp && stamp == found->stamp) return found->module;
  found->stamp = stamp;
  found->module = nullptr;
  found->cells = nullptr;
  if (stamp) {
    ReadText read = read_text(path);
    if (read.text && is_notebook(path)) {
      if (auto notebook = read_notebook(*read.text).program) {
        found->cells = std::make_shared<Cells>(std::move(notebook->cells));
        found->module = syntax::parse(std::move(notebook->text), background_);
      }
    } else if (read.text) {
      found->module = documents::module_of(path, std::move(*read.text), background_);
    }
  }
  count_bytes(path, found, found->module ? found->module->text->size() : 0);
  return found->module;
}

std::shared_ptr<const Cells> ModuleCache::cells(const std::string& path) {
  const std::shared_ptr<Entry> found = entry(path);
  const std::lock_guard lock(found->mutex);
  return found->cells;
}

void ModuleCache::clear() {
  const std::lock_guard lock(mutex_);
  slots_.clear();
  used_.clear();
  bytes_ = 0;
}

FileSources::FileSources(std::shared_ptr<ModuleCache> cache, std::vector<std::string> roots,
    std::shared_ptr<const Overlay> overlay, const std::vector<std::string>& named)
    : cache_(std::move(cache)), roots_(std::move(roots)), libraries_(library_folders(roots_, named)),
      overlay_(std::move(overlay)) {}

std::shared_ptr<const syntax::Module> FileSources::module(const std::string& path) const {
  if (overlay_) {
    if (const auto open = overlay_->find(path); open != overlay_->end()) return open->second;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto seen = modules_.find(path); seen != modules_.end()) return seen->second;
  }
  std::shared_ptr<const syntax::Module> module = cache_->module(path);
  const std::lock_guard lock(mutex_);
  return modules_.try_emplace(path, std::move(module)).first->second;
}

FileSources::Kind FileSources::kind(const std::string& path) const {
  {
    const std::lock_guard lock(mutex_);
    if (const auto seen = kinds_.find(path); seen != kinds_.end()) return seen->second;
  }
  Kind kind = Kind::nothing;
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0) {
    if (S_ISREG(status.st_mode)) kind = Kind::file;
    if (S_ISDIR(status.st_mode)) kind = Kind::folder;
  }
  const std::lock_guard lock(mutex_);
  return kinds_.try_emplace(path, kind).first->second;
}

std::shared_ptr<const program::Data> FileSources::data(
    const std::string& path, program::DataFormat format) const {
  if (overlay_) {
    if (const auto open = overlay_->find(path); open != overlay_->end())
      return open->second ? read_data(path, open->second->text->bytes(), format) : nullptr;
  }
  {
    const std::lock_guard lock(mutex_);
    if (const auto seen = data_.find({path, format}); seen != data_.end()) return seen->second;
  }
  std::shared_ptr<const program::Data> data;
  if (const auto stamp = file_stamp(path); stamp && stamp->size <= largest_configuration)
    if (const ReadText read = read_text(path); read.text) data = read_data(path, *read.text, format);
  const std::lock_guard lock(mutex_);
  return data_.try_emplace({path, format}, std::move(data)).first->second;
}

bool FileSources::is_file(const std::string& path) const {
  if (overlay_) {
    if (const auto open = overlay_->find(path); open != overlay_->end()) return open->second != nullptr;
  }
  return kind(path) == Kind::file;
}

bool FileSources::is_folder(const std::string& path) const { return kind(path) == Kind::folder; }

}  // namespace stepzero::server
