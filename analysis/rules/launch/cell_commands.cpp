#include "rules/launch/cell_commands.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

namespace {

constexpr char mark = '\x01';  // no text of a notebook holds it

// NAME=value or NAME value, after `%env`.
void read_variable(std::string_view line, std::uint32_t begin, documents::Script& into) {
  std::size_t at = std::min(line.find(' '), line.size());
  at = std::min(line.find_first_not_of(' ', at), line.size());
  const std::size_t end = std::min(line.find_first_of("= ", at), line.size());
  const std::size_t from = std::min(line.find_first_not_of("= ", end), line.size());
  if (end == at || from == line.size()) return;
  std::string_view value = line.substr(from);
  while (value.ends_with(' ') || value.ends_with('\r')) value.remove_suffix(1);
  documents::Setting made;
  made.name = line.substr(at, end - at);
  made.name_span = {begin + static_cast<std::uint32_t>(at), begin + static_cast<std::uint32_t>(end)};
  made.value.text = value;
  if (value.find_first_of("${") != std::string_view::npos) made.value.text = documents::Chars::hole;
  made.value.span = made.value.written = {
      begin + static_cast<std::uint32_t>(from), begin + static_cast<std::uint32_t>(from + value.size())};
  into.exports.push_back(std::move(made));
}

}  // namespace

std::string as_comment(std::string_view line) {
  const std::size_t first = line.find_first_not_of(" \t");
  if (first == std::string_view::npos) return std::string(line);
  std::string made(line);
  made[first] = '#';
  return made + mark + line[first];
}

bool has_commands(std::string_view program) { return program.find(mark) != std::string_view::npos; }

void read_commands(const syntax::Module& program, documents::Script& into) {
  const std::string& text = program.text->bytes();
  std::string script;  // one command with the lines that continue it, at its places
  std::vector<documents::Setting> variables;
  const auto end_command = [&] {
    if (script.empty()) return;
    std::vector<syntax::Span> comments;
    documents::Script own;
    documents::read_shell(script, own, comments);
    for (documents::ShellCommand& command : own.commands) {
      command.environment.insert(command.environment.begin(), variables.begin(), variables.end());
      into.commands.push_back(std::move(command));
    }
    into.exports.insert(into.exports.end(), own.exports.begin(), own.exports.end());
    script.clear();
  };
  for (const syntax::Comment& comment : program.comments) {
    const std::string_view written = std::string_view(text).substr(
        comment.span.begin, comment.span.end - comment.span.begin);
    const std::size_t at = written.rfind(mark);
    // As as_comment writes it, and no other text that holds the mark.
    if (at == std::string_view::npos || at + 2 != written.size()) {
      end_command();
      continue;
    }
    std::string line(written.substr(0, at));
    line[0] = written[at + 1];
    if (line[0] == '%') {
      end_command();
      const std::size_t before = into.exports.size();
      read_variable(line, comment.span.begin, into);
      variables.insert(
          variables.end(), into.exports.begin() + static_cast<std::ptrdiff_t>(before), into.exports.end());
      continue;
    }
    const bool begins = line[0] == '!';
    if (begins) end_command(), line[0] = ' ';
    // Lines of one cell follow each other; what stands between them is blank.
    if (script.size() < comment.span.begin) {
      script.append(comment.span.begin - script.size(), ' ');
      // A command that goes on ends with its backslash; else a line ends the one before it.
      const std::size_t last = script.find_last_not_of(' ');
      if (last != std::string::npos) {
        if (script[last] == '\\')
          script[last] = ' ';
        else
          script[last + 1] = '\n';
      }
    }
    script += line;
  }
  end_command();
}

}  // namespace stepzero::rules::launch
