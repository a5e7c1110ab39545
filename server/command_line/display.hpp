// Text of unknown origin on a terminal: how wide it is, and made harmless. Knows nothing of code or findings.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepzero::server {

// A piece of text as it is shown. Broken UTF-8 becomes U+FFFD, control characters their pictures, a tab
// blanks.
struct Glyph {
  std::string displayed;
  std::size_t bytes = 1;    // of the original
  std::size_t columns = 1;  // 0: combines with the one before; 2: wide
};

// The glyph at the start of `text`, which is not empty, when it is shown at `column`.
Glyph next_glyph(std::string_view text, std::size_t column);

// All of it on one line.
std::string sanitized(std::string_view text);
// Line by line.
std::string sanitized_lines(std::string_view text);

namespace ansi {
inline constexpr std::string_view reset = "\x1b[0m";
inline constexpr std::string_view bold = "\x1b[1m";
inline constexpr std::string_view dim = "\x1b[2m";
inline constexpr std::string_view red = "\x1b[1;31m";
inline constexpr std::string_view yellow = "\x1b[1;33m";
inline constexpr std::string_view blue = "\x1b[1;34m";
inline constexpr std::string_view cyan = "\x1b[36m";
inline constexpr std::string_view green = "\x1b[32m";
}  // namespace ansi

// `text` in a color, or as it is.
std::string painted(std::string_view text, std::string_view color, bool has_colors);

}  // namespace stepzero::server
