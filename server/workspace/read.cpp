#include "server/workspace/read.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

FileStamp stamp_of(const struct stat& status) {
  return {status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec,
      static_cast<std::uint64_t>(status.st_size), static_cast<std::uint64_t>(status.st_ino)};
}

std::string error_text(int error) {
  if (error == ENOENT || error == ENOTDIR) return "no such file or folder";
  if (error == EACCES) return "permission denied";
  return std::strerror(error);
}

ReadText read_all(int descriptor, std::uint64_t expected) {
  std::string text;
  text.reserve(expected);
  char block[1 << 16];
  for (;;) {
    const ssize_t count = ::read(descriptor, block, sizeof block);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return {std::nullopt, error_text(errno)};
    if (count == 0) break;
    text.append(block, static_cast<std::size_t>(count));
    if (text.size() > largest_file) return {std::nullopt, "larger than 50 MiB"};
  }
  if (std::memchr(text.data(), '\0', std::min<std::size_t>(text.size(), 8192)) != nullptr) {
    return {std::nullopt, "not a text file (it contains NUL bytes)"};
  }
  return {std::move(text), {}};
}

}  // namespace

std::optional<FileStamp> file_stamp(const std::string& path) {
  struct stat status = {};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return stamp_of(status);
}

ReadText read_text(const std::string& path) {
  struct stat status = {};
  if (path.find('\0') != std::string::npos) return {std::nullopt, "no such file or folder"};
  if (::stat(path.c_str(), &status) != 0) return {std::nullopt, error_text(errno)};
  if (S_ISDIR(status.st_mode)) return {std::nullopt, "is a folder"};
  // Opening a pipe or a device could wait forever.
  if (!S_ISREG(status.st_mode)) return {std::nullopt, "not a regular file (use `-` to read standard input)"};
  if (static_cast<std::uint64_t>(status.st_size) > largest_file) return {std::nullopt, "larger than 50 MiB"};
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return {std::nullopt, error_text(errno)};
  ReadText result = read_all(descriptor, static_cast<std::uint64_t>(status.st_size));
  ::close(descriptor);
  return result;
}

ReadText read_standard_input() { return read_all(STDIN_FILENO, 0); }

}  // namespace stepzero::server
