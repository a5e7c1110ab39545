#include "documents/document.hpp"
#include "documents/expansion.hpp"
#include "documents/grammar.hpp"

#include <algorithm>
#include <map>
#include <set>

extern "C" const TSLanguage* tree_sitter_bash();

namespace stepzero::documents {

namespace {

constexpr std::size_t most_commands = 5'000;
constexpr std::size_t most_items = 4096;  // of an array
constexpr int deepest = 100;

Span span_of(TSNode node) { return {ts_node_start_byte(node), ts_node_end_byte(node)}; }
std::string_view type_of(TSNode node) { return ts_node_type(node); }

class Walk {
public:
  Walk(std::string_view text, Script& script, std::vector<Span>& comments) : text_(text), script_(script), comments_(comments) {}

  void run(TSNode root) {
    statements(root, 0);
    // A function sees the variables as they are when it is called: those that are set more than once are not known.
    for (auto& [name, variable] : variables_)
      if (times_set_[name] > 1) forget(variable);
    ++branches_;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      const Variables before = variables_;
      statement(functions_[i], 1);
      variables_ = before;
    }
  }

private:
  std::string_view written(TSNode node) const { return text_.substr(ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node)); }

  static void forget(Variable& variable) { variable.forget(); }

  void statements(TSNode node, int depth) {
    for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) statement(ts_node_named_child(node, i), depth);
  }

  void statement(TSNode node, int depth) {
    if (depth > deepest || script_.commands.size() > most_commands) return;
    const std::string_view type = type_of(node);
    if (type == "comment") {
      if (branches_ == 0 || std::find(comments_.begin(), comments_.end(), span_of(node)) == comments_.end()) comments_.push_back(span_of(node));
    } else if (type == "command") {
      command(node);
    } else if (type == "variable_assignment") {
      assignment(node, false);
    } else if (type == "declaration_command") {
      declaration(node);
    } else if (type == "unset_command") {
      for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
        if (const auto found = variables_.find(written(ts_node_named_child(node, i))); found != variables_.end()) forget(found->second);
    } else if (type == "if_statement") {
      choice(node, depth);
    } else if (type == "case_statement") {
      cases(node, depth);
    } else if (type == "for_statement" || type == "while_statement" || type == "c_style_for_statement") {
      loop(node, depth);
    } else if (type == "subshell") {
      const Variables before = variables_;
      const std::string folder = folder_;
      statements(node, depth + 1);
      variables_ = before;
      folder_ = folder;
    } else if (type == "function_definition") {
      functions_.push_back(ts_node_child_by_field_name(node, "body", 4));
    } else if (type == "list") {
      list(node, depth);
    } else if (type == "ERROR") {
      ++errors_;
      statements(node, depth + 1);
      --errors_;
    } else if (type != "test_command" && type != "command_substitution" && type != "file_redirect" && type != "heredoc_redirect") {
      statements(node, depth + 1);
    }
  }

  // `a && b`: what follows may not run; it does where all goes well.
  void list(TSNode node, int depth) {
    for (std::uint32_t i = 0; i < ts_node_child_count(node); ++i) {
      const TSNode child = ts_node_child(node, i);
      if (written(child) == "||") {
        const Variables otherwise = variables_;
        ++branches_;
        for (++i; i < ts_node_child_count(node); ++i) statement(ts_node_child(node, i), depth + 1);
        --branches_;
        if (!ended_) join(otherwise);
        ended_ = false;
        return;
      }
      if (!ts_node_is_named(child)) continue;
      if (i == 0) {
        statement(child, depth + 1);
        continue;
      }
      const Variables otherwise = variables_;
      statement(child, depth + 1);
      for (auto& [name, variable] : variables_)
        if (const auto found = otherwise.find(name); found == otherwise.end() || !(found->second == variable)) variable.by_default = true;
    }
  }

  void assign(std::string name, Variable made) {
    ++times_set_[name];
    Variable& variable = variables_[std::move(name)];
    made.is_exported = made.is_exported || variable.is_exported;
    variable = std::move(made);
  }

  Variable valued(TSNode value, bool& appendable) {
    Variable made;
    appendable = true;
    if (ts_node_is_null(value)) {
      made.items.push_back({});
      return made;
    }
    Expansion expansion(text_, variables_);
    if (type_of(value) == "array") {
      made.is_array = true;
      for (std::uint32_t i = 0; i < ts_node_named_child_count(value); ++i) {
        const TSNode item = ts_node_named_child(value, i);
        if (type_of(item) == "comment") continue;
        Expansion one(text_, variables_);
        one.add(span_of(item));
        for (Chars& word : one.take()) made.items.push_back(std::move(word));
        made.by_default = made.by_default || one.by_default();
      }
      return made;
    }
    // No splitting takes place in an assignment: as if it stood in quotes. Blanks within quotes stay.
    expansion.add(span_of(value));
    Chars whole;
    for (const Chars& word : expansion.take()) {
      if (!whole.text.empty()) whole.add(' ', word.at.empty() ? 0 : word.at.front());
      whole.add(word);
    }
    made.items.push_back(std::move(whole));
    made.by_default = expansion.by_default();
    return made;
  }

  // The setting that it makes; a name of an array's item makes the array unknown.
  void assignment(TSNode node, bool exported) {
    const TSNode name = ts_node_child_by_field_name(node, "name", 4), value = ts_node_child_by_field_name(node, "value", 5);
    if (ts_node_is_null(name)) return;
    if (type_of(name) != "variable_name") {
      const std::string_view all = written(name);
      if (const auto found = variables_.find(all.substr(0, all.find('['))); found != variables_.end()) forget(found->second);
      return;
    }
    bool appendable = false;
    Variable made = valued(value, appendable);
    made.name_span = span_of(name);
    made.is_exported = exported;
    std::string key(written(name));
    const std::size_t behind = ts_node_end_byte(name);
    if (behind < text_.size() && text_[behind] == '+') {
      Variable before;
      if (const auto found = variables_.find(key); found != variables_.end()) before = found->second;
      else forget(before);
      if (made.is_array || before.is_array) {
        before.items.insert(before.items.end(), made.items.begin(), made.items.end());
        before.is_array = true;
        if (before.items.size() > most_items) forget(before);
      } else if (!before.items.empty()) {
        before.items.front().add(made.items.front());
      }
      before.by_default = before.by_default || made.by_default;
      before.name_span = made.name_span;
      made = std::move(before);
    }
    if (exported) note_export(key, made);
    assign(std::move(key), std::move(made));
  }

  Setting setting(const std::string& name, const Variable& variable) const {
    Setting made;
    made.name = name;
    made.name_span = variable.name_span;
    if (!variable.items.empty()) made.value = word(variable.items.front(), variable.name_span);
    made.value.by_default = variable.by_default;
    return made;
  }
  void note_export(const std::string& name, const Variable& variable) { script_.exports.push_back(setting(name, variable)); }

  void declaration(TSNode node) {
    const bool exports = written(node).starts_with("export") || written(node).find(" -x") != std::string_view::npos;
    for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) {
      const TSNode child = ts_node_named_child(node, i);
      if (type_of(child) == "variable_assignment") {
        assignment(child, exports);
      } else if (type_of(child) == "variable_name" && exports) {
        if (const auto found = variables_.find(written(child)); found != variables_.end()) {
          found->second.is_exported = true;
          note_export(found->first, found->second);
        }
      }
    }
  }

  Word word(const Chars& chars, Span span) const {
    Word made;
    made.text = chars.text;
    made.span = span;
    made.written = span;
    if (!chars.at.empty()) {
      made.written = {chars.at.front(), chars.at.back() + 1};
      // Text of several places has no place of its own.
      if (chars.at.back() < chars.at.front() || chars.at.back() - chars.at.front() > 2 * chars.at.size() + 2) made.written = span;
    }
    return made;
  }

  void words(Span span, ShellCommand& into) {
    Expansion expansion(text_, variables_);
    expansion.add(span);
    std::vector<Chars> made = expansion.take();
    // Nothing by default: there may be words.
    if (made.empty() && expansion.by_default()) made.emplace_back().add(Chars::words, span.begin);
    for (const Chars& chars : made) {
      into.words.push_back(word(chars, span));
      into.words.back().by_default = expansion.by_default();
    }
  }

  // The grammar makes two of "$a/$b/c" at times: what no blank parts is one.
  void add_word(Span span, std::vector<Span>& all) const {
    const bool parted = all.empty() || text_.substr(all.back().end, span.begin - all.back().end).find_first_of(" \t\r\n") != std::string_view::npos;
    if (parted) all.push_back(span);
    else all.back().end = span.end;
  }

  void command(TSNode node) {
    ShellCommand made;
    made.span = span_of(node);
    made.is_conditional = branches_ > 0;
    made.is_broken = errors_ > 0 || ts_node_has_error(node) || is_cut_off(node);
    made.folder = folder_;
    for (const auto& [name, variable] : variables_)
      if (variable.is_exported) made.environment.push_back(setting(name, variable));
    std::vector<Span> written_words;
    for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) {
      const TSNode child = ts_node_named_child(node, i);
      const std::string_view type = type_of(child);
      if (type == "variable_assignment") {
        const TSNode name = ts_node_child_by_field_name(child, "name", 4);
        bool appendable = false;
        Variable value = valued(ts_node_child_by_field_name(child, "value", 5), appendable);
        value.name_span = span_of(name);
        made.environment.push_back(setting(std::string(written(name)), value));
      } else if (type != "comment" && !type.ends_with("redirect")) {
        add_word(span_of(child), written_words);
      } else if (type == "comment") {
        comments_.push_back(span_of(child));
      }
    }
    for (const Span span : written_words) words(span, made);
    if (made.words.empty()) return;
    builtin(made);
    script_.commands.push_back(std::move(made));
  }

  // Does what cannot be read follow right behind it?
  static bool is_cut_off(TSNode node) {
    for (; !ts_node_is_null(node); node = ts_node_parent(node))
      if (const TSNode next = ts_node_next_sibling(node); !ts_node_is_null(next)) return ts_node_is_error(next) || ts_node_is_missing(next);
    return false;
  }

  void builtin(const ShellCommand& command) {
    const std::string& name = command.words.front().text;
    if (name == "exit" || name == "return" || name == "exec") {
      ended_ = name != "exec";
    } else if (name == "cd" && command.words.size() > 1) {
      const std::string& to = command.words[1].text;
      folder_ = to.starts_with('/') || folder_.empty() ? to : folder_ + "/" + to;
    } else if (name == "read" || name == "mapfile" || name == "readarray") {
      for (const Word& word : command.words)
        if (const auto found = variables_.find(word.text); found != variables_.end()) forget(found->second);
    } else if (name == "source" || name == "." || name == "eval") {
      for (auto& [each, variable] : variables_) variable.by_default = true;
    }
  }

  // The variables are what they are on both ways, or unknown.
  void join(const Variables& other, std::string_view condition = {}) {
    for (auto& [name, variable] : variables_) {
      const auto found = other.find(name);
      if (found == other.end()) {
        // `[ -z "$N" ] && N=8`: a default.
        if (condition.find("-z") != std::string_view::npos && condition.find(name) != std::string_view::npos) variable.by_default = true;
        else forget(variable);
      } else if (!(found->second == variable)) {
        variable.meet(found->second);
      } else {
        variable.by_default = variable.by_default || found->second.by_default;
        variable.is_exported = variable.is_exported && found->second.is_exported;
      }
    }
    for (const auto& [name, variable] : other)
      if (const auto [made, is_new] = variables_.try_emplace(name, variable); is_new) forget(made->second);
  }

  // One way of several, from the state before; what it leaves is joined into `result` unless it ends the script.
  template <class Body> void way(const Variables& before, std::vector<Variables>& results, const Body& body) {
    variables_ = before;
    ended_ = false;
    ++branches_;
    body();
    --branches_;
    if (!ended_) results.push_back(std::move(variables_));
    ended_ = false;
  }
  void meet(std::vector<Variables>& results, const Variables& before, std::string_view condition) {
    if (results.empty()) {
      variables_ = before;
      return;
    }
    variables_ = std::move(results.front());
    for (std::size_t i = 1; i < results.size(); ++i) join(results[i], condition);
  }

  void choice(TSNode node, int depth) {
    std::vector<TSNode> conditions, body, others;
    bool has_else = false, in_body = false;
    for (std::uint32_t i = 0; i < ts_node_child_count(node); ++i) {
      const TSNode child = ts_node_child(node, i);
      const std::string_view type = type_of(child);
      if (type == "then") in_body = true;
      else if (type == "elif_clause") others.push_back(child);
      else if (type == "else_clause") others.push_back(child), has_else = true;
      else if (ts_node_is_named(child)) (in_body ? body : conditions).push_back(child);
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

  void cases(TSNode node, int depth) {
    const Variables before = variables_;
    std::vector<Variables> results;
    for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
      if (const TSNode item = ts_node_named_child(node, i); type_of(item) == "case_item") way(before, results, [&] { statements(item, depth + 1); });
    results.push_back(before);
    meet(results, before, {});
  }

  void names_set(TSNode node, std::set<std::string_view>& names) const {
    if (type_of(node) == "variable_assignment")
      if (const TSNode name = ts_node_child_by_field_name(node, "name", 4); !ts_node_is_null(name)) names.insert(written(name));
    for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i) names_set(ts_node_named_child(node, i), names);
  }

  // What it sets is not known in it.
  void loop(TSNode node, int depth) {
    std::set<std::string_view> names;
    names_set(node, names);
    if (const TSNode variable = ts_node_child_by_field_name(node, "variable", 8); !ts_node_is_null(variable)) names.insert(written(variable));
    for (const std::string_view name : names) {
      Variable& variable = variables_[std::string(name)];
      forget(variable);
      ++times_set_[std::string(name)];
    }
    ++branches_;
    if (const TSNode body = ts_node_child_by_field_name(node, "body", 4); !ts_node_is_null(body)) statements(body, depth + 1);
    --branches_;
    ended_ = false;
    for (const std::string_view name : names) forget(variables_[std::string(name)]);
  }

  std::string_view text_;
  Script& script_;
  std::vector<Span>& comments_;
  Variables variables_;
  std::map<std::string, int> times_set_;
  std::vector<TSNode> functions_;
  std::string folder_;
  int branches_ = 0, errors_ = 0;
  bool ended_ = false;  // the way ends the script
};

