// What a script of the shell does next: branches, loops, calls of functions, and commands in commands.
#include "documents/inline_script.hpp"
#include "documents/shell_walk.hpp"
#include "syntax/text.hpp"

#include <charconv>
#include <iterator>

namespace stepzero::documents {

namespace {
constexpr int most_nested_calls = 4;  // of functions
}

void Walk::list(TSNode node, int depth) {
  std::string_view condition;
  for (std::uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    if (written(child) == "||") {
      const Variables otherwise = variables_;
      ++branches_;
      after(condition, [&] {
        for (++i; i < ts_node_child_count(node); ++i) statement(ts_node_child(node, i), depth + 1);
      });
      --branches_;
      if (!ended_) join(otherwise);
      ended_ = false;
      return;
    }
    if (!ts_node_is_named(child)) continue;
    if (i == 0) {
      condition = written(child);
      statement(child, depth + 1);
      continue;
    }
    const Variables otherwise = variables_;
    after(condition, [&] { statement(child, depth + 1); });
    variables_.change_beside(
        otherwise,
        [](const NamedVariable& each, const Variable* before) {
          return !before || !(*before == each.variable);
        },
        [](std::string_view, Variable& variable, const Variable*) { variable.by_default = true; });
  }
}

void Walk::take_settings(ShellCommand& command) {
  if (command.words.front().text != "env") return;
  for (std::size_t i = 1; i < command.words.size(); ++i) {
    const Word& word = command.words[i];
    const std::size_t equals = word.text.find('=');
    if (equals == std::string::npos || equals == 0 || word.text.starts_with('-') ||
        word.text.substr(0, equals).find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") !=
            std::string::npos)
      break;
    Setting& set = command.environment.emplace_back();
    set.name = word.text.substr(0, equals);
    set.value = word;
    set.value.text = word.text.substr(equals + 1);
    set.name_span = word.written;
    if (word.written.end - word.written.begin >= word.text.size()) {
      set.name_span.end = word.written.begin + static_cast<std::uint32_t>(equals);
      set.value.written.begin = set.name_span.end + 1;
    }
  }
}

bool Walk::inner_commands(const ShellCommand& outer, const std::vector<Chars>& texts) {
  std::string within;
  const Chars inner = inline_script_of(texts, within);
  if (inner.text.empty()) return false;
  const std::string folder = folder_;
  for (std::vector<Chars>& each : inline_commands(inner)) {
    ShellCommand made;
    made.span = outer.span;
    made.environment = outer.environment;
    made.is_conditional = outer.is_conditional, made.is_broken = outer.is_broken;
    made.within = within;
    made.folder = folder_;
    // What lies on another machine need not be what lies here.
    const bool on_other_host = within == "ssh";
    if (on_other_host) made.environment.clear();
    for (const Chars& chars : each) {
      made.words.push_back(word(chars, outer.span));
      made.words.back().by_default = on_other_host ||
          std::any_of(
              outer.words.begin(), outer.words.end(), [](const Word& part) { return part.by_default; });
    }
    if (made.words.front().text == "cd") builtin(made);
    script_.commands.push_back(std::move(made));
  }
  folder_ = folder;
  return true;
}

void Walk::call(const std::string& name, TSNode body, std::vector<Chars> texts) {
  if (calls_ >= most_nested_calls || script_.commands.size() > most_commands) return;
  called_.insert(name);
  Variable given;
  given.is_array = true;
  given.items.assign(std::make_move_iterator(texts.begin() + 1), std::make_move_iterator(texts.end()));
  auto outer = std::exchange(for_caller_, {});
  keep_for_caller("@");
  variables_["@"] = std::move(given);
  const int branches = std::exchange(branches_at_call_, branches_);
  ++calls_;
  statement(body, 1);
  --calls_;
  branches_at_call_ = branches;
  ended_ = false;
  for (auto it = for_caller_.rbegin(); it != for_caller_.rend(); ++it) {
    if (it->second)
      variables_[it->first] = std::move(*it->second);
    else
      variables_.erase(it->first);
  }
  for_caller_ = std::move(outer);
}

void Walk::join(const Variables& other, std::string_view condition) {
  variables_.change_beside(
      other, [](const NamedVariable&, const Variable*) { return true; },
      [&](std::string_view name, Variable& variable, const Variable* there) {
        if (!there) {
          // `[ -z "$N" ] && N=8`: a default.
          if (condition.find("-z") != std::string_view::npos &&
              condition.find(name) != std::string_view::npos)
            variable.by_default = true;
          else
            forget(variable);
        } else if (!(*there == variable)) {
          variable.meet(*there);
        } else {
          variable.by_default = variable.by_default || there->by_default;
          variable.is_exported = variable.is_exported && there->is_exported;
        }
      });
  variables_.take_missing(other, [](Variable missing) {
    forget(missing);
    return missing;
  });
}

void Walk::choice(TSNode node, int depth) {
  std::vector<TSNode> conditions, body, others;
  bool has_else = false, in_body = false;
  for (std::uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    const std::string_view type = type_of(child);
    if (type == "then")
      in_body = true;
    else if (type == "elif_clause")
      others.push_back(child);
    else if (type == "else_clause")
      others.push_back(child), has_else = true;
    else if (ts_node_is_named(child))
      (in_body ? body : conditions).push_back(child);
  }
  std::string_view condition;
  for (const TSNode each : conditions) {
    condition = written(each);
    statement(each, depth + 1);
  }
  const Variables before = variables_;
  std::vector<Variables> results;
  way(before, results, [&] {
    for (const TSNode each : body) statement(each, depth + 1);
  });
  for (const TSNode other : others) way(before, results, [&] { statements(other, depth + 1); });
  if (!has_else) results.push_back(before);
  meet(results, before, condition);
}

void Walk::cases(TSNode node, int depth) {
  const Variables before = variables_;
  std::vector<Variables> results;
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
    if (const TSNode item = ts_node_named_child(node, i); type_of(item) == "case_item")
      way(before, results, [&] { statements(item, depth + 1); });
  results.push_back(before);
  meet(results, before, {});
}

void Walk::names_set(TSNode node, std::set<std::string_view>& names) const {
  if (type_of(node) == "variable_assignment")
    if (const TSNode name = ts_node_child_by_field_name(node, "name", 4); !ts_node_is_null(name))
      names.insert(written(name));
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
    names_set(ts_node_named_child(node, i), names);
}

std::string Walk::conditions_of(TSNode node) const {
  std::string all;
  for (std::uint32_t i = 0; i < ts_node_child_count(node); ++i) {
    const TSNode child = ts_node_child(node, i);
    if (type_of(child) == "elif_clause") all += conditions_of(child);
    if (type_of(child) == "then") break;
    if (ts_node_is_named(child)) all += written(child);
  }
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
    if (const TSNode child = ts_node_named_child(node, i); type_of(child) == "elif_clause")
      all += conditions_of(child);
  return all;
}

namespace {

// `{0..3}` and `$(seq 0 3)`: the numbers, where they are written out.
std::optional<std::pair<int, int>> range_of(std::string_view text) {
  const auto number = [](std::string_view digits) -> std::optional<int> {
    int made = 0;
    const auto [stop, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), made);
    return failure == std::errc() && stop == digits.data() + digits.size() ? std::optional(made)
                                                                           : std::nullopt;
  };
  std::optional<int> first, last;
  if (text.starts_with('{') && text.ends_with('}')) {
    text = text.substr(1, text.size() - 2);
    const std::size_t dots = std::min(text.find(".."), text.size());
    first = number(text.substr(0, dots));
    last = number(text.substr(std::min(dots + 2, text.size())));
  } else if (text.starts_with("$(seq ") && text.ends_with(')')) {
    text = text.substr(6, text.size() - 7);
    const std::size_t blank = text.find(' ');
    first = blank == std::string_view::npos ? std::optional(1) : number(text.substr(0, blank));
    last = number(blank == std::string_view::npos ? text : text.substr(blank + 1));
  }
  return first && last ? std::optional(std::pair(*first, *last)) : std::nullopt;
}

}  // namespace

