// Scripts of the shell within other files: recipes of a Makefile, instructions of a Dockerfile, and what
// embedded_documents reads. What is no script is blanked, so that every place stays what it is in the file.
#include "documents/embedded_documents.hpp"

#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::documents {

namespace {

// Each line with its end.
template <class Each> void each_line(std::string_view text, const Each& each) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    each(at, text.substr(at, end - at));
    at = end;
  }
}

bool is_continued(std::string_view line) {
  while (!line.empty() && (line.back() == '\n' || line.back() == '\r')) line.remove_suffix(1);
  return line.ends_with('\\');
}

// A variable of make: `NAME = value`, `:=`, `?=`, with `export` in front of it or without.
struct MakeVariable {
  std::string_view name, value;
  std::size_t name_at = 0, value_at = 0;
  bool is_exported = false, is_known = true;
};

// Each that is set once, with a value that make does not compute.
std::vector<MakeVariable> variables_of_make(std::string_view text) {
  std::vector<MakeVariable> found;
  bool in_branch = false;
  each_line(text, [&](std::size_t at, std::string_view line) {
    while (!line.empty() && (line.back() == '\n' || line.back() == '\r' || line.back() == ' '))
      line.remove_suffix(1);
    if (line.starts_with("if")) in_branch = true;
    if (line.starts_with("endif")) in_branch = false;
    if (line.empty() || line.front() == '\t' || line.front() == '#') return;
    MakeVariable made;
    std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    constexpr std::string_view exports = "export ";
    if (line.substr(begin).starts_with(exports)) {
      made.is_exported = true;
      begin = std::min(line.find_first_not_of(' ', begin + exports.size()), line.size());
    }
    std::size_t end = begin;
    while (end < line.size() && syntax::is_word(line[end])) ++end;
    std::size_t sign = std::min(line.find_first_not_of(' ', end), line.size());
    const std::string_view rest = line.substr(sign);
    const std::size_t length = rest.starts_with("=")        ? 1
        : rest.starts_with(":=") || rest.starts_with("?=")  ? 2
        : rest.starts_with("::=") || rest.starts_with("+=") ? 3
                                                            : 0;
    if (end == begin || length == 0) return;
    made.name = line.substr(begin, end - begin);
    made.name_at = at + begin;
    const std::size_t from = std::min(
        line.find_first_not_of(' ', sign + (rest.starts_with("+=") ? 2 : length)), line.size());
    made.value = line.substr(from, std::min(line.find(" #", from), line.size()) - from);
    made.value_at = at + from;
    made.is_known = !in_branch && !rest.starts_with("+=") &&
        made.value.find_first_of("$`\"'\\#") == std::string_view::npos;
    for (MakeVariable& other : found)
      if (other.name == made.name) other.is_known = made.is_known = false;
    found.push_back(made);
  });
  return found;
}

// A text that is read in place of another one: each byte knows where it stands there.
struct Placed {
  std::string text;
  std::vector<std::uint32_t> at;
  void add(std::string_view part, std::size_t place, bool moves = true) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      text += part[i];
      at.push_back(static_cast<std::uint32_t>(place + (moves ? i : 0)));
    }
  }
  Span span(Span here) const {
    if (here.begin >= at.size()) return {};
    const std::uint32_t begin = at[here.begin];
    return {begin,
        here.end > here.begin ? std::max(begin, at[std::min<std::size_t>(here.end, at.size()) - 1] + 1)
                              : begin};
  }
};
void place(Script& script, const Placed& text) {
  const auto move = [&](Word& word) {
    word.span = text.span(word.span);
    word.written = text.span(word.written);
  };
  const auto move_setting = [&](Setting& setting) {
    setting.name_span = text.span(setting.name_span);
    move(setting.value);
  };
  for (ShellCommand& command : script.commands) {
    command.span = text.span(command.span);
    for (Word& word : command.words) move(word);
    for (Setting& setting : command.environment) move_setting(setting);
  }
  for (Setting& setting : script.exports) move_setting(setting);
}

// The recipes with the variables of make in front of them, which a command line may give another value:
// `$(NAME)` is then the shell's `${NAME}`, and `$$` its `$`.
Placed with_variables(std::string_view text, const std::string& recipes) {
  Placed made;
  const std::vector<MakeVariable> variables = variables_of_make(text);
  for (const MakeVariable& each : variables) {
    if (each.is_exported) made.add("export ", each.name_at, false);
    if (!each.is_known && !each.is_exported) continue;
    made.add(each.name, each.name_at);
    made.add(each.is_known ? "=\"${" : "=\"$(", each.name_at, false);
    made.add(each.name, each.name_at, false);
    if (each.is_known) {
      made.add(":-", each.name_at, false);
      made.add(each.value, each.value_at);
    }
    made.add(each.is_known ? "}\"\n" : ")\"\n", each.value_at + each.value.size(), false);
  }
  for (std::size_t i = 0; i < recipes.size(); ++i) {
    if (recipes.compare(i, 2, "$$") == 0) {
      made.add("$", i++);
      continue;
    }
    const char open = recipes[i] == '$' && i + 1 < recipes.size() ? recipes[i + 1] : '\0';
    const std::size_t end = open == '(' ? recipes.find(')', i)
        : open == '{'                   ? recipes.find('}', i)
                                        : std::string::npos;
    if (end != std::string::npos) {
      const std::string_view name = std::string_view(recipes).substr(i + 2, end - i - 2);
      const bool is_variable = std::any_of(variables.begin(), variables.end(),
          [&](const MakeVariable& each) { return each.name == name && each.is_known; });
      made.add(is_variable ? "${" : "$(", i);
      made.add(name, i + 2);
      made.add(is_variable ? "}" : ")", end);
      i = end;
      continue;
    }
    made.add(std::string_view(recipes).substr(i, 1), i);
  }
  return made;
}

