// How payloads come and go: over standard input and output, sockets, or in memory. Knows frames, not
// messages.
#pragma once

#include "protocol/event_loop.hpp"
#include "protocol/framing.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stepzero::protocol {

struct End {
  enum class Kind {
    end_of_input,  // between two frames
    cut_frame,     // end of input inside a frame
    broken_frame,
    failed,    // reading or writing failed
    not_read,  // the peer does not read: more than the limit is waiting
  };
  Kind kind;
  std::string reason;  // one line, for the log
};

struct TransportLimits {
  FrameLimits frames;
  std::size_t unread = std::size_t{256} << 20;  // bytes waiting for a peer that does not read
  std::chrono::milliseconds last_writes{500};   // how long close() waits for the peer to read the rest
};

// Receives on the loop's thread: payloads in order, then on_end once, then nothing.
class Receiver {
public:
  virtual ~Receiver() = default;
  virtual void on_message(std::string payload) = 0;
  virtual void on_end(End end) = 0;
};

class Transport {
public:
  virtual ~Transport() = default;
  virtual void start(
      Receiver& receiver) = 0;  // once; the receiver outlives the transport or close()'s `done`

  // From any thread, never blocks, never calls back. Payloads go out whole, in the order of the calls.
  virtual void send(std::string payload) = 0;

  // No more is received; what was sent is written if the peer reads it in time; then `done` runs on the loop.
  virtual void close(Task done) = 0;
};

// Reads one descriptor and writes another with blocking threads of its own: files, pipes, terminals and
// sockets all work, and no flag is changed on descriptions that other processes share. The descriptors are
// not closed.
std::unique_ptr<Transport> descriptor_transport(
    EventLoop& loop, int in, int out, TransportLimits limits = {});
std::unique_ptr<Transport> stdio_transport(EventLoop& loop, TransportLimits limits = {});

// Where the editor is. `--socket PORT` and `--pipe NAME` connect to an editor that listens, as
// vscode-languageclient does; `listen:PORT` and `listen:NAME` wait for one editor to connect.
struct Endpoint {
  enum class Kind { stdio, tcp, unix_socket };
  Kind kind = Kind::stdio;
  bool listen = false;
  std::uint16_t port = 0;  // on 127.0.0.1 only; 0 is any free port, for listening
  std::string path;

  static std::optional<Endpoint> socket(std::string_view text);  // the argument of --socket; nullopt: not one
  static std::optional<Endpoint> pipe(std::string_view text);    // the argument of --pipe
};

// Blocks until connected. `listening` is told the place (a port or a path) before waiting for the editor.
// Throws std::runtime_error with one line.
std::unique_ptr<Transport> open_transport(EventLoop& loop, const Endpoint& endpoint,
    const std::function<void(const std::string&)>& listening = {}, TransportLimits limits = {});

// Two ends in one process, for tests: what one sends the other receives, on the loop. close() of one end is
// the end of input of the other.
std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> memory_transport(EventLoop& loop);

}  // namespace stepzero::protocol