std::optional<Variable> Walk::values_of(TSNode loop) {
  constexpr std::size_t most_iterations = 32;  // of one loop: a sweep over seeds has fewer
  if (type_of(loop) != "for_statement" || !written(loop).starts_with("for")) return std::nullopt;
  Variable made;
  for (std::uint32_t i = 0; i < ts_node_child_count(loop); ++i) {
    const char* field = ts_node_field_name_for_child(loop, i);
    if (!field || std::string_view(field) != "value") continue;
    const TSNode value = ts_node_child(loop, i);
    const std::string_view text = written(value);
    if (const auto range = range_of(text)) {
      if (range->second < range->first || range->second - range->first >= static_cast<int>(most_iterations))
        return std::nullopt;
      for (int each = range->first; each <= range->second; ++each)
        for (Chars& item = made.items.emplace_back(); const char c : std::to_string(each))
          item.add(c, ts_node_start_byte(value));
      continue;
    }
    // What the names of files decide, or a command.
    if (text.find_first_of("*?[{`~") != std::string_view::npos && text.find("${") == std::string_view::npos)
      return std::nullopt;
    Expansion expansion(text_, variables_);
    expansion.add(span_of(value));
    for (Chars& word : expansion.take()) {
      if (!word.is_known() || word.text.find_first_of("*?[{~") != std::string::npos) return std::nullopt;
      made.items.push_back(std::move(word));
    }
    made.by_default = made.by_default || expansion.by_default();
  }
  if (made.items.empty() || made.items.size() > most_iterations) return std::nullopt;
  return made;
}

