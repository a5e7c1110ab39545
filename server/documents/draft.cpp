#include "server/documents/draft.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

// Whether a line starts at `at`: after "\n", "\r\n", or a "\r" that no "\n" follows.
bool starts_line(std::string_view bytes, std::uint32_t at) {
  if (at == 0) return true;
  const char before = bytes[at - 1];
  return before == '\n' || (before == '\r' && (at == bytes.size() || bytes[at] != '\n'));
}

std::vector<std::uint32_t> line_starts(std::string_view bytes, std::uint32_t from, std::uint32_t to) {
  std::vector<std::uint32_t> starts;
  for (std::uint32_t at = from; at <= to; ++at)
    if (starts_line(bytes, at)) starts.push_back(at);
  return starts;
}

}  // namespace

Draft::Draft(std::string text)
    : bytes_(std::move(text)), starts_(line_starts(bytes_, 0, static_cast<std::uint32_t>(bytes_.size()))) {}

std::string_view Draft::line(std::uint32_t line) const {
  const std::size_t begin = starts_[line];
  std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : bytes_.size();
  while (end > begin && (bytes_[end - 1] == '\n' || bytes_[end - 1] == '\r')) --end;
  return std::string_view(bytes_).substr(begin, end - begin);
}

std::uint32_t Draft::offset(syntax::Position position, syntax::Encoding encoding) const {
  if (position.line >= starts_.size()) return static_cast<std::uint32_t>(bytes_.size());
  const std::string_view text = line(position.line);
  const std::uint32_t start = starts_[position.line];
  const bool ascii = std::all_of(text.begin(), text.end(), [](char c) { return (c & 0x80) == 0; });
  if (ascii) return start + std::min(position.column, static_cast<std::uint32_t>(text.size()));
  // The one codec of positions is Text's.
  return start + syntax::Text(std::string(text)).offset({0, position.column}, encoding);
}

void Draft::splice(syntax::Span span, std::string_view text) {
  bytes_.replace(span.begin, span.end - span.begin, text);
  const auto new_end = span.begin + static_cast<std::uint32_t>(text.size());
  // A line start depends on the bytes at both its sides, so those at the seams are looked for again.
  std::vector<std::uint32_t> middle = line_starts(bytes_, span.begin, new_end);
  const auto first = std::lower_bound(starts_.begin(), starts_.end(), span.begin);
  const auto last = std::upper_bound(first, starts_.end(), span.end);
  for (auto it = last; it != starts_.end(); ++it) *it += new_end - span.end;
  const auto common = std::min(last - first, static_cast<std::ptrdiff_t>(middle.size()));
  std::copy_n(middle.begin(), common, first);
  if (last - first > common)
    starts_.erase(first + common, last);
  else
    starts_.insert(last, middle.begin() + common, middle.end());
}

// Lines that a whole new text shares with the old one at both ends stay out of the edit: the parser keeps
// them.
syntax::Edit Draft::replacement(std::string_view text) const {
  const std::size_t shorter = std::min(bytes_.size(), text.size());
  std::size_t head = std::mismatch(
                         bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(shorter), text.begin())
                         .first -
      bytes_.begin();
  while (head > 0 && bytes_[head - 1] != '\n') --head;
  std::size_t tail = 0;
  while (tail < shorter - head && bytes_[bytes_.size() - 1 - tail] == text[text.size() - 1 - tail]) ++tail;
  while (tail > 0 && tail < bytes_.size() && bytes_[bytes_.size() - tail - 1] != '\n') --tail;
  return {{static_cast<std::uint32_t>(head), static_cast<std::uint32_t>(bytes_.size() - tail)},
      std::string(text.substr(head, text.size() - tail - head))};
}

Draft::Outcome Draft::apply(const std::vector<TextChange>& changes, syntax::Encoding encoding) {
  Outcome outcome;
  for (const TextChange& change : changes) {
    syntax::Edit edit;
    if (!change.range) {
      edit = replacement(change.text);
    } else {
      if (change.range->end < change.range->start) {
        outcome.refused = "a change's range ends before it starts";
        return outcome;
      }
      edit = {{offset(change.range->start, encoding), offset(change.range->end, encoding)}, change.text};
    }
    splice(edit.span, edit.text);
    outcome.edits.push_back(std::move(edit));
  }
  return outcome;
}

}  // namespace stepzero::server
