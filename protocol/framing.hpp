// The base protocol: header fields, an empty line, and as many bytes as Content-Length says. Knows no JSON.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::protocol {

struct FrameLimits {
  std::size_t payload = std::size_t{64} << 20;
  std::size_t header = std::size_t{8} << 10;  // with its line ends and the empty line
};

// Takes bytes in any portions and gives the payloads of complete frames. Memory is never reserved on the word
// of a header alone. The first error is final: a stream that has lost its frame cannot be trusted again.
class FrameDecoder {
public:
  explicit FrameDecoder(FrameLimits limits = {}) : limits_(limits) {}

  // Appends the payloads completed by these bytes. False once broken.
  bool feed(std::string_view bytes, std::vector<std::string>& payloads);

  bool broken() const { return !error_.empty(); }
  const std::string& error() const { return error_; }  // one line, for the log
  bool inside_frame() const { return length_.has_value() || !header_.empty(); }

private:
  std::size_t take_header(std::string_view bytes);
  void refuse_unfinished_block();
  void refuse_unfinished_line(std::string_view line);
  void read_header();
  void read_field(std::string_view line, bool& seen_length);
  std::optional<std::size_t> length_of(std::string_view value);
  void fail(std::string reason);

  FrameLimits limits_;
  std::string header_;                 // bytes of an unfinished header block
  std::size_t checked_ = 0;            // where its first line begins that is not known to be right
  std::optional<std::size_t> length_;  // set while in a payload
  std::string payload_;
  std::string error_;
};

std::string frame(std::string_view payload);

}  // namespace stepzero::protocol
