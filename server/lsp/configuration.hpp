// The editor's settings: asked for where the client answers workspace/configuration, else taken from what it
// sends. Belongs to the loop's thread.
#pragma once

#include "server/lsp/session.hpp"

#include <string>
#include <vector>

namespace stepzero::server {

class Configuration {
public:
  explicit Configuration(Session& session) : session_(session) {}

  // `settled` runs whenever the client has answered.
  void serve(std::function<void()> settled);
  // From initializationOptions: what holds until the client says more.
  void start_with(const protocol::Any& options);
  // Asks the client for the settings of the workspace and of each folder; `then` runs when it has answered,
  // or at once if it cannot be asked.
  void pull(std::vector<lsp::WorkspaceFolder> folders, std::function<void()> then);
  bool waiting() const { return waiting_ > 0; }

private:
  void take(const protocol::Any& settings);
  Layer read(const protocol::Any& settings);

  Session& session_;
  std::vector<lsp::WorkspaceFolder> folders_;
  std::function<void()> settled_;
  int waiting_ = 0;
};

}  // namespace stepzero::server
