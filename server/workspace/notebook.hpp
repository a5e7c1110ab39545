// A notebook as one Python program: its code cells in order, each on lines of its own. Knows how .ipynb files
// are written and what of a cell is not Python; knows no editor.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stepzero::server {

// Which lines of the program belong to which cell. Immutable once made; shared between threads.
struct Cells {
  struct Cell {
    std::string uri;               // of its text document in an editor; empty in a file
    int version = 0;               // of that document
    std::uint32_t number = 0;      // in the notebook, from 1
    std::uint32_t first_line = 0;  // in the program
    std::uint32_t line_count = 1;

    bool operator==(const Cell&) const = default;
  };
  std::vector<Cell> cells;  // by first line

  // Null where there are no cells. A line after the last cell belongs to that.
  const Cell* at_line(std::uint32_t line) const;
  const Cell* find(std::string_view uri) const;
  bool operator==(const Cells&) const = default;
};

struct NotebookProgram {
  std::string text;
  Cells cells;

  // `cell` needs no lines yet.
  void add(Cells::Cell cell, std::string_view its_text);
};

// The text of a cell with what IPython takes for itself blanked: magics (%…), commands of the shell (!…),
// questions (?…, …?), and a whole cell that a magic hands to another language (%%bash). Lines and their
// lengths stay as they are.
std::string python_of_cell(std::string_view text);
// The same, with the commands of the shell and the variables of %env kept as comments:
// rules/launch/cell_commands.hpp. Lines become longer at their end alone.
std::string program_of_cell(std::string_view text);

bool is_notebook(std::string_view path);

// The program of an .ipynb file; nothing if it is none, with the reason. Cells in another language than
// Python have no code.
struct ReadNotebook {
  std::optional<NotebookProgram> program;
  std::string reason;
};
ReadNotebook read_notebook(const std::string& json);

}  // namespace stepzero::server
