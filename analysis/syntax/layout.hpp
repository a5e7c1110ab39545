// A text as Python's tokenizer lays it out: logical lines with their indentation, and comments. Knows
// strings, brackets and continuation lines; no grammar beyond the first word of a line.
#pragma once

#include "syntax/document.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace stepzero::syntax {

// The first word of a logical line, as far as it decides where statements begin and end.
enum class Word : std::uint8_t {
  other,
  decorator,
  def,
  class_,
  async,
  if_,
  for_,
  while_,
  try_,
  with,
  elif,
  else_,
  except,
  finally,
};

// A logical line: one physical line, or several joined by brackets, backslashes or a triple-quoted string.
struct Line {
  std::uint32_t begin = 0;   // first byte of code
  std::uint32_t end = 0;     // past the trailing comment, before the line ending
  std::uint32_t indent = 0;  // in columns, a tab stops at multiples of 8
  Word word = Word::other;
  bool opens = false;  // its code ends with a colon
};

struct Layout {
  std::vector<Line> lines;        // those with code, in order
  std::vector<Comment> comments;  // all, in order
  bool recovered = false;         // a triple-quoted string has no end
};

// A physical line longer than this is not read: recovering from its errors could take seconds.
constexpr std::size_t longest_line = 256U << 10;

// Never fails. In broken text an unclosed bracket ends where a line begins that no bracket can contain
// (`def`, `class`, `return` …), and a string that would swallow the rest of the file ends with its line.
Layout layout(std::string_view text);

// The lines [first, result) make one statement: decorators, the header, its body, and its `else`, `except`, …
// clauses.
std::size_t statement_end(const std::vector<Line>& lines, std::size_t first, std::size_t last);

// Whether a piece of text has a line that is too long to be read.
bool too_long(std::string_view text);

}  // namespace stepzero::syntax
