#include "documents/embedded_documents.hpp"

#include <algorithm>

namespace stepzero::documents {

namespace {

// A text of several lines of which YAML makes one: the breaks between lines of one indentation are blanks. An
// empty line, or one that is further in, keeps its break.
std::string folded(std::string_view text) {
  std::string made(text);
  const auto depth = [&](std::size_t line) { return text.find_first_not_of(' ', line) - line; };
  const auto is_empty = [&](std::size_t line) {
    const std::size_t first = text.find_first_not_of(" \r", line);
    return first == std::string_view::npos || text[first] == '\n';
  };
  std::size_t line = text.starts_with('\n') ? 1 : 0;
  const std::size_t usual = line == 1 ? depth(line) : std::string_view::npos;
  for (std::size_t end = text.find('\n', line); end != std::string_view::npos; end = text.find('\n', line)) {
    const std::size_t next = end + 1;
    const bool further = usual != std::string_view::npos && (depth(line) > usual || depth(next) > usual);
    if (next < text.size() && !is_empty(line) && !is_empty(next) && !further) made[end] = ' ';
    line = next;
  }
  return made;
}

// The text that YAML reads, each byte where it is written: nothing where an escape stands for another byte.
std::string text_of(std::string_view written) {
  const std::string_view inner = written.size() < 2 ? "" : written.substr(1, written.size() - 2);
  std::size_t from = 0;
  std::string made;
  switch (written.front()) {
  case '|':
    from = std::min(written.find('\n'), written.size());
    made = written.substr(from);
    break;
  case '>':
    from = std::min(written.find('\n'), written.size());
    made = folded(written.substr(from));
    break;
  case '"':
    if (inner.find('\\') == std::string_view::npos) from = 1, made = folded(inner);
    break;
  case '\'':
    if (inner.find('\'') == std::string_view::npos) from = 1, made = folded(inner);
    break;
  default: made = folded(written);
  }
  return std::string(from, ' ') + made;
}

Word word_of(const Node& node) {
  Word made;
  made.text = node.text;
  for (const std::string_view folder : {"${workspaceFolder}/", "${workspaceRoot}/"})
    if (made.text.starts_with(folder)) made.text.erase(0, folder.size());
  if (const std::size_t variable = made.text.find("${");
      variable != std::string::npos || !node.is(Node::Kind::text))
    made.text = std::string(1, Chars::words);
  // Without the quotes, so that an edit replaces the text.
  made.span = made.written = {node.span.begin + 1, std::max(node.span.begin + 1, node.span.end - 1)};
  return made;
}

}  // namespace

std::string blanked(std::string_view text) {
  std::string blank(text.size(), ' ');
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '\n') blank[i] = '\n';
  return blank;
}

std::string steps_of_workflow(std::string_view text, const Node& root) {
  std::string script = blanked(text);
  bool any = false;
  for (const Field& job : root.at("jobs")->fields) {
    const Node* list = job.value.at("steps");
    if (!list) continue;
    for (const Node& step : list->items) {
      const Node* run = step.at("run");
      if (!run || !run->is(Node::Kind::text) || run->span.end <= run->span.begin) continue;
      const std::string read = text_of(text.substr(run->span.begin, run->span.end - run->span.begin));
      read.copy(script.data() + run->span.begin, read.size());
      any = true;
    }
  }
  // What the workflow fills in is not known.
  for (std::size_t at = script.find("${{"); at != std::string::npos; at = script.find("${{", at)) {
    const std::size_t end = std::min(script.find("}}", at), script.size() - 2) + 2;
    script.replace(at, end - at, "${" + std::string(end - at - 3, 'X') + "}");
  }
  return any ? script : std::string();
}

void variables_of_workflow(const Node& root, Script& into) {
  const auto set = [&](const Node& holder, Span seen_by) {
    const Node* variables = holder.at("env");
    if (!variables || !variables->is(Node::Kind::table)) return;
    std::vector<Setting> made;
    for (const Field& field : variables->fields) {
      Setting& one = made.emplace_back();
      one.name = field.key;
      one.name_span = field.key_span;
      const bool is_filled_in = field.value.is(Node::Kind::text) &&
          field.value.text.find("${{") != std::string::npos;
      one.value.text = is_filled_in || !field.value.is(Node::Kind::text) ? field.value.is(Node::Kind::integer)
              ? std::to_string(field.value.integer)
              : std::string(1, Chars::hole)
                                                                         : field.value.text;
      one.value.span = one.value.written = field.value.span;
    }
    into.exports.insert(into.exports.end(), made.begin(), made.end());
    for (ShellCommand& command : into.commands)
      if (seen_by.begin <= command.span.begin && command.span.end <= seen_by.end)
        command.environment.insert(command.environment.begin(), made.begin(), made.end());
  };
  for (const Field& job : root.at("jobs")->fields) {
    if (const Node* list = job.value.at("steps"))
      for (const Node& step : list->items) set(step, step.span);
    set(job.value, job.value.span);
  }
  set(root, root.span);
}

void configured_launches(const Node& root, Script& into) {
  for (const Node& each : root.at("configurations")->items) {
    const Node* type = each.at("type");
    const Node* program = each.at("program");
    const Node* module = each.at("module");
    if (!type || (type->text != "python" && type->text != "debugpy") || (!program && !module)) continue;
    ShellCommand& made = into.commands.emplace_back();
    made.span = each.span;
    Word python;
    python.text = "python";
    python.span = python.written = type->span;
    made.words.push_back(python);
    if (!program) {
      python.text = "-m";
      made.words.push_back(python);
    }
    made.words.push_back(word_of(program ? *program : *module));
    if (const Node* arguments = each.at("args"); arguments && arguments->is(Node::Kind::list)) {
      for (const Node& argument : arguments->items) made.words.push_back(word_of(argument));
    } else if (arguments) {
      made.words.push_back(word_of(root));  // one text for all, or a question to the user
      made.words.back().text = std::string(1, Chars::words);
    }
    if (const Node* variables = each.at("env"); variables && variables->is(Node::Kind::table))
      for (const Field& field : variables->fields)
        made.environment.push_back(
            {field.key, word_of(field.value), {field.key_span.begin + 1, field.key_span.end - 1}});
  }
}

}  // namespace stepzero::documents
