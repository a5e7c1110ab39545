#include "server/lsp/run.hpp"

#include "protocol/transport.hpp"
#include "server/lsp/rule_pages.hpp"
#include "server/lsp/server.hpp"
#include "server/lsp/warm_up.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>
#include <cstdlib>
#include <exception>

namespace stepzero::server {
namespace {

constexpr std::chrono::milliseconds patience_at_the_end{300};

// STEPZERO_LOG: trace, debug, info, warn, err or off. Standard output belongs to the protocol.
void log_to_standard_error() {
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("stepzero", std::make_shared<spdlog::sinks::stderr_sink_mt>()));
  const char* level = std::getenv("STEPZERO_LOG");
  spdlog::set_level(level ? spdlog::level::from_str(level) : spdlog::level::warn);
}

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
  log_to_standard_error();
  protocol::EventLoop loop;
  std::unique_ptr<protocol::Transport> transport;
  try {
    transport = protocol::open_transport(loop, endpoint(options));
  } catch (const std::exception& error) {
    spdlog::error("{}", error.what());
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
