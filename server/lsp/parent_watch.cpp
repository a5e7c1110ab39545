#include "server/lsp/parent_watch.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

// What came together with the news of a process that is gone already is still answered.
constexpr std::chrono::milliseconds first_look{300};
constexpr std::chrono::milliseconds between_looks{1000};

int open_process([[maybe_unused]] int process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

}  // namespace

ParentWatch::ParentWatch(protocol::EventLoop& loop, int process, std::function<void(bool was_there)> gone)
    : loop_(loop), process_(process), descriptor_(open_process(process)), gone_(std::move(gone)),
      was_there_(alive()) {
  timer_ = loop_.after(first_look, [this] { look(); });
}

ParentWatch::~ParentWatch() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool ParentWatch::alive() const {
  if (descriptor_ >= 0) {
    pollfd ended{descriptor_, POLLIN, 0};
    return ::poll(&ended, 1, 0) != 1;
  }
  return ::kill(process_, 0) == 0 || errno != ESRCH;
}

void ParentWatch::look() {
  if (alive())
    timer_ = loop_.after(between_looks, [this] { look(); });
  else
    gone_(was_there_);
}

}  // namespace stepzero::server
