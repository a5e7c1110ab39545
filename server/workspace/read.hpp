// A file's bytes, if they are text. The only place where the contents of workspace files are read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stepzero::server {

// What tells a file's state from another: changes when the file is written or replaced.
struct FileStamp {
  std::int64_t modified = 0;  // nanoseconds
  std::uint64_t size = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};

// Nothing if `path` is no regular file.
std::optional<FileStamp> file_stamp(const std::string& path);

constexpr std::uint64_t largest_file = 50ull << 20;

struct ReadText {
  std::optional<std::string> text;
  std::string reason;  // why there is no text: "no such file", "not a text file (it contains NUL bytes)"
};

ReadText read_text(const std::string& path);

// All of standard input, under the same conditions.
ReadText read_standard_input();

}  // namespace stepzero::server
