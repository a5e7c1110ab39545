#include "server/lsp/sweep.hpp"

#include "server/workspace/discovery.hpp"
#include "server/workspace/paths.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

std::uint64_t mix(std::uint64_t hash, std::uint64_t value) { return (hash ^ value) * 1099511628211u; }

}  // namespace

Sweep::Sweep(std::shared_ptr<const SharedState> world, std::shared_ptr<const ClientView> client_view,
    std::map<std::string, int> open, std::uint64_t settings, FileReports earlier, Wants wants)
    : world_(std::move(world)), client_view_(std::move(client_view)), open_(std::move(open)),
      settings_(settings), earlier_(std::move(earlier)), wants_(wants) {}

void Sweep::find_files() {
  for (const std::string& folder : world_->folders) {
    const auto documents = wants_ == Wants::diagnostics ? Documents::included : Documents::left_out;
    const Discovery found = find_python_files(folder, &cancelled, NotebookFiles::left_out, documents);
    files_.insert(files_.end(), found.files.begin(), found.files.end());
    files_.insert(files_.end(), found.documents.begin(), found.documents.end());
  }
  std::sort(files_.begin(), files_.end());
  files_.erase(std::unique(files_.begin(), files_.end()), files_.end());
}

std::uint64_t Sweep::state_of(const std::string& path) {
  if (const auto open = open_.find(path); open != open_.end())
    return mix(1, static_cast<std::uint64_t>(open->second));
  {
    const std::lock_guard lock(mutex_);
    if (const auto known = states_.find(path); known != states_.end()) return known->second;
  }
  std::uint64_t state = 2;
  if (const auto stamp = file_stamp(path))
    state = mix(mix(mix(3, static_cast<std::uint64_t>(stamp->modified)), stamp->size), stamp->inode);
  const std::lock_guard lock(mutex_);
  states_.emplace(path, state);
  return state;
}

std::uint64_t Sweep::fingerprint(const std::string& path, const std::vector<std::string>& read) {
  std::uint64_t hash = mix(mix(14695981039346656037u, settings_), state_of(path));
  for (const std::string& each : read) hash = mix(hash, state_of(each));
  return hash;
}

std::optional<Sweep::Report> Sweep::work() {
  while (!cancelled) {
    const std::size_t index = next_++;
    if (index >= files_.size()) return std::nullopt;
    const std::string& path = files_[index];
    if (is_open(path)) continue;
    const auto earlier = earlier_.find(path);
    if (earlier != earlier_.end() && earlier->second->fingerprint == fingerprint(path, earlier->second->read))
      return Report{path, earlier->second};
    const auto analysis = analyze(*world_, path, wants_ == Wants::symbols, &cancelled);
    if (analysis->result.cancelled) return std::nullopt;
    auto report = std::make_shared<FileReport>();
    if (wants_ == Wants::symbols) {
      report->symbols = symbol_list(*analysis, *client_view_);
    } else {
      report->diagnostics = diagnostics(*analysis, *client_view_);
      report->result_id = result_id(report->diagnostics);
    }
    report->read = analysis->result.read;
    report->failed_rules = analysis->result.failed_rules;
    report->fingerprint = fingerprint(path, report->read);
    return Report{path, std::move(report)};
  }
  return std::nullopt;
}

}  // namespace stepzero::server
