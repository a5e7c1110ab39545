// workspace/diagnostic: the diagnostics of all Python files of the workspace, open or not. A client that
// takes partial results gets them as they come, and its question then stays open until something changes, as
// the protocol wants it. Belongs to the loop's thread.
#pragma once

#include "server/lsp/progress.hpp"
#include "server/lsp/session.hpp"
#include "server/lsp/sweep.hpp"

#include <list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace stepzero::server {

class WorkspaceDiagnostics {
public:
  explicit WorkspaceDiagnostics(Session& session) : session_(session) {}

  void serve();
  // Something that a report may depend on has changed.
  void changed();
  void stop();

private:
  struct Question;
  using Shared = std::shared_ptr<Question>;

  void ask(Shared question);
  void work(const Shared& question);
  void received(const Shared& question, std::vector<Sweep::Report> batch);
  void say(const Shared& question, const std::string& path, std::optional<int> version,
      const std::vector<lsp::Diagnostic>& diagnostics, const std::string& result_id);
  void flush(const Shared& question);
  void ask_open_documents(const Shared& question);
  void part_done(const Shared& question);
  void finish(const Shared& question);

  Session& session_;
  FileReports reports_;
  std::list<Shared> active_;
  std::vector<Shared> held_;  // nothing had changed; asked again at the next change
  protocol::Timer again_;
  int questions_ = 0;
};

}  // namespace stepzero::server
