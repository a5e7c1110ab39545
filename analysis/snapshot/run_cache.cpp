#include "snapshot/run_cache.hpp"

#include "snapshot/launched_run.hpp"

#include <algorithm>
#include <utility>

namespace stepzero::snapshot {

bool RecordingSources::agrees(const program::Sources& sources, const std::string& path) const {
  return sources.roots() == roots_ && sources.libraries() == libraries_ &&
      std::all_of(files_.begin(), files_.end(),
          [&](const auto& known) { return sources.is_file(known.first) == known.second; }) &&
      std::all_of(folders_.begin(), folders_.end(),
          [&](const auto& known) { return sources.is_folder(known.first) == known.second; }) &&
      std::all_of(data_.begin(), data_.end(),
          [&](const auto& known) {
            const auto data = sources.data(known.first.first, known.first.second);
            return data == known.second || (data && known.second && *data == *known.second);
          }) &&
      std::all_of(modules_.begin(), modules_.end(), [&](const auto& known) {
        return known.first == path || sources.module(known.first) == known.second;
      });
}

std::shared_ptr<const syntax::Module> RecordingSources::module(const std::string& path) const {
  auto found = sources_->module(path);
  modules_[path] = found;
  return found;
}

bool RecordingSources::is_file(const std::string& path) const {
  return files_[path] = sources_->is_file(path);
}
bool RecordingSources::is_folder(const std::string& path) const {
  return folders_[path] = sources_->is_folder(path);
}
std::shared_ptr<const program::Data> RecordingSources::data(
    const std::string& path, program::DataFormat format) const {
  return data_[{path, format}] = sources_->data(path, format);
}
const std::vector<std::string>& RecordingSources::roots() const { return roots_ = sources_->roots(); }
const std::vector<std::string>& RecordingSources::libraries() const {
  return libraries_ = sources_->libraries();
}

RunCache::RunCache() = default;
RunCache::~RunCache() = default;
RunCache::RunCache(RunCache&&) noexcept = default;
RunCache& RunCache::operator=(RunCache&&) noexcept = default;

std::unique_ptr<Run> RunCache::take(
    const program::Sources& sources, const std::string& path, std::uint64_t steps) {
  auto run = std::exchange(run_, nullptr);
  if (run && (run->path != path || run->steps != steps || !run->sources.agrees(sources, path))) run.reset();
  return run;
}

bool RunCache::is_bloated() const {
  // Each event stands for some ten kilobytes of values and terms.
  constexpr std::size_t times = 4, few = 4'000;
  return run_ && run_->record.events.size() > times * run_->fresh_events + few;
}

namespace {

void rest_displayed(Run& run, const std::function<bool(Run&)>& rest) {
  for (std::shared_ptr<Run>* each : {&run.displayed, &run.without_words}) {
    if (*each && !rest(**each)) each->reset();
    if (*each) rest_displayed(**each, rest);
  }
}

}  // namespace

void RunCache::keep(std::unique_ptr<Run> run) {
  const auto rest = [](Run& each) {
    each.record.on_statements = nullptr;
    each.record.on_focus = nullptr;
    each.record.on_root = nullptr;
    each.record.derived.clear();
    each.sources.ask(nullptr);
    return each.interpreter->can_run_again();
  };
  if (!rest(*run)) {
    // The next one begins anew; until it is through, what this one said stands.
    run_ = std::make_unique<Run>();
    run_->path = std::move(run->path);
    run_->steps = run->steps;
    run_->sources = std::move(run->sources);
    run_->standing = std::move(run->standing);
    return;
  }
  rest_displayed(*run, rest);
  if (run->by_defaults && !rest(*run->by_defaults)) run->by_defaults.reset();
  const auto rest_ranks = [&](Run& each) {
    std::erase_if(each.ranks, [&](const auto& known) { return !known.second || !rest(*known.second); });
  };
  std::erase_if(run->launched, [&](const auto& known) { return !rest(known->run); });
  for (const auto& known : run->launched) rest_ranks(known->run);
  rest_ranks(*run);
  run_ = std::move(run);
}

}  // namespace stepzero::snapshot
