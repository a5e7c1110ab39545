#include "server/command_line/report.hpp"

#include <algorithm>

namespace stepzero::server {

Place Report::place(const std::string& path, std::uint32_t offset) const {
  const auto text = texts.find(path);
  if (text == texts.end() || !text->second) return {};
  const syntax::Position at = text->second->position(offset, syntax::Encoding::codepoint);
  const auto notebook = cells.find(path);
  const Cells::Cell* cell = notebook == cells.end() ? nullptr : notebook->second->at_line(at.line);
  if (!cell) return {0, at.line + 1, at.column + 1};
  return {cell->number, at.line - cell->first_line + 1, at.column + 1};
}

std::pair<Place, Place> Report::places(const rules::Location& where) const {
  const Place begin = place(where.path, where.span.begin);
  Place end = place(where.path, where.span.end);
  if (end.cell != begin.cell) {
    const auto& text = *texts.at(where.path);
    const auto line = text.position(where.span.begin, syntax::Encoding::utf8).line;
    const Cells::Cell* cell = cells.at(where.path)->at_line(line);
    end = place(where.path, text.line_start(cell->first_line + cell->line_count) - 1);
  }
  return {begin, end};
}

}  // namespace stepzero::server
