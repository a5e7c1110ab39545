#include "server/documents/run_sources.hpp"

#include "server/workspace/data.hpp"

#include <utility>

namespace stepzero::server {

RunSources::RunSources(std::shared_ptr<const OpenDrafts> open, std::shared_ptr<ModuleCache> cache,
    std::vector<std::string> roots, const std::vector<std::string>& library_folders)
    : open_(std::move(open)), files_(std::move(cache), std::move(roots), nullptr, library_folders) {}

ParsedDraft::State RunSources::open(const std::string& path) const {
  const auto draft = open_->find(path);
  if (draft == open_->end()) return {nullptr, -1, nullptr};
  {
    const std::lock_guard lock(mutex_);
    if (const auto seen = seen_.find(path); seen != seen_.end()) return seen->second;
  }
  ParsedDraft::State state = draft->second->parse();
  const std::lock_guard lock(mutex_);
  return seen_.try_emplace(path, std::move(state)).first->second;
}

int RunSources::version(const std::string& path) const { return open(path).version; }

std::shared_ptr<const Cells> RunSources::cells(const std::string& path) const { return open(path).cells; }

std::shared_ptr<const syntax::Module> RunSources::module(const std::string& path) const {
  if (auto state = open(path); state.module) return state.module;
  return files_.module(path);
}

std::shared_ptr<const program::Data> RunSources::data(
    const std::string& path, program::DataFormat format) const {
  if (const auto state = open(path); state.module)
    return read_data(path, state.module->text->bytes(), format);
  return files_.data(path, format);
}

bool RunSources::is_file(const std::string& path) const {
  return open_->contains(path) || files_.is_file(path);
}

}  // namespace stepzero::server
