#include "server/workspace/notebook.hpp"

#include "rules/launch/cell_commands.hpp"
#include "syntax/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <initializer_list>

namespace stepzero::server {
namespace {

using Json = nlohmann::json;

// Null where one of the members is missing or is no object.
const Json& member(const Json& json, std::initializer_list<const char*> names) {
  static const Json none;
  const Json* at = &json;
  for (const char* name : names) {
    if (!at->is_object()) return none;
    const auto found = at->find(name);
    if (found == at->end()) return none;
    at = &*found;
  }
  return *at;
}

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_break(char c) { return c == '\n' || c == '\r'; }

std::uint32_t count_lines(std::string_view text) {
  std::uint32_t lines = 1;
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n' || (text[i] == '\r' && (i + 1 == text.size() || text[i + 1] != '\n'))) ++lines;
  return lines;
}

std::string_view trimmed(std::string_view line) {
  while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
  while (!line.empty() && is_blank(line.back())) line.remove_suffix(1);
  return line;
}

// Magics that run the rest of the cell as Python.
bool runs_python(std::string_view magic) {
  constexpr std::string_view known[] = {"time", "timeit", "capture", "prun", "python", "python3", "debug"};
  return std::find(std::begin(known), std::end(known), magic) != std::end(known);
}

// `x = !ls` and `x = %magic`, which IPython allows for one name.
bool assigns_magic(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && syntax::is_name_byte(line[at])) ++at;
  if (at == 0) return false;
  while (at < line.size() && is_blank(line[at])) ++at;
  if (at >= line.size() || line[at] != '=') return false;
  ++at;
  while (at < line.size() && is_blank(line[at])) ++at;
  return at < line.size() && (line[at] == '!' || line[at] == '%');
}

bool asks_for_help(std::string_view line) {
  if (!line.ends_with('?')) return false;
  return std::all_of(line.begin(), line.end(),
      [](char c) { return syntax::is_name_byte(c) || c == '.' || c == '?' || c == '%' || c == '*'; });
}

// Follows Python's strings, brackets and continued lines just far enough to know where a statement may start:
// `%` and `!` mean something else inside of one.
class Lines {
public:
  bool starts_statement() const { return depth_ == 0 && quote_.empty() && !continued_; }

  void pass(std::string_view line) {
    continued_ = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const char c = line[i];
      if (!quote_.empty()) {
        if (c == '\\') {
          ++i;
        } else if (line.substr(i).starts_with(quote_)) {
          i += quote_.size() - 1;
          quote_.clear();
        }
        continue;
      }
      if (c == '#') return;
      if (c == '\'' || c == '"') {
        const std::string three(3, c);
        quote_ = line.substr(i).starts_with(three) ? three : std::string(1, c);
        i += quote_.size() - 1;
      } else if (c == '(' || c == '[' || c == '{') {
        ++depth_;
      } else if ((c == ')' || c == ']' || c == '}') && depth_ > 0) {
        --depth_;
      }
    }
    if (quote_.size() == 1) quote_.clear();  // a string of one line ends with it
    continued_ = line.ends_with('\\') && quote_.empty();
  }

private:
  int depth_ = 0;
  std::string quote_;
  bool continued_ = false;
};

void blank(std::string& text, std::size_t begin, std::size_t end) {
  for (std::size_t i = begin; i < end; ++i)
    if (!is_break(text[i])) text[i] = ' ';
}

}  // namespace

const Cells::Cell* Cells::at_line(std::uint32_t line) const {
  const auto next = std::upper_bound(cells.begin(), cells.end(), line,
      [](std::uint32_t value, const Cell& cell) { return value < cell.first_line; });
  if (next == cells.begin()) return cells.empty() ? nullptr : &cells.front();
  return &*std::prev(next);
}

const Cells::Cell* Cells::find(std::string_view uri) const {
  for (const Cell& cell : cells)
    if (cell.uri == uri) return &cell;
  return nullptr;
}

