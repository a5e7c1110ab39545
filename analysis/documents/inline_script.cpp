#include "documents/inline_script.hpp"

#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>

namespace stepzero::documents {

namespace {

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool ends_command(char c) { return c == ';' || c == '&' || c == '|' || c == '\n'; }

class Splitter {
public:
  explicit Splitter(const Chars& script) : text_(script.text), at_(script.at) {}

  std::vector<std::vector<Chars>> split() {
    for (std::size_t i = 0; i < text_.size(); ++i) {
      const char c = text_[i];
      if (quote_ == '\'') {
        if (c == '\'')
          quote_ = 0;
        else
          put(c, i);
      } else if (c == '\\' && i + 1 < text_.size()) {
        if (text_[++i] != '\n') put(text_[i], i);
      } else if (c == '"' || (c == '\'' && quote_ == 0)) {
        quote_ = quote_ == c ? 0 : c;
        has_word_ = true;
      } else if (c == '$' || c == '`') {
        put(quote_ ? Chars::hole : Chars::words, i);
        i = after(i);
      } else if (quote_ == 0 && is_space(c)) {
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
  std::size_t after(std::size_t i) const {
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
    if (end < text_.size() && !std::isalpha(static_cast<unsigned char>(text_[end])) && text_[end] != '_')
      return end;
    while (end < text_.size() && syntax::is_word(text_[end])) ++end;
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

// ssh [-p PORT] host command…: the words of the command are joined, and are a script on the other machine.
Chars remote_script(const std::vector<Chars>& texts, std::string& within) {
  constexpr std::string_view with_value = "BbcDEeFIiJLlmOopQRSWw";
  std::size_t at = 1;
  while (at < texts.size() && texts[at].text.starts_with('-') && texts[at].text.size() > 1) {
    const bool takes_next = texts[at].text.size() == 2 &&
        with_value.find(texts[at].text[1]) != std::string_view::npos;
    at += takes_next ? 2 : 1;
  }
  Chars all;
  for (++at; at < texts.size(); ++at) {
    if (!all.text.empty()) all.add(' ', all.at.back());
    all.add(texts[at]);
  }
  if (!all.text.empty()) within = "ssh";
  return all;
}

bool is_shell(std::string_view word) {
  word.remove_prefix(word.rfind('/') + 1);
  return word == "bash" || word == "sh" || word == "zsh";
}

}  // namespace

bool reads_script(std::string_view command, std::string& within) {
  std::vector<std::string_view> words;
  while (!command.empty()) {
    const std::size_t begin = std::min(command.find_first_not_of(" \t"), command.size());
    const std::size_t end = std::min(command.find_first_of(" \t", begin), command.size());
    if (end > begin) words.push_back(command.substr(begin, end - begin));
    command.remove_prefix(end);
  }
  if (words.empty()) return false;
  if (words[0] == "sbatch") {
    within = words[0];
    // Else it is the script that is named.
    return std::none_of(words.begin() + 1, words.end(), [](std::string_view word) {
      return word.ends_with(".sh") || word.ends_with(".sbatch") || word.ends_with(".slurm");
    });
  }
  const bool on_other_host = words[0] == "ssh" || words[0] == "srun" || words[0] == "mpirun";
  if (on_other_host) within = words[0];
  const std::string_view last = words.back();
  const bool last_runs = is_shell(last) ||
      (words.size() > 1 && is_shell(words[words.size() - 2]) && last == "-s");
  return (on_other_host || words.size() <= 2) && (last_runs || (words[0] == "ssh" && words.size() == 2));
}

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
  if (texts[0].text == "ssh") return remote_script(texts, within);
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::string& word = texts[i].text;
    if (is_shell(word) && i + 2 < texts.size() && texts[i + 1].text.starts_with('-') &&
        texts[i + 1].text.ends_with('c')) {
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

}  // namespace stepzero::documents
