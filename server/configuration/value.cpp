#include "server/configuration/value.hpp"

#include "footprint/text.hpp"
#include "server/configuration/suggestion.hpp"

#include <algorithm>

namespace stepzero::server {
namespace {

std::string_view kind_name(Value::Kind kind) {
  switch (kind) {
  case Value::Kind::string: return "a string";
  case Value::Kind::number: return "a number";
  case Value::Kind::boolean: return "a boolean";
  case Value::Kind::list: return "a list";
  case Value::Kind::table: return "a table";
  case Value::Kind::nothing: return "nothing";
  case Value::Kind::other: break;
  }
  return "this";
}

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

// "a", "b" or "c"
std::string alternatives(const std::vector<std::string>& words) {
  std::string result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) result += i + 1 == words.size() ? " or " : ", ";
    result += in_quotes(words[i]);
  }
  return result;
}

class Interpreter {
public:
  explicit Interpreter(const std::vector<std::string>& known_rules) : known_rules_(known_rules) {}

  Meaning run(const Value& table) {
    for (const Entry& entry : table.entries) read(entry);
    return std::move(meaning_);
  }

private:
  void read(const Entry& entry) {
    const std::string& key = entry.key;
    Layer& layer = meaning_.layer;
    if (entry.value.kind == Value::Kind::nothing) return;
    if (key == "select") return rule_list(entry, layer.select);
    if (key == "ignore") return rule_list(entry, layer.ignore);
    if (key == "exclude")
      return text_list(
          entry, "a list of patterns as in .gitignore, such as [\"build/\", \"**/vendored\"]", layer.exclude);
    if (key == "library-folders")
      return text_list(entry,
          "a list of folders, such as [\".venv\", \"/opt/env/lib/python3.11/site-packages\"]",
          layer.library_folders);
    if (key == "severity") return severities(entry);
    if (key == "min-severity") return severity(entry, layer.min_severity);
    if (key == "fail-on") return severity(entry, layer.fail_on);
    if (key == "inlay-hints") return inlay_hints(entry);
    if (key == "gpu-memory") return size(entry, layer.gpu_memory);
    const std::string near = nearest_word(key, keys());
    problem(entry.where, "There is no setting " + in_quotes(key) + did_you_mean(key, keys()) + ".", near);
  }

  static const std::vector<std::string>& keys() {
    static const std::vector<std::string> all = {"select", "ignore", "severity", "min-severity", "fail-on",
        "exclude", "inlay-hints", "gpu-memory", "library-folders"};
    return all;
  }

  void problem(syntax::Span where, std::string message, std::string replacement = {}) {
    meaning_.problems.push_back({where, std::move(message), std::move(replacement)});
  }

  bool expect(const std::string& key, const Value& value, Value::Kind kind, std::string_view takes) {
    if (value.kind == kind) return true;
    problem(value.where,
        in_quotes(key) + " takes " + std::string(takes) + ", not " + std::string(kind_name(value.kind)) +
            ".");
    return false;
  }

  bool known(const std::string& rule, syntax::Span where, bool is_key) {
    if (std::find(known_rules_.begin(), known_rules_.end(), rule) != known_rules_.end()) return true;
    const std::string near = nearest_word(rule, known_rules_);
    const bool quotes = !is_key || near.find('/') != std::string::npos;
    problem(where, "There is no rule " + in_quotes(rule) + did_you_mean(rule, known_rules_) + ".",
        near.empty() || !quotes ? near : in_quotes(near));
    return false;
  }

  void rule_list(const Entry& entry, std::optional<std::vector<std::string>>& into) {
    constexpr std::string_view takes =
        "a list of rules and families, such as [\"deadlock\", \"shape/matmul\"]";
    if (!expect(entry.key, entry.value, Value::Kind::list, takes)) return;
    std::vector<std::string> names;
    bool any_wrong = false;
    for (const Value& item : entry.value.items) {
      if (expect(entry.key, item, Value::Kind::string, takes) && known(item.text, item.where, false)) {
        names.push_back(item.text);
      } else {
        any_wrong = true;
      }
    }
    // An empty `select` means every rule, which is not what a list of misspelled names asks for; but checking
    // too much is safer than checking nothing.
    if (!any_wrong || !names.empty()) into = std::move(names);
  }

  void text_list(const Entry& entry, std::string_view takes, std::optional<std::vector<std::string>>& into) {
    if (!expect(entry.key, entry.value, Value::Kind::list, takes)) return;
    std::vector<std::string> texts;
    for (const Value& item : entry.value.items) {
      if (expect(entry.key, item, Value::Kind::string, takes)) texts.push_back(item.text);
    }
    into = std::move(texts);
  }

  void severities(const Entry& entry) {
    if (!expect(
            entry.key, entry.value, Value::Kind::table, "a table of rules, such as {\"loop\" = \"warning\"}"))
      return;
    for (const Entry& rule : entry.value.entries) {
      if (rule.value.kind == Value::Kind::nothing || !known(rule.key, rule.where, true)) continue;
      if (!expect("severity", rule.value, Value::Kind::string, alternatives(severity_words(true)))) continue;
      if (rule.value.text == "off") {
        meaning_.layer.severity[rule.key] = std::nullopt;
      } else if (const auto parsed = parse_severity(rule.value.text)) {
        meaning_.layer.severity[rule.key] = parsed;
      } else {
        not_one_of("severity", rule.value, severity_words(true));
      }
    }
  }

  static std::vector<std::string> severity_words(bool with_off) {
    std::vector<std::string> words = {"error", "warning", "information", "hint"};
    if (with_off) words.emplace_back("off");
    return words;
  }

  void not_one_of(const std::string& key, const Value& value, const std::vector<std::string>& words) {
    const std::string near = nearest_word(value.text, words);
    problem(value.where,
        in_quotes(key) + " takes " + alternatives(words) + ", not " + in_quotes(value.text) + ".",
        near.empty() ? near : in_quotes(near));
  }

  void severity(const Entry& entry, std::optional<rules::Severity>& into) {
    const std::vector<std::string> words = severity_words(false);
    if (!expect(entry.key, entry.value, Value::Kind::string, alternatives(words))) return;
    const auto parsed = parse_severity(entry.value.text);
    if (parsed) {
      into = parsed;
    } else {
      not_one_of(entry.key, entry.value, words);
    }
  }

  void size(const Entry& entry, std::optional<std::int64_t>& into) {
    constexpr std::string_view takes = "a size such as \"80GB\"";
    if (!expect(entry.key, entry.value, Value::Kind::string, takes)) return;
    if (const auto parsed = footprint::parse_size(entry.value.text))
      into = parsed;
    else
      problem(entry.value.where,
          in_quotes(entry.key) + " takes " + std::string(takes) + ", not " + in_quotes(entry.value.text) +
              ".");
  }

  void inlay_hints(const Entry& entry) {
    const std::vector<std::string> words = {"on", "named", "off"};
    if (!expect(entry.key, entry.value, Value::Kind::string, alternatives(words))) return;
    const auto word = std::find(words.begin(), words.end(), entry.value.text);
    if (word == words.end()) return not_one_of(entry.key, entry.value, words);
    meaning_.layer.inlay_hints = static_cast<InlayHints>(word - words.begin());
  }

  const std::vector<std::string>& known_rules_;
  Meaning meaning_;
};

}  // namespace

Meaning interpret(const Value& table, const std::vector<std::string>& known_rules) {
  return Interpreter(known_rules).run(table);
}

}  // namespace stepzero::server
