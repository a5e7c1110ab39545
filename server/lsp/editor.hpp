// The client as we speak to it: what it can do, its log, its trace, and the requests to ask us again. Belongs
// to the loop's thread. Knows no document.
#pragma once

#include "protocol/connection.hpp"
#include "protocol/lsp/methods.hpp"

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>

namespace stepzero::server {

class Editor {
public:
  explicit Editor(protocol::Connection& connection) : connection_(connection) {}

  lsp::ClientFlags client;
  lsp::TraceValue tracing = lsp::TraceValue::off;
  // Whether the client asks for diagnostics and hears when to ask again. Then nothing is pushed: clients that
  // do both keep two lists and would show everything twice. A client that pulls but cannot be told to ask
  // again would keep stale diagnostics of dependent files, so it is pushed to.
  bool pulls() const { return client.pull_diagnostics && client.diagnostics_refresh; }

  protocol::Connection& connection() { return connection_; }

  // To the client's log, and to ours.
  void log(lsp::MessageType type, const std::string& message);
  void log_once(lsp::MessageType type, const std::string& message);
  void trace(const std::string& message, const std::string& verbose = {});

  // Ask the client to ask again; calls while one is on its way become one.
  void refresh_diagnostics();
  void refresh_hints();
  void refresh_lenses();

private:
  struct Refresh {
    bool sent = false, again = false;
  };
  void refresh(protocol::RequestMethod<protocol::None, protocol::None> method, Refresh& state);

  protocol::Connection& connection_;
  std::set<std::string> logged_;
  Refresh diagnostics_, hints_, lenses_;
};

}  // namespace stepzero::server
