#include "server/command_line/console.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

// errno of what went wrong, or 0.
int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

constexpr std::size_t many = 50;

}  // namespace

void prepare_streams() {
  std::signal(SIGPIPE, SIG_IGN);
  for (int descriptor = 0; descriptor <= 2; ++descriptor) {
    if (::fcntl(descriptor, F_GETFD) != -1 || errno != EBADF) continue;
    // The lowest free number is taken. Open for the wrong direction, so that using it still fails.
    if (::open("/dev/null", descriptor == 0 ? O_WRONLY : O_RDONLY) < 0) return;
  }
}

Written write_out(std::string_view text) {
  const int error = write_all(STDOUT_FILENO, text);
  if (error == 0) return Written::all;
  if (error == EPIPE) return Written::reader_gone;
  say(std::string("cannot write to standard output: ") +
      (error == EBADF ? "it is closed" : std::strerror(error)));
  return Written::failed;
}

void write_error(std::string_view text) { write_all(STDERR_FILENO, text); }

void say(std::string_view message) {
  std::string line = "stepzero: ";
  line.append(message).push_back('\n');
  write_error(line);
}

bool is_terminal(int descriptor) { return ::isatty(descriptor) == 1; }

bool has_colors(int descriptor) {
  const char* refused = std::getenv("NO_COLOR");
  if (refused != nullptr && *refused != '\0') return false;
  const char* terminal = std::getenv("TERM");
  return is_terminal(descriptor) && terminal != nullptr && std::string_view(terminal) != "dumb";
}

Progress::Progress(std::string_view doing, std::size_t total)
    : doing_(doing), total_(total), displayed_(total >= many && is_terminal(STDERR_FILENO)) {}

Progress::~Progress() {
  if (displayed_) write_all(STDERR_FILENO, "\r\x1b[K");
}

void Progress::at(std::size_t done) {
  if (!displayed_ || (done % std::max<std::size_t>(1, total_ / 200) != 0 && done != total_)) return;
  write_all(STDERR_FILENO, "\r" + doing_ + " " + std::to_string(done) + "/" + std::to_string(total_));
}

}  // namespace stepzero::server
