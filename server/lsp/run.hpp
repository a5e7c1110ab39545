// The language server's way in: what the command line starts. Knows no LSP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepzero::server {

struct LspOptions {
  enum class Transport : std::uint8_t { stdio, socket, pipe };
  Transport transport = Transport::stdio;
  std::uint16_t port = 0;             // socket: on the loopback interface
  std::string pipe;                   // pipe: the name of a local socket
  std::optional<int> editor_process;  // the server ends with it
};

// Serves until the client says exit or goes away; the program's exit status.
int run_language_server(const LspOptions& options);

}  // namespace stepzero::server
