// textDocument/documentSymbol and workspace/symbol: models, what communicates, and jobs. Files that are not
// open are analyzed when the workspace's symbols are first asked for, and again when they have changed.
// Belongs to the loop's thread.
#pragma once

#include "server/features/symbols.hpp"
#include "server/lsp/progress.hpp"
#include "server/lsp/session.hpp"
#include "server/lsp/sweep.hpp"

#include <list>
#include <memory>

namespace stepzero::server {

class Symbols {
public:
  explicit Symbols(Session& session) : session_(session) {}

  void serve();
  void stop();

private:
  struct Question;
  using Shared = std::shared_ptr<Question>;

  void ask(const Shared& question);
  void work(const Shared& question);
  void part_done(const Shared& question);

  Session& session_;
  FileReports reports_;
  std::list<Shared> active_;
  int questions_ = 0;
};

}  // namespace stepzero::server
