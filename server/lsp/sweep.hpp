// One pass over all Python files of the workspace: which have what diagnostics, or symbols, now. Its workers
// run on the pool and share nothing but this; what is still true of an earlier pass is not analyzed again.
// Knows no connection.
#pragma once

#include "protocol/lsp/navigation.hpp"
#include "server/documents/analysis.hpp"
#include "server/lsp/client_view.hpp"

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

namespace stepzero::server {

// What a file on disk had to say. Holds while the fingerprint of all that it was made from is the same.
struct FileReport {
  std::vector<lsp::Diagnostic> diagnostics;
  std::string result_id;
  std::vector<lsp::SymbolInformation> symbols;
  std::vector<std::string> read;
  std::vector<std::string> failed_rules;
  std::uint64_t fingerprint = 0;
};

using FileReports = std::map<std::string, std::shared_ptr<const FileReport>>;  // by path

class Sweep {
public:
  enum class Wants : std::uint8_t { diagnostics, symbols };
  Sweep(std::shared_ptr<const SharedState> world, std::shared_ptr<const ClientView> client_view,
      std::map<std::string, int> open, std::uint64_t settings, FileReports earlier,
      Wants wants = Wants::diagnostics);

  // The workspace's files. Before all work().
  void find_files();
  const std::vector<std::string>& files() const { return files_; }

  struct Report {
    std::string path;
    std::shared_ptr<const FileReport> report;
  };
  // The next file that is not open; nothing at the end, or once cancelled.
  std::optional<Report> work();

  std::atomic<bool> cancelled = false;
  std::size_t done() const { return std::min(next_.load(), files_.size()); }
  bool is_open(const std::string& path) const { return open_.contains(path); }

private:
  std::uint64_t state_of(const std::string& path);
  std::uint64_t fingerprint(const std::string& path, const std::vector<std::string>& read);

  const std::shared_ptr<const SharedState> world_;
  const std::shared_ptr<const ClientView> client_view_;
  const std::map<std::string, int> open_;  // versions of open documents, by path
  const std::uint64_t settings_;           // changes when settings or folders do
  const FileReports earlier_;
  const Wants wants_;
  std::vector<std::string> files_;
  std::atomic<std::size_t> next_ = 0;
  std::mutex mutex_;
  std::unordered_map<std::string, std::uint64_t> states_;  // of files, each looked at once in a pass
};

// The symbols of an analysis in one list, those inside a symbol with its name as their container.
std::vector<lsp::SymbolInformation> symbol_list(const Analysis& analysis, const ClientView& client_view);

}  // namespace stepzero::server
