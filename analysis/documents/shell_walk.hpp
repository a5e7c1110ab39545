// The walk through a script of the shell, in the order in which it runs. Only for shell*.cpp.
#pragma once

#include "documents/expansion.hpp"
#include "documents/grammar.hpp"
#include "documents/shell.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace stepzero::documents {

constexpr std::size_t most_commands = 5'000;  // of a script, loops unrolled
constexpr std::size_t most_items = 4096;      // of an array
constexpr int deepest_command = 100;          // commands within commands: the stack has to hold

inline Span span_of(TSNode node) { return {ts_node_start_byte(node), ts_node_end_byte(node)}; }
inline std::string_view type_of(TSNode node) { return ts_node_type(node); }

// In one go: to ask for them one by one costs more the more there are.
inline std::vector<TSNode> named_children(TSNode node) {
  std::vector<TSNode> children;
  children.reserve(ts_node_named_child_count(node));
  TSTreeCursor cursor = ts_tree_cursor_new(node);
  if (ts_tree_cursor_goto_first_child(&cursor)) do {
      if (const TSNode child = ts_tree_cursor_current_node(&cursor); ts_node_is_named(child))
        children.push_back(child);
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
  ts_tree_cursor_delete(&cursor);
  return children;
}

class Walk {
public:
  Walk(std::string_view text, Script& script, std::vector<Span>& comments, const ShellReader& reader)
      : text_(text), script_(script), comments_(comments), reader_(reader) {
    Variable here;
    here.items.emplace_back().add('.', 0);
    variables_["PWD"] = here;
  }

  void run(TSNode root) {
    has_errors_ = ts_node_has_error(root);
    statements(root, 0);
    // A function sees the variables as they are when it is called: those that are set more than once are not
    // known.
    variables_.change_where([&](const NamedVariable& each) { return times_set_[each.name] > 1; },
        [](Variable& variable) { forget(variable); });
    ++branches_;
    for (std::size_t i = 0; i < functions_.size(); ++i) {
      if (called_.contains(functions_[i].first)) continue;
      const Variables before = variables_;
      statement(functions_[i].second, 1);
      variables_ = before;
    }
  }

private:
  std::string_view written(TSNode node) const {
    return text_.substr(ts_node_start_byte(node), ts_node_end_byte(node) - ts_node_start_byte(node));
  }

  static void forget(Variable& variable) { variable.forget(); }

  void statements(TSNode node, int depth) {
    for (const TSNode child : named_children(node)) statement(child, depth);
  }

  void statement(TSNode node, int depth) {
    if (depth > deepest_command || script_.commands.size() > most_commands) return;
    const std::string_view type = type_of(node);
    if (type == "comment") {
      if ((branches_ == 0 && iterations_ == 1) ||
          std::find(comments_.begin(), comments_.end(), span_of(node)) == comments_.end())
        comments_.push_back(span_of(node));
    } else if (type == "command") {
      command(node);
    } else if (type == "variable_assignment") {
      assignment(node, false);
    } else if (type == "declaration_command") {
      declaration(node);
    } else if (type == "unset_command") {
      for (std::uint32_t i = 0; i < ts_node_named_child_count(node); ++i)
        if (Variable* found = variables_.change(written(ts_node_named_child(node, i)))) forget(*found);
    } else if (type == "if_statement") {
      after(conditions_of(node), [&] { choice(node, depth); });
    } else if (type == "case_statement") {
      after(subject_of(node), [&] { cases(node, depth); });
    } else if (type == "for_statement" || type == "while_statement" || type == "c_style_for_statement") {
      loop(node, depth);
    } else if (type == "subshell") {
      const Variables before = variables_;
      const std::string folder = folder_;
      statements(node, depth + 1);
      variables_ = before;
      folder_ = folder;
    } else if (type == "function_definition") {
      const TSNode name = ts_node_child_by_field_name(node, "name", 4);
      const std::string key(ts_node_is_null(name) ? std::string_view() : written(name));
      functions_.emplace_back(key, ts_node_child_by_field_name(node, "body", 4));
      if (branches_ == 0 && !key.empty()) named_functions_[key] = functions_.back().second;
    } else if (type == "list") {
      list(node, depth);
    } else if (type == "ERROR") {
      ++errors_;
      statements(node, depth + 1);
      --errors_;
    } else if (type == "redirected_statement") {
      statements(node, depth + 1);
      redirected(node);
    } else if (type != "test_command" && type != "command_substitution" && type != "file_redirect" &&
        type != "heredoc_redirect") {
      statements(node, depth + 1);
    }
  }

  // The text from `if` to `then`, of all ways; what `case` compares.
  std::string conditions_of(TSNode node) const;
  std::string_view subject_of(TSNode node) const {
    const TSNode value = ts_node_child_by_field_name(node, "value", 5);
    return ts_node_is_null(value) ? std::string_view() : written(value);
  }

  // `a && b`: what follows may not run; it does where all goes well.
  void list(TSNode node, int depth);

  void all_by_default() {
    variables_.change_where([](const NamedVariable& each) { return !each.variable.by_default; },
        [](Variable& variable) { variable.by_default = true; });
  }

  void assign(const std::string& name, Variable made) {
    ++times_set_[name];
    Variable& variable = variables_[name];
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
    const TSNode name = ts_node_child_by_field_name(node, "name", 4),
                 value = ts_node_child_by_field_name(node, "value", 5);
    if (ts_node_is_null(name)) return;
    if (type_of(name) != "variable_name") {
      const std::string_view all = written(name);
      if (Variable* found = variables_.change(all.substr(0, all.find('[')))) forget(*found);
      return;
    }
    bool appendable = false;
    Variable made = valued(value, appendable);
    made.name_span = span_of(name);
    made.is_exported = exported;
    std::string key(written(name));
    const std::size_t after = ts_node_end_byte(name);
    if (after < text_.size() && text_[after] == '+') {
      Variable before;
      if (const Variable* found = variables_.find(key))
        before = *found;
      else
        forget(before);
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
    assign(key, std::move(made));
  }

  Setting setting(const std::string& name, const Variable& variable) const {
    Setting made;
    made.name = name;
    made.name_span = variable.name_span;
    if (!variable.items.empty()) made.value = word(variable.items.front(), variable.name_span);
    made.value.by_default = variable.by_default;
    return made;
  }
  void note_export(const std::string& name, const Variable& variable) {
    script_.exports.push_back(setting(name, variable));
  }

  void declaration(TSNode node);

  Word word(const Chars& chars, Span span) const {
    Word made;
    made.text = chars.text;
    made.span = span;
    made.written = span;
    if (!chars.at.empty()) {
      made.written = {chars.at.front(), chars.at.back() + 1};
      // Text of several places has no place of its own.
      if (chars.at.back() < chars.at.front() || chars.at.back() - chars.at.front() > 2 * chars.at.size() + 2)
        made.written = span;
    }
    return made;
  }

  void words(Span span, ShellCommand& into, std::vector<Chars>& texts) {
    Expansion expansion(text_, variables_);
    expansion.add(span);
    std::vector<Chars> made = expansion.take();
    // Nothing by default: there may be words.
    if (made.empty() && expansion.by_default()) made.emplace_back().add(Chars::words, span.begin);
    for (const Chars& chars : made) {
      into.words.push_back(word(chars, span));
      into.words.back().by_default = expansion.by_default();
    }
    texts.insert(texts.end(), made.begin(), made.end());
  }

  // The grammar makes two of "$a/$b/c" at times: what no blank parts is one.
  void add_word(Span span, std::vector<Span>& all) const {
    const bool parted = all.empty() ||
        text_.substr(all.back().end, span.begin - all.back().end).find_first_of(" \t\r\n") !=
            std::string_view::npos;
    if (parted)
      all.push_back(span);
    else
      all.back().end = span.end;
  }

  void command(TSNode node) {
    ShellCommand made;
    made.span = span_of(node);
    made.is_conditional = branches_ > 0;
    made.is_broken = errors_ > 0 || (has_errors_ && (ts_node_has_error(node) || is_cut_off(node)));
    made.folder = folder_;
    for (const auto& [name, variable] : variables_)
      if (variable.is_exported) made.environment.push_back(setting(name, variable));
    std::vector<Span> written_words;
    for (const TSNode child : named_children(node)) {
      const std::string_view type = type_of(child);
      if (type == "variable_assignment") {
        const TSNode name = ts_node_child_by_field_name(child, "name", 4);
        bool appendable = false;
        Variable value = valued(ts_node_child_by_field_name(child, "value", 5), appendable);
        value.name_span = span_of(name);
        made.environment.push_back(setting(std::string(written(name)), value));
      } else if (type != "comment" && !type.ends_with("redirect")) {
        add_word(span_of(child), written_words);
      } else if (type == "comment" && iterations_ == 1) {
        comments_.push_back(span_of(child));
      }
    }
    std::vector<Chars> texts;
    for (const Span span : written_words) words(span, made, texts);
    if (made.words.empty()) return;
    builtin(made);
    take_settings(made);
    const std::string name = made.words.front().text;
    const bool has_inner = inner_commands(made, texts);
    if (!has_inner) script_.commands.push_back(std::move(made));
    if (const auto called = named_functions_.find(name); called != named_functions_.end())
      call(name, called->second, std::move(texts));
  }

  // `env NAME=value program`: as if it stood before the command.
  static void take_settings(ShellCommand& command);

  // bash -c "cd there; torchrun …": false where the command holds none.
  bool inner_commands(const ShellCommand& outer, const std::vector<Chars>& texts);

  void keep_for_caller(std::string_view name);

  // A call of a function of the script: with its arguments, and with the variables as they are now.
  void call(const std::string& name, TSNode body, std::vector<Chars> texts);

  // Does what cannot be read follow right after it?
  static bool is_cut_off(TSNode node) {
    for (; !ts_node_is_null(node); node = ts_node_parent(node))
      if (const TSNode next = ts_node_next_sibling(node); !ts_node_is_null(next))
        return ts_node_is_error(next) || ts_node_is_missing(next);
    return false;
  }

  void builtin(const ShellCommand& command);

  // `source env.sh`: runs in this shell.
  void source(const ShellCommand& command);

  // read -d '' NAME <<EOF, bash <<EOF
  void redirected(TSNode node);

  // The variables are what they are on both ways, or unknown.
  void join(const Variables& other, std::string_view condition = {});

  // One way of several, from the state before; what it leaves is joined into `result` unless it ends the
  // script.
  template <class Body> void way(const Variables& before, std::vector<Variables>& results, const Body& body) {
    variables_ = before;
    ended_ = false;
    ++branches_;
    body();
    --branches_;
    if (!ended_) results.push_back(variables_);
    ended_ = false;
  }
  void meet(std::vector<Variables>& results, const Variables& before, std::string_view condition) {
    if (results.empty()) {
      variables_ = before;
      return;
    }
    variables_ = results.front();
    for (std::size_t i = 1; i < results.size(); ++i) join(results[i], condition);
  }

  void choice(TSNode node, int depth);

  void cases(TSNode node, int depth);

  void names_set(TSNode node, std::set<std::string_view>& names) const;

  // Round for round where the text names all values; else what it sets is not known in it, nor after it. What
  // a loop over the arguments of the script sets is by default what it was: without arguments there is no
  // round.
  void loop(TSNode node, int depth);
  bool reads_arguments(TSNode loop) const;
  bool rounds(TSNode node, const std::set<std::string_view>& names, int depth);
  // The values that the variable of the loop takes; nothing if not all are in the text.
  std::optional<Variable> values_of(TSNode loop);
  bool leaves_early(TSNode node) const;

  // Does the name stand in the text as a word?
  static bool names_variable(std::string_view text, std::string_view name);

  // Runs `body` behind a condition. One that asks what the rounds of a loop differ in chooses among them:
  // what they set is not known after it.
  template <class Body> void after(std::string_view condition, const Body& body) {
    const bool chooses = std::any_of(set_in_iterations_.begin(), set_in_iterations_.end(),
        [&](std::string_view name) { return names_variable(condition, name); });
    if (!chooses) return body();
    std::vector<std::pair<std::string_view, std::pair<Variable, int>>> kept;
    for (const std::string_view name : set_in_iterations_)
      if (Variable* found = variables_.change(name)) {
        kept.push_back({name, {*found, times_set_[std::string(name)]}});
        forget(*found);
      }
    body();
    for (auto& [name, before] : kept)
      if (Variable* found = variables_.change(name); found && times_set_[std::string(name)] == before.second)
        *found = std::move(before.first);
  }

  std::string_view text_;
  Script& script_;
  std::vector<Span>& comments_;
  const ShellReader& reader_;
  Variables variables_;
  std::map<std::string, int> times_set_;
  std::vector<std::pair<std::string, TSNode>> functions_;
  std::map<std::string, TSNode> named_functions_;  // those that are defined for certain
  std::set<std::string> called_;
  std::vector<std::pair<std::string, std::optional<Variable>>>
      for_caller_;  // what the locals of a function hide
  int calls_ = 0;
  std::string folder_;
  std::vector<std::string_view> set_in_iterations_;  // by loops that are walked round for round
  int iterations_ = 1;                               // of all loops around, multiplied
  int branches_ = 0, errors_ = 0, branches_at_call_ = 0, sourced_ = 0;
  bool ended_ = false;  // the way ends the script
  bool has_errors_ = true;
};

}  // namespace stepzero::documents