// Lines that begin with a tab, without what make itself reads in front of a command.
std::string recipes(std::string_view text) {
  std::string script = blanked(text);
  bool continues = false;
  each_line(text, [&](std::size_t at, std::string_view line) {
    const bool recipe = line.starts_with('\t');
    if (recipe || continues) {
      std::size_t from = 0;
      while (recipe && !continues && from < line.size() &&
          (line[from] == '\t' || line[from] == ' ' || line[from] == '@' || line[from] == '-' ||
              line[from] == '+'))
        ++from;
      line.substr(from).copy(script.data() + at + from, line.size() - from);
    }
    continues = (recipe || continues) && is_continued(line);
  });
  return script;
}

// What RUN, CMD and ENTRYPOINT start; a comment between continued lines is no end.
std::string instructions(std::string_view text) {
  std::string script = blanked(text);
  bool inside = false;
  each_line(text, [&](std::size_t at, std::string_view line) {
    std::size_t from = std::min(line.find_first_not_of(" \t"), line.size());
    if (!inside) {
      std::size_t end = from;
      while (end < line.size() && std::isalpha(static_cast<unsigned char>(line[end]))) ++end;
      std::string word(line.substr(from, end - from));
      std::transform(word.begin(), word.end(), word.begin(), [](unsigned char c) { return std::toupper(c); });
      if (word != "RUN" && word != "CMD" && word != "ENTRYPOINT") return;
      from = end;
    } else if (from < line.size() && line[from] == '#') {
      script[at + line.size() - 1] = ' ';
      return;
    }
    std::string kept(line.substr(from));
    const std::size_t open = kept.find_first_not_of(" \t");
    if (!inside && open != std::string::npos && kept[open] == '[') {
      bool quoted = false;
      for (char& c : kept) {
        if (c == '"') quoted = !quoted;
        if (!quoted && (c == '[' || c == ']' || c == ',')) c = ' ';
      }
    }
    kept.copy(script.data() + at + from, kept.size());
    inside = is_continued(line);
  });
  return script;
}

// NAME=value, where `at` stands; what follows it is left there.
std::optional<Setting> setting_at(
    std::string_view line, std::size_t& at, std::uint32_t begin, bool to_the_end) {
  const std::size_t first = at;
  while (at < line.size() && syntax::is_word(line[at])) ++at;
  if (at == first || at >= line.size() || (line[at] != '=' && !(to_the_end && line[at] == ' ')))
    return std::nullopt;
  Setting made;
  made.name = line.substr(first, at - first);
  made.name_span = {begin + static_cast<std::uint32_t>(first), begin + static_cast<std::uint32_t>(at)};
  std::size_t from = ++at;
  const char quote = from < line.size() && (line[from] == '"' || line[from] == '\'') ? line[from] : '\0';
  if (quote)
    at = line.find(quote, ++from);
  else
    while (at < line.size() && line[at] != ' ' && line[at] != '\t' && line[at] != '\r') ++at;
  at = std::min(at, line.size());
  made.value.text = line.substr(from, at - from);
  if (made.value.text.find('$') != std::string::npos) made.value.text = Chars::hole;
  made.value.span = made.value.written = {
      begin + static_cast<std::uint32_t>(from), begin + static_cast<std::uint32_t>(at)};
  if (quote) ++at;
  return made;
}

// The lines of a `.env` file, or the ENV instructions of a Dockerfile.
void settings(std::string_view text, bool of_docker, Script& into, std::vector<Span>& comments) {
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    std::size_t at = std::min(line.find_first_not_of(" \t"), line.size());
    const auto offset = static_cast<std::uint32_t>(begin);
    if (at < line.size() && line[at] == '#' && !of_docker)
      comments.push_back({offset + static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
    const std::string_view keyword = of_docker ? "ENV " : "export ";
    const bool has_keyword = line.substr(at).starts_with(keyword);
    if (has_keyword) at = std::min(line.find_first_not_of(" \t", at + keyword.size()), line.size());
    if (has_keyword || !of_docker)
      while (const auto setting = setting_at(line, at, offset, of_docker)) {
        into.exports.push_back(*setting);
        at = std::min(line.find_first_not_of(" \t", std::min(at, line.size())), line.size());
        if (!of_docker) break;
      }
    begin = end + 1;
  }
}

}  // namespace

bool read_embedded(Language language, std::string_view text, const Node& root, Script& into,
    std::vector<Span>& comments, KeptTree* kept) {
  std::string script;
  const auto is_list = [&](std::string_view key, Node::Kind kind) {
    return root.at(key) && root.at(key)->is(kind);
  };
  switch (language) {
  case Language::make: {
    const Placed placed = with_variables(text, recipes(text));
    Script own;
    std::vector<Span> inner;
    read_shell(placed.text, own, inner, {}, kept);
    place(own, placed);
    into = std::move(own);
    for (const Span span : inner) comments.push_back(placed.span(span));
    break;
  }
  case Language::docker:
    script = instructions(text);
    settings(text, true, into, comments);
    break;
  case Language::environment: settings(text, false, into, comments); break;
  case Language::yaml:
    if (is_list("jobs", Node::Kind::table)) script = steps_of_workflow(text, root);
    break;
  case Language::json:
    if (is_list("configurations", Node::Kind::list)) configured_launches(root, into);
    break;
  case Language::toml:
  case Language::shell:
  case Language::none: break;
  }
  if (!script.empty()) read_shell(script, into, comments, {}, kept);
  if (language == Language::yaml && !script.empty()) variables_of_workflow(root, into);
  return true;  // what is no script cannot be broken
}

}  // namespace stepzero::documents
