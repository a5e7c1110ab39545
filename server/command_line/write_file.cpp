#include "server/command_line/write_file.hpp"

#include "server/workspace/read.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/stat.h>
#include <unistd.h>

namespace stepzero::server {
namespace {

bool write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t count = ::write(descriptor, text.data(), text.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return false;
    text.remove_prefix(static_cast<std::size_t>(count));
  }
  return true;
}

// Puts `text` in the place of `target`, with the owner and the mode of `status`. Empty, or why it was not
// done.
std::string install(const std::string& target, std::string_view text, const struct stat& status) {
  std::string temporary = target + ".stepzero-XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) return std::strerror(errno);
  // Owners other than us are kept where we may; the mode comes after, because changing the owner can clear
  // bits of it.
  const bool owned = ::fchown(descriptor, status.st_uid, status.st_gid) == 0;
  const mode_t mode = status.st_mode & (owned ? 07777u : 0777u);
  const bool done = ::fchmod(descriptor, mode) == 0 && write_all(descriptor, text) &&
      ::fsync(descriptor) == 0;
  int error = done ? 0 : errno;
  if (::close(descriptor) != 0 && error == 0) error = errno;
  if (error == 0 && ::rename(temporary.c_str(), target.c_str()) != 0) error = errno;
  if (error == 0) return {};
  ::unlink(temporary.c_str());
  return std::strerror(error);
}

}  // namespace

std::string replace_file(const std::string& path, std::string_view before, std::string_view after) {
  char* resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return std::strerror(errno);
  const std::string target = resolved;
  std::free(resolved);
  struct stat status = {};
  if (::stat(target.c_str(), &status) != 0) return std::strerror(errno);
  // Renaming needs the folder's permission only; a file that is write-protected is meant to stay.
  if (::access(target.c_str(), W_OK) != 0) return std::strerror(errno);
  if (const ReadText present = read_text(target); !present.text || *present.text != before) {
    return "it changed meanwhile";
  }
  return install(target, after, status);
}

std::string write_file(const std::string& path, std::string_view text) {
  if (const ReadText present = read_text(path); present.text) return replace_file(path, *present.text, text);
  struct stat status = {};
  if (::stat(path.c_str(), &status) == 0)
    return S_ISDIR(status.st_mode) ? "it is a folder" : "there is something else of that name";
  const mode_t mask = ::umask(0);
  ::umask(mask);
  status.st_mode = 0666u & ~mask;
  status.st_uid = ::geteuid();
  status.st_gid = ::getegid();
  return install(path, text, status);
}

}  // namespace stepzero::server
