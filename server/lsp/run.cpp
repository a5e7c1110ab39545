#include "server/lsp/run.hpp"

#include "protocol/transport.hpp"
#include "server/log.hpp"
#include "server/lsp/rule_pages.hpp"
#include "server/lsp/server.hpp"
#include "server/lsp/warm_up.hpp"

#include <cstdio>
#include <exception>

namespace stepzero::server {
namespace {

constexpr std::chrono::milliseconds patience_at_the_end{300};

protocol::Endpoint endpoint(const LspOptions& options) {
  protocol::Endpoint made;
  if (options.transport == LspOptions::Transport::socket) {
    made.kind = protocol::Endpoint::Kind::tcp;
    made.port = options.port;
  } else if (options.transport == LspOptions::Transport::pipe) {
    made.kind = protocol::Endpoint::Kind::unix_socket;
    made.path = options.pipe;
  }
  return made;
}

}  // namespace

int run_language_server(const LspOptions& options) {
  log::begin();  // standard output belongs to the protocol
  protocol::EventLoop loop;
  std::unique_ptr<protocol::Transport> transport;
  try {
    transport = protocol::open_transport(loop, endpoint(options));
  } catch (const std::exception& error) {
    log::error(error.what());
    return 1;
  }
  int status = 1;
  LanguageServer server(loop, std::move(transport),
      {snapshot::analyze, Pool::default_size(), RulePages::installed_folder(), warm_up,
          options.editor_process});
  server.start([&](int given) {
    status = given;
    loop.stop();
  });
  loop.run();
  if (!server.stop(patience_at_the_end)) {
    // An analysis that does not heed its cancellation is not waited for.
    std::fflush(nullptr);
    std::_Exit(status);
  }
  return status;
}

}  // namespace stepzero::server