void NotebookProgram::add(Cells::Cell cell, std::string_view its_text) {
  std::string python = program_of_cell(its_text);
  if (python.ends_with('\r')) python += ' ';  // which a line feed would make one line end of two
  cell.first_line = cells.cells.empty() ? 0 : cells.cells.back().first_line + cells.cells.back().line_count;
  cell.line_count = count_lines(python);
  text += python;
  text += '\n';
  cells.cells.push_back(std::move(cell));
}

std::string python_of_cell(std::string_view text) {
  std::string python(text);
  Lines lines;
  bool first = true, magic_continues = false;
  for (std::size_t begin = 0; begin < python.size();) {
    std::size_t end = begin;
    while (end < python.size() && !is_break(python[end])) ++end;
    const std::string_view line = std::string_view(python).substr(begin, end - begin);
    const std::string_view words = trimmed(line);
    if (first && words.starts_with("%%")) {
      const std::string_view name = words.substr(2, words.find_first_of(" \t") - 2);
      if (!runs_python(name)) {
        blank(python, 0, python.size());
        return python;
      }
    }
    if (!words.empty()) first = false;
    const bool is_magic = magic_continues ||
        (lines.starts_statement() && !words.empty() &&
            (words.front() == '%' || words.front() == '!' || words.front() == '?' || assigns_magic(words) ||
                asks_for_help(words)));
    magic_continues = is_magic && words.ends_with('\\');
    if (is_magic)
      blank(python, begin, end);
    else
      lines.pass(line);
    begin = end;
    while (begin < python.size() && is_break(python[begin])) ++begin;
  }
  return python;
}

std::string program_of_cell(std::string_view text) {
  const std::string python = python_of_cell(text);
  std::string_view first = trimmed(text.substr(0, text.find_first_of("\r\n")));
  const bool all_shell = first.starts_with("%%bash") || first.starts_with("%%sh") ||
      first.starts_with("%%shell");
  std::string made;
  bool continues = false;
  for (std::size_t begin = 0; begin < text.size();) {
    std::size_t end = begin;
    while (end < text.size() && !is_break(text[end])) ++end;
    const std::string_view line = text.substr(begin, end - begin), words = trimmed(line);
    const bool is_taken = !words.empty() &&
        trimmed(std::string_view(python).substr(begin, end - begin)).empty();
    const bool is_command = is_taken && !words.starts_with("%%") &&
        (all_shell || continues || words.front() == '!' || words.starts_with("%env ") ||
            words.starts_with("%set_env "));
    continues = is_command && words.ends_with('\\');
    if (is_command)
      made += rules::launch::as_comment(line);
    else
      made.append(python, begin, end - begin);
    begin = end;
    while (begin < text.size() && is_break(text[begin])) made += text[begin++];
  }
  return made;
}

bool is_notebook(std::string_view path) { return path.ends_with(".ipynb"); }

ReadNotebook read_notebook(const std::string& json) {
  const Json file = Json::parse(json, nullptr, false);
  if (!file.is_object() || !file.contains("cells") || !file["cells"].is_array())
    return {std::nullopt, "not a notebook (.ipynb of version 4)"};
  const Json& of_kernel = member(file, {"metadata", "kernelspec", "language"});
  const Json& language = of_kernel.is_null() ? member(file, {"metadata", "language_info", "name"})
                                             : of_kernel;
  ReadNotebook read;
  NotebookProgram& program = read.program.emplace();
  if (language.is_string() && language != "python") return read;
  std::uint32_t number = 0;
  for (const Json& cell : file["cells"]) {
    ++number;
    if (member(cell, {"cell_type"}) != "code") continue;
    std::string text;
    const Json& source = member(cell, {"source"});
    if (source.is_string()) text = source.get<std::string>();
    if (source.is_array())
      for (const Json& line : source)
        if (line.is_string()) text += line.get<std::string>();
    const Json& of_cell = member(cell, {"metadata", "vscode", "languageId"});
    if (of_cell.is_null() || of_cell == "python") program.add({{}, 0, number, 0, 1}, text);
  }
  return read;
}

}  // namespace stepzero::server
