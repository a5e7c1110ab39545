// A file's text and the ways to name a place in it. Inside the program a place is a byte offset; lines and
// columns exist only at the edge. Knows no Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::syntax {

// A letter, digit or underscore of ASCII, whatever the locale.
constexpr bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}
// A byte that a name of Python may hold: a word's, or one of a longer code point.
constexpr bool is_name_byte(char c) { return is_word(c) || (c & 0x80) != 0; }

// Half-open range of bytes.
struct Span {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  bool holds(Span inner) const { return begin <= inner.begin && inner.end <= end; }
  friend bool operator==(const Span&, const Span&) = default;
};

// What a column counts. `codepoint` is the unit of the command line's JSON and equals UTF-32.
enum class Encoding : std::uint8_t { utf8, utf16, codepoint };

// Zero-based line, and zero-based column in the units of an Encoding.
struct Position {
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  friend auto operator<=>(const Position&, const Position&) = default;
};

// An immutable text with its line starts. Lines end at "\n", "\r\n" or a lone "\r", as in LSP. The bytes may
// be broken UTF-8: each byte that is no part of a well-formed sequence counts as one unit of every encoding.
class Text {
public:
  explicit Text(std::string bytes);

  const std::string& bytes() const { return bytes_; }
  std::uint32_t size() const { return static_cast<std::uint32_t>(bytes_.size()); }
  std::uint32_t line_count() const { return static_cast<std::uint32_t>(starts_.size()); }
  // The bytes of a line without its line ending; empty past the last line.
  std::string_view line(std::uint32_t line) const;
  // The byte at which a line starts; size() past the last line.
  std::uint32_t line_start(std::uint32_t line) const;
  std::string_view slice(Span span) const;

  // Offsets past the end, and those inside a code point, are moved back to the nearest start of a code point.
  Position position(std::uint32_t offset, Encoding encoding) const;
  // Positions past a line's end mean its end (before the line ending); past the last line, the end of the
  // text. A column inside a surrogate pair or a code point is moved back to its start.
  std::uint32_t offset(Position position, Encoding encoding) const;

private:
  std::string bytes_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace stepzero::syntax
