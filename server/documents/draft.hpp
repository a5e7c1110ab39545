// The text of an open document while the client edits it: bytes and line starts, both spliced by each change,
// so that a keystroke in a file of 50 MB costs a move of memory and no scan. Knows ranges in the client's
// encoding; knows no Python, no URI and no thread.
#pragma once

#include "syntax/document.hpp"
#include "syntax/text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

struct TextRange {
  syntax::Position start;
  syntax::Position end;
};

// Without a range the text replaces everything.
struct TextChange {
  std::optional<TextRange> range;
  std::string text;
};

class Draft {
public:
  explicit Draft(std::string text);

  const std::string& bytes() const { return bytes_; }

  // Positions past a line's end mean its end, past the last line the end of the text.
  std::uint32_t offset(syntax::Position position, syntax::Encoding encoding) const;

  struct Outcome {
    std::vector<syntax::Edit> edits;  // in order, each against the result of the ones before it
    std::string refused;              // why a change has no meaning; the draft is then to be dropped
  };
  Outcome apply(const std::vector<TextChange>& changes, syntax::Encoding encoding);

private:
  std::string_view line(std::uint32_t line) const;
  void splice(syntax::Span span, std::string_view text);
  syntax::Edit replacement(std::string_view text) const;

  std::string bytes_;
  std::vector<std::uint32_t> starts_;
};

}  // namespace stepzero::server
