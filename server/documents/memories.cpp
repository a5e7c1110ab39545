#include "server/documents/memories.hpp"

#include <algorithm>
#include <iterator>

namespace stepzero::server {

snapshot::RunCache RunCaches::take(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      kept_.begin(), kept_.end(), [&](const auto& kept) { return kept.first == path; });
  if (found == kept_.end()) return {};
  snapshot::RunCache memory = std::move(found->second);
  kept_.erase(found);
  return memory;
}

bool RunCaches::is_bloated(const std::string& path) {
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      kept_.begin(), kept_.end(), [&](const auto& kept) { return kept.first == path; });
  return found != kept_.end() && found->second.is_bloated();
}

void RunCaches::give(const std::string& path, snapshot::RunCache memory) {
  std::list<std::pair<std::string, snapshot::RunCache>> dropped;  // destroyed when the lock is open again
  const std::lock_guard lock(mutex_);
  const auto found = std::find_if(
      kept_.begin(), kept_.end(), [&](const auto& kept) { return kept.first == path; });
  if (found != kept_.end()) dropped.splice(dropped.begin(), kept_, found);
  kept_.emplace_front(path, std::move(memory));
  if (kept_.size() > most) dropped.splice(dropped.begin(), kept_, std::prev(kept_.end()));
}

}  // namespace stepzero::server