// `# a comment` in backticks is a command of nothing, which keeps a continued line going. The grammar lets the comment take the second
// backtick, and the script with it: the parser sees blanks.
std::string without_backtick_comments(std::string_view text) {
  std::string made(text);
  for (std::size_t at = 0; (at = made.find('`', at)) != std::string::npos; ++at) {
    if (at > 0 && made[at - 1] != ' ' && made[at - 1] != '\t' && made[at - 1] != '\n') continue;
    const std::size_t inner = made.find_first_not_of(" \t", at + 1);
    if (inner == std::string::npos || made[inner] != '#') continue;
    const std::size_t end = made.find_first_of("`\n", inner);
    if (end == std::string::npos || made[end] != '`') continue;
    std::fill(made.begin() + static_cast<std::ptrdiff_t>(at), made.begin() + static_cast<std::ptrdiff_t>(end) + 1, ' ');
  }
  return made;
}

} // namespace

bool read_shell(std::string_view text, Script& into, std::vector<Span>& comments) {
  const std::string readable = without_backtick_comments(text);
  const GrammarTree tree = tree_of(tree_sitter_bash(), readable);
  if (!tree) return false;
  const TSNode root = ts_tree_root_node(tree.get());
  Walk(text, into, comments).run(root);
  return !ts_node_has_error(root);
}

} // namespace stepzero::documents