bool Walk::names_variable(std::string_view text, std::string_view name) {
  for (std::size_t at = text.find(name); at != std::string_view::npos; at = text.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !syntax::is_word(text[at - 1])) && (end == text.size() || !syntax::is_word(text[end])))
      return true;
  }
  return false;
}

bool Walk::leaves_early(TSNode node) const {
  if (type_of(node) == "command" &&
      (written(node).starts_with("break") || written(node).starts_with("continue")))
    return true;
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
    if (leaves_early(ts_node_named_child(node, i))) return true;
  return false;
}

bool Walk::rounds(TSNode node, const std::set<std::string_view>& names, int depth) {
  constexpr int most_in_all = 128;  // of loops in loops: each command is a launch to look at
  const TSNode variable = ts_node_child_by_field_name(node, "variable", 8),
               body = ts_node_child_by_field_name(node, "body", 4);
  if (ts_node_is_null(variable) || ts_node_is_null(body) || leaves_early(body)) return false;
  const std::optional<Variable> values = values_of(node);
  const int before = iterations_;
  if (!values || before * static_cast<int>(values->items.size()) > most_in_all) return false;
  iterations_ *= static_cast<int>(values->items.size());
  const std::size_t outer = set_in_iterations_.size();
  set_in_iterations_.insert(set_in_iterations_.end(), names.begin(), names.end());
  for (const Chars& value : values->items) {
    Variable made;
    made.items = {value};
    made.by_default = values->by_default;
    made.name_span = span_of(variable);
    assign(std::string(written(variable)), std::move(made));
    statements(body, depth + 1);
    ended_ = false;
  }
  set_in_iterations_.resize(outer);
  iterations_ = before;
  return true;
}

bool Walk::reads_arguments(TSNode loop) const {
  const TSNode body = ts_node_child_by_field_name(loop, "body", 4);
  if (calls_ > 0 || ts_node_is_null(body)) return false;
  const std::string_view head = text_.substr(
      ts_node_start_byte(loop), ts_node_start_byte(body) - ts_node_start_byte(loop));
  return std::ranges::any_of(
      std::initializer_list<std::string_view>{"$#", "${#", "$1", "${1", "$@", "$*", "getopts"},
      [&](std::string_view asked) { return head.find(asked) != std::string_view::npos; });
}

void Walk::loop(TSNode node, int depth) {
  std::set<std::string_view> names;
  names_set(node, names);
  const bool by_arguments = reads_arguments(node);
  const Variables before = variables_;
  if (const TSNode variable = ts_node_child_by_field_name(node, "variable", 8); !ts_node_is_null(variable))
    names.insert(written(variable));
  if (rounds(node, names, depth)) return;
  for (const std::string_view name : names) {
    forget(variables_[name]);
    ++times_set_[std::string(name)];
  }
  ++branches_;
  if (const TSNode body = ts_node_child_by_field_name(node, "body", 4); !ts_node_is_null(body))
    statements(body, depth + 1);
  --branches_;
  ended_ = false;
  for (const std::string_view name : names) {
    const Variable* kept = by_arguments ? before.find(name) : nullptr;
    Variable& after_it = variables_[name];
    if (!kept) {
      forget(after_it);
      continue;
    }
    after_it = *kept;
    after_it.by_default = true;
  }
}

