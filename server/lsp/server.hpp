// The language server: wires the client to the analyses, and lives and ends as the protocol says. Belongs to
// the loop's thread.
#pragma once

#include "protocol/connection.hpp"
#include "protocol/event_loop.hpp"
#include "server/lsp/analyses.hpp"
#include "server/lsp/configuration.hpp"
#include "server/lsp/diagnostics.hpp"
#include "server/lsp/editor.hpp"
#include "server/lsp/notebooks.hpp"
#include "server/lsp/parent_watch.hpp"
#include "server/lsp/session.hpp"
#include "server/lsp/symbols.hpp"
#include "server/lsp/workspace.hpp"
#include "server/lsp/workspace_diagnostics.hpp"
#include "server/scheduler/pool.hpp"
#include "server/scheduler/scheduler.hpp"

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

namespace stepzero::server {

class LanguageServer {
public:
  struct Parts {
    AnalyzeFunction analyze = snapshot::analyze;
    unsigned threads = Pool::default_size();
    std::string pages;  // the folder of the rules' pages
    // Done once while no document is to be analyzed, on a pool of more than one thread.
    std::function<void(const std::atomic<bool>& cancelled)> warm_up = nullptr;
    std::optional<int> editor_process;  // the server ends with it; `initialize` may name another
  };

  LanguageServer(protocol::EventLoop& loop, std::unique_ptr<protocol::Transport> transport, Parts parts);
  ~LanguageServer();

  // `ended` gets the exit status once nothing more will come or go.
  void start(std::function<void(int status)> ended);
  // Cancels what runs; whether it ended in time.
  bool stop(std::chrono::milliseconds patience);

private:
  void serve();
  lsp::InitializeResult initialize(const lsp::InitializeParams& params);
  void initialized();
  void begin();
  void shutdown();
  void answer_idle();
  void watch(int editor_process);
  Scheduler::Hooks scheduler_hooks();
  Analyses::Hooks analyses_hooks();

  protocol::EventLoop& loop_;
  Pool pool_;
  protocol::Connection connection_;
  Editor editor_{connection_};
  Scheduler scheduler_;
  Analyses analyses_;
  Session session_;
  Diagnostics diagnostics_;
  Notebooks notebooks_;
  Configuration configuration_;
  Workspace workspace_;
  WorkspaceDiagnostics workspace_diagnostics_;
  Symbols symbols_;
  std::string pages_;
  std::optional<ParentWatch> parent_;
  protocol::Timer begin_anyway_;
  std::vector<std::shared_ptr<protocol::Reply<protocol::None>>> idle_;
};

}  // namespace stepzero::server
