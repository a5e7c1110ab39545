#include "syntax/text.hpp"

#include <algorithm>
#include <cstring>

namespace stepzero::syntax {
namespace {

unsigned char at(std::string_view bytes, std::size_t index) {
  return static_cast<unsigned char>(bytes[index]);
}
bool continues(
    std::string_view bytes, std::size_t index, unsigned char low = 0x80, unsigned char high = 0xbf) {
  return index < bytes.size() && at(bytes, index) >= low && at(bytes, index) <= high;
}

// Length of the well-formed UTF-8 sequence that starts at `index` (Unicode, table 3-7); 1 if there is none.
std::size_t sequence_length(std::string_view bytes, std::size_t index) {
  const unsigned char lead = at(bytes, index);
  if (lead < 0xc2 || lead > 0xf4) return 1;
  if (lead < 0xe0) return continues(bytes, index + 1) ? 2 : 1;
  if (lead < 0xf0) {
    const unsigned char low = lead == 0xe0 ? 0xa0 : 0x80, high = lead == 0xed ? 0x9f : 0xbf;
    return continues(bytes, index + 1, low, high) && continues(bytes, index + 2) ? 3 : 1;
  }
  const unsigned char low = lead == 0xf0 ? 0x90 : 0x80, high = lead == 0xf4 ? 0x8f : 0xbf;
  return continues(bytes, index + 1, low, high) && continues(bytes, index + 2) && continues(bytes, index + 3)
      ? 4
      : 1;
}

// Moves an offset that lies inside a code point back to its start.
std::size_t aligned(std::string_view bytes, std::size_t offset) {
  if (offset >= bytes.size() || (at(bytes, offset) & 0xc0) != 0x80) return offset;
  for (std::size_t back = 1; back <= 3 && back <= offset; ++back)
    if (sequence_length(bytes, offset - back) > back) return offset - back;
  return offset;
}

std::uint32_t units(std::size_t length, Encoding encoding) {
  if (encoding == Encoding::utf8) return static_cast<std::uint32_t>(length);
  return encoding == Encoding::utf16 && length == 4 ? 2 : 1;
}

}  // namespace

Text::Text(std::string bytes) : bytes_(std::move(bytes)) {
  starts_.reserve(bytes_.size() / 32 + 1);
  starts_.push_back(0);
  const char* const begin = bytes_.data();
  const char* const end = begin + bytes_.size();
  const bool has_return = std::memchr(begin, '\r', bytes_.size()) != nullptr;
  for (const char* p = begin; p < end; ++p) {
    if (!has_return) {
      p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(end - p)));
      if (!p) break;
    } else if (*p == '\r') {
      if (p + 1 < end && p[1] == '\n') ++p;
    } else if (*p != '\n') {
      continue;
    }
    starts_.push_back(static_cast<std::uint32_t>(p + 1 - begin));
  }
}

std::uint32_t Text::line_start(std::uint32_t line) const {
  return line < starts_.size() ? starts_[line] : size();
}

std::string_view Text::line(std::uint32_t line) const {
  if (line >= starts_.size()) return {};
  const std::uint32_t begin = starts_[line];
  std::uint32_t end = line_start(line + 1);
  if (line + 1 < starts_.size()) {
    --end;
    if (bytes_[end] == '\n' && end > begin && bytes_[end - 1] == '\r') --end;
  }
  return std::string_view(bytes_).substr(begin, end - begin);
}

std::string_view Text::slice(Span span) const {
  const std::uint32_t begin = std::min(span.begin, size());
  return std::string_view(bytes_).substr(begin, std::max(begin, std::min(span.end, size())) - begin);
}

Position Text::position(std::uint32_t offset, Encoding encoding) const {
  offset = static_cast<std::uint32_t>(aligned(bytes_, std::min(offset, size())));
  const auto after = std::upper_bound(starts_.begin(), starts_.end(), offset);
  Position position{static_cast<std::uint32_t>(after - starts_.begin()) - 1, 0};
  const std::string_view content = line(position.line);
  const std::size_t column = std::min<std::size_t>(offset - starts_[position.line], content.size());
  if (encoding == Encoding::utf8) {
    position.column = static_cast<std::uint32_t>(column);
    return position;
  }
  for (std::size_t index = 0; index < column;) {
    const std::size_t length = sequence_length(content, index);
    position.column += units(length, encoding);
    index += length;
  }
  return position;
}

std::uint32_t Text::offset(Position position, Encoding encoding) const {
  if (position.line >= starts_.size()) return size();
  const std::uint32_t start = starts_[position.line];
  const std::string_view content = line(position.line);
  if (encoding == Encoding::utf8)
    return start +
        static_cast<std::uint32_t>(aligned(content, std::min<std::size_t>(position.column, content.size())));
  std::size_t index = 0;
  for (std::uint32_t column = 0; index < content.size() && column < position.column;) {
    const std::size_t length = sequence_length(content, index);
    column += units(length, encoding);
    if (column > position.column) break;
    index += length;
  }
  return start + static_cast<std::uint32_t>(index);
}

}  // namespace stepzero::syntax
