// Standard input and output, or any two descriptors, with a blocking thread for each direction.
//
// epoll refuses regular files, and O_NONBLOCK belongs to the open file description, which the editor or a
// shell may share: so this transport polls and reads or writes as much as cannot block, and changes no flag.
#include "protocol/transport/incoming.hpp"

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <mutex>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stepzero::protocol {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t read_size = 64 << 10;
constexpr std::size_t read_ahead =
    4 << 20;  // bytes read and not yet decoded: then the reader waits for the loop
constexpr std::size_t write_size = 4096;  // a pipe that polls writable takes as much without blocking

std::string reason_of(const char* what, int error) {
  return std::string(what) + ": " + std::generic_category().message(error);
}

// Shared by the transport, its two threads and what they post.
struct Shared : std::enable_shared_from_this<Shared> {
  Shared(EventLoop& l, int in_fd, int out_fd, TransportLimits lim)
      : loop(l), in(in_fd), out(out_fd), limits(lim), incoming(lim.frames) {
    if (::pipe(wake) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
    for (const int fd : wake) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
    struct stat status{};
    out_is_socket = ::fstat(out, &status) == 0 && S_ISSOCK(status.st_mode);
  }
  ~Shared() {
    ::close(wake[0]);
    ::close(wake[1]);
  }

  void read_all();
  void write_all();
  bool write(std::string_view bytes);
  bool wait_writable();
  void stop(std::chrono::milliseconds last_writes);
  void post_end(End end) {
    loop.post([self = shared_from_this(), end]() mutable { self->incoming.end(std::move(end)); });
  }

  EventLoop& loop;
  const int in, out;
  const TransportLimits limits;
  bool out_is_socket = false;
  int wake[2] = {-1, -1};  // readable once stopping, forever: both threads poll it

  Incoming incoming;  // on the loop's thread

  std::mutex mutex;  // guards what follows
  std::condition_variable changed;
  std::size_t undecoded = 0;
  std::deque<std::string> queue;
  std::size_t queued = 0;  // bytes in the queue and being written
  bool stopping = false;
  bool broken = false;  // nothing can be written any more
  Clock::time_point deadline;
  Task closed;
};

void Shared::read_all() {
  while (true) {
    {
      std::unique_lock lock(mutex);
      changed.wait(lock, [this] { return stopping || undecoded < read_ahead; });
      if (stopping) return;
    }
    pollfd waiting[2] = {{in, POLLIN, 0}, {wake[0], POLLIN, 0}};
    if (::poll(waiting, 2, -1) < 0 && errno != EINTR)
      return post_end({End::Kind::failed, reason_of("poll", errno)});
    if (waiting[1].revents) return;
    if (!waiting[0].revents) continue;
    std::string bytes(read_size, '\0');
    const ssize_t size = ::read(in, bytes.data(), bytes.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (size < 0) return post_end({End::Kind::failed, reason_of("reading failed", errno)});
    if (size == 0) return loop.post([self = shared_from_this()] { self->incoming.end_of_input(); });
    bytes.resize(static_cast<std::size_t>(size));
    {
      const std::lock_guard lock(mutex);
      undecoded += bytes.size();
    }
    loop.post([self = shared_from_this(), bytes = std::move(bytes)] {
      {
        const std::lock_guard lock(self->mutex);
        self->undecoded -= bytes.size();
      }
      self->changed.notify_all();
      self->incoming.bytes(bytes);
    });
  }
}

void Shared::write_all() {
  // A reader that is gone is an error of write, not a signal that ends the process.
  sigset_t pipe_signal;
  sigemptyset(&pipe_signal);
  sigaddset(&pipe_signal, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &pipe_signal, nullptr);

  std::unique_lock lock(mutex);
  while (true) {
    changed.wait(lock, [this] { return stopping || !queue.empty(); });
    if (queue.empty() || broken) break;
    const std::string bytes = std::move(queue.front());
    queue.pop_front();
    lock.unlock();
    const bool written = write(bytes);
    lock.lock();
    queued -= bytes.size();
    if (written) continue;
    broken = true;
    queue.clear();
    queued = 0;
  }
  changed.wait(lock, [this] { return stopping; });
  if (closed) loop.post(std::move(closed));
  closed = Task();
}

// False if the descriptor is broken, or closing takes too long; says so itself unless stopping.
bool Shared::write(std::string_view bytes) {
  while (!bytes.empty()) {
    if (!wait_writable()) return false;
    const ssize_t size = out_is_socket ? ::send(out, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL)
                                       : ::write(out, bytes.data(), std::min(bytes.size(), write_size));
    if (size >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(size));
    } else if (errno != EINTR && errno != EAGAIN) {
      post_end({End::Kind::failed, reason_of("writing failed", errno)});
      return false;
    }
  }
  return true;
}

bool Shared::wait_writable() {
  while (true) {
    int timeout = -1;
    bool ending = false;
    {
      const std::lock_guard lock(mutex);
      ending = stopping;
      if (ending) {
        const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
        timeout = std::max(0, static_cast<int>(left.count()));
      }
      if (broken) return false;
    }
    pollfd waiting[2] = {{out, POLLOUT, 0}, {wake[0], POLLIN, 0}};
    const int ready = ::poll(waiting, ending ? 1 : 2, timeout);
    if (ready < 0 && errno != EINTR) return false;
    if (waiting[0].revents) return true;
    if (ending && ready == 0) return false;
  }
}

void Shared::stop(std::chrono::milliseconds last_writes) {
  {
    const std::lock_guard lock(mutex);
    const auto until = Clock::now() + last_writes;
    deadline = stopping ? std::min(deadline, until) : until;
    stopping = true;
  }
  changed.notify_all();
  const char byte = 0;
  [[maybe_unused]] const ssize_t size = ::write(wake[1], &byte, 1);
}

class DescriptorTransport final : public Transport {
public:
  DescriptorTransport(EventLoop& loop, int in, int out, TransportLimits limits)
      : shared_(std::make_shared<Shared>(loop, in, out, limits)) {}

  ~DescriptorTransport() override {
    shared_->incoming.silence();
    shared_->stop(std::chrono::milliseconds(0));
    if (reader_.joinable()) reader_.join();
    if (writer_.joinable()) writer_.join();
  }

  void start(Receiver& receiver) override {
    shared_->incoming.start(receiver);
    reader_ = std::thread([shared = shared_] { shared->read_all(); });
    writer_ = std::thread([shared = shared_] { shared->write_all(); });
  }

  void send(std::string payload) override {
    std::string bytes = frame(payload);
    {
      const std::lock_guard lock(shared_->mutex);
      if (shared_->broken || shared_->stopping) return;
      if (shared_->queued != 0 && shared_->queued + bytes.size() > shared_->limits.unread) {
        shared_->broken = true;
        shared_->post_end({End::Kind::not_read,
            "the client does not read: " + std::to_string(shared_->queued) + " bytes are waiting for it"});
        return;
      }
      shared_->queued += bytes.size();
      shared_->queue.push_back(std::move(bytes));
    }
    shared_->changed.notify_all();
  }

  void close(Task done) override {
    shared_->incoming.silence();
    if (!writer_.joinable()) return shared_->loop.post(std::move(done));  // never started
    {
      const std::lock_guard lock(shared_->mutex);
      shared_->closed = std::move(done);
    }
    shared_->stop(shared_->limits.last_writes);
  }

private:
  std::shared_ptr<Shared> shared_;
  std::thread reader_, writer_;
};

}  // namespace

std::unique_ptr<Transport> descriptor_transport(EventLoop& loop, int in, int out, TransportLimits limits) {
  return std::make_unique<DescriptorTransport>(loop, in, out, limits);
}

std::unique_ptr<Transport> stdio_transport(EventLoop& loop, TransportLimits limits) {
  return descriptor_transport(loop, STDIN_FILENO, STDOUT_FILENO, limits);
}

}  // namespace stepzero::protocol
