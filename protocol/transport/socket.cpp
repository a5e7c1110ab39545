// TCP on loopback and Unix sockets, on Asio.
#include "protocol/event_loop_impl.hpp"
#include "protocol/transport/incoming.hpp"

#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>

#include <array>
#include <charconv>
#include <mutex>
#include <stdexcept>
#include <vector>

#include <unistd.h>

namespace stepzero::protocol {
namespace {

namespace asio = boost::asio;
using Tcp = asio::ip::tcp;
using Unix = asio::local::stream_protocol;
using Code = boost::system::error_code;

// Everything but send() runs on the loop's thread. Handlers in flight keep the session alive, not the
// receiver.
template <class Socket> class Session : public std::enable_shared_from_this<Session<Socket>> {
public:
  Session(Socket socket, TransportLimits limits)
      : incoming(limits.frames), socket_(std::move(socket)), deadline_(socket_.get_executor()),
        limits_(limits) {}

  void read() {
    socket_.async_read_some(
        asio::buffer(buffer_), [self = this->shared_from_this()](const Code& error, std::size_t size) {
          self->has_read(error, size);
        });
  }

  void send(std::string payload) {
    std::string bytes = frame(payload);
    const std::lock_guard lock(mutex_);
    if (broken_ || closing_) return;
    if (queued_ != 0 && queued_ + bytes.size() > limits_.unread) {
      broken_ = true;
      asio::post(socket_.get_executor(), [self = this->shared_from_this(), waiting = queued_] {
        self->incoming.end({End::Kind::not_read,
            "the client does not read: " + std::to_string(waiting) + " bytes are waiting for it"});
      });
      return;
    }
    queued_ += bytes.size();
    queue_.push_back(std::move(bytes));
    if (queue_.size() == 1 && !writing_)
      asio::post(socket_.get_executor(), [self = this->shared_from_this()] { self->write(); });
  }

  void close(Task done) {
    incoming.silence();
    closed_ = std::move(done);
    bool drained = false;
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
      drained = broken_ || queued_ == 0;
    }
    if (drained) return shut();
    deadline_.expires_after(limits_.last_writes);
    deadline_.async_wait([self = this->shared_from_this()](const Code& error) {
      if (!error) self->shut();
    });
  }

  void shut() {
    deadline_.cancel();
    Code ignored;
    socket_.shutdown(Socket::shutdown_both, ignored);
    socket_.close(ignored);
    if (closed_) asio::post(socket_.get_executor(), [done = std::move(closed_)]() mutable { done(); });
    closed_ = Task();
  }

  Incoming incoming;

private:
  void has_read(const Code& error, std::size_t size) {
    if (incoming.silent()) return;
    if (error == asio::error::eof) return incoming.end_of_input();
    if (error) return incoming.end({End::Kind::failed, "reading failed: " + error.message()});
    incoming.bytes(std::string_view(buffer_.data(), size));
    if (!incoming.silent()) read();
  }

  void write() {
    std::vector<asio::const_buffer> buffers;
    {
      const std::lock_guard lock(mutex_);
      if (writing_ || queue_.empty() || broken_) return;
      writing_ = true;
      batch_ = std::move(queue_);
      queue_.clear();
    }
    buffers.reserve(batch_.size());
    for (const std::string& bytes : batch_) buffers.push_back(asio::buffer(bytes));
    asio::async_write(
        socket_, buffers, [self = this->shared_from_this()](const Code& error, std::size_t size) {
          self->has_written(error, size);
        });
  }

  void has_written(const Code& error, std::size_t size) {
    bool drained = false;
    bool closing = false;
    batch_.clear();
    {
      const std::lock_guard lock(mutex_);
      writing_ = false;
      queued_ -= std::min(size, queued_);
      if (error) broken_ = true;
      drained = queue_.empty() || broken_;
      closing = closing_;
    }
    if (error) incoming.end({End::Kind::failed, "writing failed: " + error.message()});
    if (closing && drained) return shut();
    if (!drained) write();
  }

  Socket socket_;
  asio::steady_timer deadline_;
  const TransportLimits limits_;
  std::array<char, (std::size_t{64} << 10)> buffer_;
  std::vector<std::string> batch_;  // being written
  Task closed_;

