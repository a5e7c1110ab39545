#include "documents/inline_script.hpp"

#include <cctype>
#include <string_view>

namespace stepzero::documents {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_command(char c) { return c == ';' || c == '&' || c == '|' || c == '\n'; }

class Splitter {
public:
  explicit Splitter(const Chars& script) : text_(script.text), at_(script.at) {}

  std::vector<std::vector<Chars>> split() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote_ == '\'') {
        if (c == '\'') quote_ = 0;
        else put(c, i);
      } else if (c == '\\' && i + 1 < text_.size()) {
        if (text_[++i] != '\n') put(text_[i], i);
      } else if (c == '"' || (c == '\'' && quote_ == 0)) {
        quote_ = quote_ == c ? 0 : c;
        has_word_ = true;
      } else if (c == '$' || c == '`') {
        put(quote_ ? Chars::hole : Chars::words, i);
        i = behind(i);
      } else if (quote_ == 0 && is_blank(c)) {
        end_word();
      } else if (quote_ == 0 && ends_command(c)) {
        end_command();
      } else {
        put(c, i);
      }
    }
    end_command();
    return std::move(commands_);
  }

private:
  void put(char c, std::size_t i) { word_.add(c, at_[i]), has_word_ = true; }
  void end_word() {
    if (has_word_) words_.push_back(std::move(word_));
    word_ = {}, has_word_ = false;
  }
  void end_command() {
    end_word();
    if (!words_.empty()) commands_.push_back(std::move(words_));
    words_.clear();
  }
  // The last byte of what begins with `$` or a backtick.
  std::size_t behind(std::size_t i) const {
    if (text_[i] == '`') return std::min(text_.find('`', i + 1), text_.size());
    std::size_t end = i + 1;
    if (end < text_.size() && (text_[end] == '{' || text_[end] == '(')) {
      const char open = text_[end], close = open == '{' ? '}' : ')';
      int depth = 0;
      for (; end < text_.size(); ++end) {
        depth += text_[end] == open;
        depth -= text_[end] == close;
        if (depth == 0) break;
      }
      return end;
    }
    if (end < text_.size() && !std::isalpha(static_cast<unsigned char>(text_[end])) && text_[end] != '_') return end;
    while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) || text_[end] == '_')) ++end;
    return end - 1;
  }

  const std::string& text_;
  const std::vector<std::uint32_t>& at_;
  std::vector<std::vector<Chars>> commands_;
  std::vector<Chars> words_;
  Chars word_;
  bool has_word_ = false;
  char quote_ = 0;
};

bool is_shell(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);
  return word == "bash" || word == "sh" || word == "zsh";
}

} // namespace

std::vector<std::vector<Chars>> inline_commands(const Chars& script) { return Splitter(script).split(); }

Chars inline_script_of(const std::vector<Chars>& texts, std::string& within) {
  constexpr std::string_view wrap = "--wrap=";
  if (texts.empty()) return {};
  if (texts[0].text == "eval") {
    Chars all;
    for (std::size_t i = 1; i < texts.size(); ++i) {
      if (i > 1) all.add(' ', all.at.empty() ? 0 : all.at.back());
      all.add(texts[i]);
    }
    return all;
  }
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& word = texts[i].text;
    if (is_shell(word) && i + 2 < texts.size() && texts[i + 1].text.starts_with('-') && texts[i + 1].text.ends_with('c')) {
      if (i > 0) within = texts[0].text;
      return texts[i + 2];
    }
    if (texts[0].text != "sbatch") continue;
    within = texts[0].text;
    if (word == "--wrap" && i + 1 < texts.size()) return texts[i + 1];
    if (word.starts_with(wrap)) {
      Chars script;
      script.text = word.substr(wrap.size());
      script.at.assign(texts[i].at.begin() + static_cast<std::ptrdiff_t>(wrap.size()), texts[i].at.end());
      return script;
    }
  }
  return {};
}

} // namespace stepzero::documents
