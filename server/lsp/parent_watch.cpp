#include "server/lsp/parent_watch.hpp"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

int open_process([[maybe_unused]] int process) {
#ifdef SYS_pidfd_open
  return static_cast<int>(::syscall(SYS_pidfd_open, process, 0));
#else
  return -1;
#endif
}

} // namespace

ParentWatch::ParentWatch(protocol::EventLoop& loop, int process, std::function<void()> gone)
    : loop_(loop), process_(process), descriptor_(open_process(process)), gone_(std::move(gone)) {
  look();
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
    timer_ = loop_.after(std::chrono::seconds(1), [this] { look(); });
  else
    gone_();
}

} // namespace stepzero::server