  std::mutex mutex_;  // guards what follows
  std::vector<std::string> queue_;
  std::size_t queued_ = 0;  // bytes in the queue and being written
  bool writing_ = false, broken_ = false, closing_ = false;
};

template <class Socket> class SocketTransport final : public Transport {
public:
  SocketTransport(Socket socket, TransportLimits limits)
      : session_(std::make_shared<Session<Socket>>(std::move(socket), limits)) {}
  ~SocketTransport() override {
    session_->incoming.silence();
    session_->shut();
  }
  void start(Receiver& receiver) override {
    session_->incoming.start(receiver);
    session_->read();
  }
  void send(std::string payload) override { session_->send(std::move(payload)); }
  void close(Task done) override { session_->close(std::move(done)); }

private:
  std::shared_ptr<Session<Socket>> session_;
};

template <class Protocol, class Name> typename Protocol::socket open(asio::io_context& context,
    const typename Protocol::endpoint& place, bool listen, const std::string& displayed, const Name& name) {
  typename Protocol::socket socket(context);
  Code error;
  if (!listen) {
    socket.connect(place, error);
    if (error) throw std::runtime_error("cannot connect to " + displayed + ": " + error.message());
    return socket;
  }
  typename Protocol::acceptor acceptor(context);
  acceptor.open(place.protocol(), error);
  if (!error) acceptor.bind(place, error);
  if (!error) acceptor.listen(1, error);
  if (error) throw std::runtime_error("cannot listen on " + displayed + ": " + error.message());
  name(acceptor.local_endpoint());
  acceptor.accept(socket, error);
  if (error) throw std::runtime_error("nobody connected to " + displayed + ": " + error.message());
  return socket;
}

constexpr std::string_view listen_prefix = "listen:";

}  // namespace

std::optional<Endpoint> Endpoint::socket(std::string_view text) {
  Endpoint endpoint{Kind::tcp, text.starts_with(listen_prefix), 0, {}};
  if (endpoint.listen) text.remove_prefix(listen_prefix.size());
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), endpoint.port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if (endpoint.port == 0 && !endpoint.listen) return std::nullopt;
  return endpoint;
}

std::optional<Endpoint> Endpoint::pipe(std::string_view text) {
  Endpoint endpoint{Kind::unix_socket, text.starts_with(listen_prefix), 0, {}};
  if (endpoint.listen) text.remove_prefix(listen_prefix.size());
  if (text.empty() || text.find('\0') != std::string_view::npos) return std::nullopt;
  endpoint.path = text;
  return endpoint;
}

std::unique_ptr<Transport> open_transport(EventLoop& loop, const Endpoint& endpoint,
    const std::function<void(const std::string&)>& listening, TransportLimits limits) {
  asio::io_context& context = loop.impl().context;
  switch (endpoint.kind) {
  case Endpoint::Kind::stdio: return stdio_transport(loop, limits);
  case Endpoint::Kind::tcp: {
    const Tcp::endpoint place(asio::ip::address_v4::loopback(), endpoint.port);
    auto socket = open<Tcp>(context, place, endpoint.listen, "127.0.0.1:" + std::to_string(endpoint.port),
        [&](const Tcp::endpoint& real) {
          if (listening) listening(std::to_string(real.port()));
        });
    Code ignored;
    socket.set_option(Tcp::no_delay(true), ignored);
    return std::make_unique<SocketTransport<Tcp::socket>>(std::move(socket), limits);
  }
  case Endpoint::Kind::unix_socket: break;
  }
  Unix::endpoint place;
  try {
    place = Unix::endpoint(endpoint.path);
  } catch (const boost::system::system_error& error) {
    throw std::runtime_error("cannot use " + endpoint.path + ": " + error.code().message());
  }
  bool bound = false;
  auto socket = open<Unix>(context, place, endpoint.listen, endpoint.path, [&](const Unix::endpoint&) {
    bound = true;
    if (listening) listening(endpoint.path);
  });
  if (bound) ::unlink(endpoint.path.c_str());  // one editor has come; no other shall
  return std::make_unique<SocketTransport<Unix::socket>>(std::move(socket), limits);
}

}  // namespace stepzero::protocol
