#include "server/command_line/code_frame.hpp"

#include "server/command_line/display.hpp"

#include <algorithm>
#include <vector>

namespace stepzero::server {
namespace {

// A line as shown, with the place of the span in columns.
struct DisplayValue {
  std::string line;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// `begin` and `end` are bytes of the line. `width` columns are kept, `begin` among them.
DisplayValue show(std::string_view line, std::size_t begin, std::size_t end, std::size_t width) {
  std::vector<Glyph> glyphs;
  std::vector<std::size_t> columns;  // where each glyph starts
  std::size_t column = 0;
  std::size_t byte = 0;
  std::size_t begin_column = std::string::npos;
  std::size_t end_column = std::string::npos;
  // What lies far after the place is cut anyway: a line of 50 MB is not looked at as a whole.
  while (byte < line.size() && (byte <= begin || column < begin_column + width)) {
    Glyph glyph = next_glyph(line.substr(byte), column);
    if (begin_column == std::string::npos && byte + glyph.bytes > begin) begin_column = column;
    if (end_column == std::string::npos && byte >= end) end_column = column;
    columns.push_back(column);
    column += glyph.columns;
    byte += glyph.bytes;
    glyphs.push_back(std::move(glyph));
  }
  begin_column = std::min(begin_column, column);
  end_column = std::max(std::min(end_column, column), begin_column);
  if (column <= width && byte == line.size()) {
    DisplayValue whole{{}, begin_column, end_column};
    for (const Glyph& glyph : glyphs) whole.line += glyph.displayed;
    return whole;
  }
  // The window starts a quarter of its width before the place.
  const std::size_t first = begin_column > width / 2 ? begin_column - width / 4 : 0;
  DisplayValue cut;
  std::size_t start = std::string::npos;
  std::size_t stop = first;
  for (std::size_t i = 0; i < glyphs.size(); ++i) {
    if (columns[i] < first || columns[i] + glyphs[i].columns > first + width - 2) continue;
    if (start == std::string::npos) start = columns[i];
    cut.line += glyphs[i].displayed;
    stop = columns[i] + glyphs[i].columns;
  }
  if (start == std::string::npos) start = first;
  const std::size_t shift = first > 0 ? 1 : 0;
  if (first > 0) cut.line.insert(0, "…");
  if (byte < line.size() || stop < column) cut.line += "…";
  cut.begin = std::max(begin_column, start) - start + shift;
  cut.end = std::max(std::min(end_column, stop), start) - start + shift;
  return cut;
}

constexpr std::uint32_t most_lines = 6;

class Frame {
public:
  Frame(const syntax::Text& text, syntax::Span span, const FrameStyle& style)
      : text_(text), span_{std::min(span.begin, text.size()), std::min(span.end, text.size())},
        style_(style) {
    first_ = text.position(span_.begin, syntax::Encoding::utf8).line;
    // A span that ends at the start of a line does not reach into it.
    const std::uint32_t last_byte = span_.end > span_.begin ? span_.end - 1 : span_.begin;
    last_ = std::max(first_, text.position(last_byte, syntax::Encoding::utf8).line);
    const std::uint32_t bottom = std::min(last_ + style.context, text.line_count() - 1);
    gutter_ = std::to_string(bottom + 1).size();
  }

  std::string draw() {
    for (std::uint32_t line = first_ - std::min(first_, style_.context); line < first_; ++line) context(line);
    for (std::uint32_t line = first_; line <= last_; ++line) {
      if (last_ - first_ >= most_lines && line == first_ + most_lines / 2) {
        row("", "…");
        line = last_;
      }
      marked(line);
    }
    for (std::uint32_t line = last_ + 1; line <= last_ + style_.context && line < text_.line_count();
        ++line) {
      context(line);
    }
    return std::move(result_);
  }

private:
  void row(std::string number, const std::string& content) {
    number.insert(0, gutter_ - std::min(gutter_, number.size()), ' ');
    std::string line = painted(number + " |", ansi::blue, style_.has_colors);
    if (!content.empty()) line += " " + content;
    result_ += line + "\n";
  }

  void context(std::uint32_t line) {
    const std::string_view bytes = text_.line(line);
    // Blank lines around the place say nothing.
    if (bytes.find_first_not_of(" \t") == std::string_view::npos) return;
    row(std::to_string(line + 1), show(bytes, 0, 0, style_.width).line);
  }

  void marked(std::uint32_t line) {
    const std::string_view bytes = text_.line(line);
    const std::uint32_t start = text_.line_start(line);
    std::size_t begin = line == first_ ? span_.begin - start : 0;
    const std::size_t end = std::min<std::size_t>(
        line == last_ ? span_.end - start : bytes.size(), bytes.size());
    if (line != first_) begin = std::min(bytes.find_first_not_of(" \t"), bytes.size());
    begin = std::min(begin, bytes.size());
    const DisplayValue displayed = show(bytes, begin, std::max(begin, end), style_.width);
    row(std::to_string(line + 1), displayed.line);
    if (line != first_ && begin >= end) return;
    const std::string carets(std::max<std::size_t>(1, displayed.end - displayed.begin), '^');
    row("", std::string(displayed.begin, ' ') + painted(carets, style_.color, style_.has_colors));
  }

  const syntax::Text& text_;
  syntax::Span span_;
  const FrameStyle& style_;
  std::uint32_t first_ = 0;
  std::uint32_t last_ = 0;
  std::size_t gutter_ = 1;
  std::string result_;
};

}  // namespace

std::string code_frame(const syntax::Text& text, syntax::Span span, const FrameStyle& style) {
  return Frame(text, span, style).draw();
}

}  // namespace stepzero::server