void Walk::builtin(const ShellCommand& command) {
  const std::string& name = command.words.front().text;
  if (name == "exit" || name == "return" || name == "exec") {
    ended_ = name != "exec";
  } else if (name == "cd" && command.words.size() > 1) {
    const std::string& to = command.words[1].text;
    const bool is_whole = to.starts_with('/') || to.starts_with(Chars::own);
    folder_ = is_whole || folder_.empty() ? to : folder_ + "/" + to;
    Variable here;
    for (const char c : folder_)
      here.items.empty() ? here.items.emplace_back().add(c, command.span.begin)
                         : here.items.front().add(c, command.span.begin);
    // Of a relative one it is not known any more what it means once the script has gone on.
    if (!folder_.starts_with(Chars::own)) here.forget();
    variables_["PWD"] = here;
  } else if (name == "shift") {
    Variable* given = variables_.change("@");
    if (given && command.words.size() == 1 && branches_at_call_ == branches_ && !given->items.empty())
      given->items.erase(given->items.begin());
    else if (given)
      forget(*given);
  } else if (name == "read" || name == "mapfile" || name == "readarray") {
    for (const Word& word : command.words)
      if (Variable* found = variables_.change(word.text)) forget(*found);
  } else if (name == "source" || name == ".") {
    source(command);
  } else if (name == "eval") {
    all_by_default();
  }
}

void Walk::redirected(TSNode node) {
  TSNode body{}, command{};
  bool is_quoted = false;
  const auto look = [&](TSNode redirect) {
    for (std::uint32_t i = 0; i < ts_node_named_child_count(redirect); ++i) {
      const TSNode part = ts_node_named_child(redirect, i);
      if (type_of(part) == "heredoc_body") body = part;
      if (type_of(part) == "heredoc_start")
        is_quoted = written(part).find_first_of("'\"\\") != std::string_view::npos;
    }
  };
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) {
    const TSNode child = ts_node_named_child(node, i);
    if (type_of(child) == "command") command = child;
    if (type_of(child) == "heredoc_redirect") look(child);
  }
  if (ts_node_is_null(body) || ts_node_is_null(command)) return;
  Chars text;
  const Span span = span_of(body);
  if (is_quoted) {
    for (std::uint32_t i = span.begin; i < span.end; ++i) text.add(text_[i], i);
  } else {
    for (std::uint32_t i = span.begin; i < span.end; ++i)
      if (text_[i] == '\\' && i + 1 < span.end && text_[i + 1] == '\n')
        ++i;
      else
        text.add(text_[i], i);
  }
  const std::string_view line = written(command);
  if (line.starts_with("read ")) {
    // Up to a byte that never comes: the whole.
    const std::string name(line.substr(line.find_last_of(" \t") + 1));
    const bool is_whole = line.find("-d ''") != std::string_view::npos ||
        line.find("-d \"\"") != std::string_view::npos || line.find("-d $'\\0'") != std::string_view::npos;
    const bool is_plain = text.text.find_first_of("$`") == std::string::npos;
    if (!is_whole || !is_plain || name.empty() ||
        name.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789") !=
            std::string::npos)
      return;
    while (!text.text.empty() && text.text.back() == '\n') text.text.pop_back(), text.at.pop_back();
    Variable made;
    made.items = {text};
    made.name_span = span_of(command);
    assign(name, std::move(made));
    return;
  }
  std::string within;
  if (!reads_script(line, within)) return;
  ShellCommand outer;
  outer.span = span_of(command);
  outer.is_conditional = branches_ > 0;
  outer.is_broken = errors_ > 0;
  outer.within = within;
  for (const auto& [name, variable] : variables_)
    if (variable.is_exported) outer.environment.push_back(setting(name, variable));
  for (std::vector<Chars>& each : inline_commands(text)) {
    ShellCommand made = outer;
    made.folder = folder_;
    for (const Chars& chars : each) made.words.push_back(word(chars, span));
    if (made.words.front().text.starts_with('#')) continue;
    script_.commands.push_back(std::move(made));
  }
}

void Walk::declaration(TSNode node) {
  const bool exports = written(node).starts_with("export") ||
      written(node).find(" -x") != std::string_view::npos;
  const bool is_local = calls_ > 0 && !written(node).starts_with("export") &&
      !written(node).starts_with("readonly");
  for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) {
    const TSNode child = ts_node_named_child(node, i);
    if (type_of(child) == "variable_assignment") {
      if (const TSNode name = ts_node_child_by_field_name(child, "name", 4);
          is_local && !ts_node_is_null(name))
        keep_for_caller(written(name));
      assignment(child, exports);
    } else if (type_of(child) == "variable_name" && exports) {
      if (Variable* found = variables_.change(written(child))) {
        found->is_exported = true;
        note_export(std::string(written(child)), *found);
      }
    }
  }
}

void Walk::keep_for_caller(std::string_view name) {
  const Variable* known = variables_.find(name);
  for_caller_.emplace_back(name, known ? std::optional(*known) : std::nullopt);
}

}  // namespace stepzero::documents
