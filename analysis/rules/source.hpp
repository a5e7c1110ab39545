// Finding the syntax after a place again, and rewriting lines of it with their comments and indentation
// kept.
#pragma once

#include "interpreter/record.hpp"
#include "rules/finding.hpp"
#include "syntax/walk.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::rules {

// The statements around a span of a chunk, outermost first: the last one is the innermost statement that
// holds it, and each comes with the block that it stands in.
struct Enclosing {
  const syntax::Stmt* stmt = nullptr;
  syntax::Block block;    // where it stands
  std::size_t index = 0;  // its place there
};
std::vector<Enclosing> enclosing(const syntax::Stmt& root, syntax::Span span);
// The innermost function or class whose statements hold the place; null for the file's own, and for what has
// no place.
const syntax::Stmt* definition_around(const interpreter::Record& record, values::Place place);
// The same place in the chunk that holds the text as it is: what was run before an edit of other lines has
// its places in the text before it. None, where the text there is another.
values::Place as_it_stands(const interpreter::Record& record, values::Place place);
// The innermost function alone, whatever class it holds around the place.
const syntax::FunctionStmt* function_around(const interpreter::Record& record, values::Place place);

// Do the files of the program say so in their text, or is the word anywhere in them? Those of installed
// libraries are left out. Only to keep still: that a word is written says nothing of what runs.
enum class Says : std::uint8_t;  // name_hints.hpp
bool program_says(const interpreter::Record& record, Says what);
bool program_names(const interpreter::Record& record, std::string_view word);

// Does the chunk hold a statement of the program itself, as the text is now? Those of installed libraries do
// not.
bool is_of_program(const interpreter::ChunkOf& chunk);

using syntax::for_each_expression;
using syntax::for_each_statement;
// Does the statement, or one in it, leave the block around it: return, break, continue?
bool leaves(const syntax::Stmt& stmt);
// Is the name read in the statement?
bool reads_name(const syntax::Stmt& stmt, syntax::Name name);

// The text of one chunk, by lines.
class SourceLines {
public:
  SourceLines(const interpreter::Record& record, std::uint32_t chunk);
  std::string_view text(const syntax::Expr& expr) const { return text(expr.span); }
  std::string_view text(syntax::Span span) const;
  std::string indentation(const syntax::Stmt& stmt) const;  // of its first line
  // Whole lines from the first of `from` to the last of `to`, comments on lines of their own above `from`
  // included when they are indented like it, with the last line ending.
  syntax::Span lines(const syntax::Stmt& from, const syntax::Stmt& to) const;  // absolute
  syntax::Span absolute(syntax::Span span) const { return chunk_.absolute(span); }
  std::string_view slice(syntax::Span absolute_span) const { return text_->slice(absolute_span); }
  const std::string& path() const { return path_; }
  std::string line_ending() const { return ending_; }
  // The indentation step of the block below a statement.
  std::string step(const syntax::Stmt& outer, const syntax::Stmt& inner) const;
  bool own_line(const syntax::Stmt& stmt) const;  // nothing else stands on its lines (no `if x: y`, no `;`)

private:
  interpreter::ChunkOf chunk_;
  std::shared_ptr<const syntax::Text> text_;
  std::string path_;
  std::string ending_;
};

// Every line of `block` moved from one indentation to another; lines inside triple-quoted strings are moved
// too only if they are indented at least as much as the block.
std::string reindent(std::string_view block, std::string_view from, std::string_view to);

}  // namespace stepzero::rules
