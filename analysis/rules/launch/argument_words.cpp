#include "rules/launch/argument_words.hpp"

#include <algorithm>

namespace stepzero::rules::launch {

using documents::Chars;

namespace {

bool is_like_a_number(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && (word[1] == '.' || (word[1] >= '0' && word[1] <= '9'));
}

class Sight {
public:
  Sight(const Word& word, const ScriptOptions& options, int parser)
      : word_(word), options_(options), parser_(parser) {}

  Seen see() const {
    Seen made;
    made.flag = word_;
    const std::string& text = word_.text;
    if (text.find(Chars::words) != std::string::npos) return made.kind = WordKind::any, made;
    if (text.starts_with(Chars::hole)) return made.kind = WordKind::unsure, made;
    if (text == "--") return made.kind = WordKind::separator, made;
    if (!text.starts_with('-') || text.size() == 1) return made;
    const std::size_t equals = std::min(text.find('='), text.size());
    made.flag.text = text.substr(0, equals);
    if (!made.flag.is_known()) return made.kind = WordKind::unsure_flag, made;
    if (equals < text.size()) {
      made.attached = word_;
      made.attached->text = text.substr(equals + 1);
    }
    std::size_t same = 0;
    for (const DeclaredOption& option : options_.options)
      if (is_of(option) &&
          std::find(option.flags.begin(), option.flags.end(), made.flag.text) != option.flags.end())
        made.option = &option, ++same;
    if (same == 1) return made.kind = WordKind::flag, made;
    if (same > 1) return made.kind = WordKind::unsure_flag, made;
    if (is_like_a_number(text)) return made;
    if (!text.starts_with("--")) return short_flag(std::move(made), text);
    if (made.flag.text == "--help") return made.kind = WordKind::unsure_flag, made;
    if (const auto begun = begun_by(made.flag.text); !begun.empty()) {
      made.option = begun.front();
      return made.kind = begun.size() == 1 ? WordKind::flag : WordKind::unsure_flag, made;
    }
    if (text.find(' ') != std::string::npos && equals == text.size())
      return made.kind = WordKind::value, made;
    made.kind = WordKind::other_flag;
    return made;
  }

  // The options that the beginning of a name stands for.
  std::vector<const DeclaredOption*> begun_by(const std::string& text) const {
    std::vector<const DeclaredOption*> found;
    for (const DeclaredOption& option : options_.options)
      if (options_.abbreviations && is_of(option) &&
          std::any_of(option.flags.begin(), option.flags.end(),
              [&](const std::string& name) { return name.starts_with(text); }))
        found.push_back(&option);
    return found;
  }

  // "-l3" is "-l 3"; "-lr" may be it, too.
  Seen short_flag(Seen made, const std::string& text) const {
    made.kind = WordKind::unsure_flag;
    if (text.starts_with("-h")) return made;
    for (const DeclaredOption& option : options_.options)
      for (const std::string& name : option.flags)
        if (is_of(option) && !name.starts_with("--") &&
            (text.starts_with(name.substr(0, 2)) || name.starts_with(text)))
          return made;
    if (text.find(' ') != std::string::npos)
      made.kind = WordKind::value;
    else if (options_.one_parser && !options_.of_dataclasses)
      made.kind = WordKind::other_flag;
    return made;
  }

private:
  bool is_of(const DeclaredOption& option) const { return option.parser == parser_; }

  const Word& word_;
  const ScriptOptions& options_;
  const int parser_;
};

}  // namespace

Seen see(const Word& word, const ScriptOptions& options, int parser) {
  return Sight(word, options, parser).see();
}

std::vector<std::string_view> beginnings(const ScriptOptions& options, std::string_view flag) {
  std::vector<std::string_view> found;
  for (const std::string_view name : options.names())
    if (name.starts_with(flag) && std::find(found.begin(), found.end(), name) == found.end())
      found.push_back(name);
  return found;
}

}  // namespace stepzero::rules::launch
