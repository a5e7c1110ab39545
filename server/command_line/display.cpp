#include "server/command_line/display.hpp"

#include <algorithm>
#include <clocale>
#include <cwchar>
#include <locale.h>

namespace stepzero::server {
namespace {

// The C library knows how wide each character is, but only in a locale of its own: here for this thread
// alone.
class Utf8Locale {
public:
  Utf8Locale() : before_(locale() == nullptr ? nullptr : ::uselocale(locale())) {}
  ~Utf8Locale() {
    if (before_ != nullptr) ::uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;
  static bool exists() { return locale() != nullptr; }

private:
  static locale_t locale() {
    static const locale_t utf8 = ::newlocale(LC_CTYPE_MASK, "C.UTF-8", nullptr);
    return utf8;
  }
  locale_t before_;
};

constexpr std::string_view replacement = "\xEF\xBF\xBD";
constexpr std::size_t tab_width = 4;

Glyph ascii_glyph(char c, std::size_t column) {
  const auto byte = static_cast<unsigned char>(c);
  if (c == '\t') {
    const std::size_t columns = tab_width - column % tab_width;
    return {std::string(columns, ' '), 1, columns};
  }
  // U+2400 … are the pictures of the control characters, U+2421 that of DEL.
  if (byte < 0x20) return {std::string("\xE2\x90") + static_cast<char>(0x80 + byte), 1, 1};
  if (byte == 0x7F) return {"\xE2\x90\xA1", 1, 1};
  return {std::string(1, c), 1, 1};
}

}  // namespace

Glyph next_glyph(std::string_view text, std::size_t column) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return ascii_glyph(text.front(), column);
  const Utf8Locale locale;
  if (!Utf8Locale::exists()) return {"?", 1, 1};
  wchar_t character = 0;
  std::mbstate_t state = {};
  const std::size_t bytes = std::mbrtowc(&character, text.data(), text.size(), &state);
  if (bytes == 0 || bytes > text.size()) return {std::string(replacement), 1, 1};
  // Marks that turn the direction of writing could make code look like other code.
  const bool turns = (character >= 0x202A && character <= 0x202E) ||
      (character >= 0x2066 && character <= 0x2069);
  const int columns = ::wcwidth(character);
  if (turns || columns < 0) return {std::string(replacement), bytes, 1};
  return {std::string(text.substr(0, bytes)), bytes, static_cast<std::size_t>(columns)};
}

std::string sanitized(std::string_view text) {
  std::string result;
  for (std::size_t column = 0; !text.empty();) {
    const Glyph glyph = next_glyph(text, column);
    result += text.front() == '\n' ? " " : glyph.displayed;
    column += glyph.columns;
    text.remove_prefix(glyph.bytes);
  }
  return result;
}

std::string sanitized_lines(std::string_view text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    result += sanitized(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return result;
}

std::string painted(std::string_view text, std::string_view color, bool has_colors) {
  if (!has_colors) return std::string(text);
  return std::string(color).append(text).append(ansi::reset);
}

}  // namespace stepzero::server
