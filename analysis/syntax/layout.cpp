#include "syntax/layout.hpp"

#include <algorithm>
#include <array>

namespace stepzero::syntax {
namespace {

enum class Class : std::uint8_t { plain, newline, quote, open, close, hash, backslash };

constexpr std::array<Class, 256> make_classes() {
  std::array<Class, 256> table{};
  table['\n'] = table['\r'] = Class::newline;
  table['"'] = table['\''] = Class::quote;
  table['('] = table['['] = table['{'] = Class::open;
  table[')'] = table[']'] = table['}'] = Class::close;
  table['#'] = Class::hash;
  table['\\'] = Class::backslash;
  return table;
}
constexpr std::array<Class, 256> classes = make_classes();

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\f'; }
bool is_newline(char c) { return c == '\n' || c == '\r'; }

struct KnownWord {
  std::string_view text;
  Word word;
  bool statement;  // cannot stand at the begin of a line inside brackets
};
constexpr KnownWord known_words[] = {
    {"def", Word::def, true},
    {"class", Word::class_, true},
    {"async", Word::async, false},
    {"if", Word::if_, false},
    {"for", Word::for_, false},
    {"while", Word::while_, true},
    {"try", Word::try_, true},
    {"with", Word::with, true},
    {"elif", Word::elif, true},
    {"else", Word::else_, false},
    {"except", Word::except, true},
    {"finally", Word::finally, true},
    {"import", Word::other, true},
    {"return", Word::other, true},
    {"raise", Word::other, true},
    {"assert", Word::other, true},
    {"del", Word::other, true},
    {"pass", Word::other, true},
    {"break", Word::other, true},
    {"continue", Word::other, true},
    {"global", Word::other, true},
    {"nonlocal", Word::other, true},
};

class Scanner {
public:
  Scanner(std::string_view text, bool recover) : text_(text), recover_(recover) {}

  // False if a triple-quoted string has no end.
  bool run(Layout& out) {
    if (text_.starts_with("\xef\xbb\xbf")) at_ = 3;
    while (at_ < text_.size()) logical_line(out);
    return !unterminated_;
  }

private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }

  std::string_view word_at(std::size_t begin) const {
    std::size_t end = begin;
    while (end < text_.size() && is_name_byte(text_[end])) ++end;
    return text_.substr(begin, end - begin);
  }
  std::size_t skip_blanks(std::size_t at) const {
    while (at < text_.size() && is_blank(text_[at])) ++at;
    return at;
  }
  std::size_t next_physical(std::size_t at) const {
    while (at < text_.size() && !is_newline(text_[at])) ++at;
    if (at + 1 < text_.size() && text_[at] == '\r' && text_[at + 1] == '\n') ++at;
    return at < text_.size() ? at + 1 : at;
  }
  const KnownWord* keyword_at(std::size_t at) const {
    if (at >= text_.size() || text_[at] < 'a' || text_[at] > 'w') return nullptr;
    const std::string_view word = word_at(at);
    for (const KnownWord& keyword : known_words)
      if (keyword.text == word) return &keyword;
    return nullptr;
  }

  // Whether the line whose first code is at `at` starts a statement even though brackets are open before it.
  bool breaks_out(std::size_t at) const {
    if (at >= text_.size()) return false;
    if (text_[at] == '@') {
      for (int most = 16; most > 0 && at < text_.size() && text_[at] == '@'; --most)
        at = skip_blanks(next_physical(at));
      if (at < text_.size() && text_[at] == '@') return false;
      const KnownWord* keyword = keyword_at(at);
      if (keyword && keyword->word == Word::async) return breaks_out(at);
      return keyword && (keyword->word == Word::def || keyword->word == Word::class_);
    }
    if (const KnownWord* keyword = keyword_at(at)) {
      if (keyword->word == Word::async) {
        const std::string_view next = word_at(skip_blanks(at + 5));
        return next == "def" || next == "with";
      }
      // `with=1` and the like are no Python, but `print(pass_)` is never reached here: words are compared
      // whole.
      return keyword->statement;
    }
    if (word_at(at) == "case") {  // a soft keyword: `case x` and `case "x"` can be nothing else
      const std::size_t next = skip_blanks(at + 4);
      if (next == at + 4 || next >= text_.size()) return false;
      const std::string_view word = word_at(next);
      const bool operates = word == "in" || word == "is" || word == "if" || word == "and" || word == "or" ||
          word == "not" || word == "for" || word == "else" || word == "async";
      return text_[next] == '"' || text_[next] == '\'' || (!word.empty() && !operates);
    }
    if (word_at(at) == "from") {
      std::size_t module = skip_blanks(at + 4);
      while (module < text_.size() && (is_name_byte(text_[module]) || text_[module] == '.')) ++module;
      return word_at(skip_blanks(module)) == "import";
    }
    return false;
  }

  std::uint32_t indentation() {
    std::uint32_t columns = 0;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == ' ') {
        ++columns;
      } else if (c == '\t') {
        columns = (columns / 8 + 1) * 8;
      } else if (c == '\f') {
        columns = 0;
      } else {
        break;
      }
    }
    return columns;
  }

  void newline() {
    if (peek() == '\r' && peek(1) == '\n') ++at_;
    ++at_;
  }

  void comment(Layout& out) {
    std::size_t before = at_;
    while (before > 0 && is_blank(text_[before - 1])) --before;
    const bool trailing = before > (text_.starts_with("\xef\xbb\xbf") ? 3U : 0U) &&
        !is_newline(text_[before - 1]);
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_newline(text_[at_])) ++at_;
    out.comments.push_back({{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(at_)}, trailing});
  }

  void string(std::uint32_t indent) {
    const char quote = peek();
    if (peek(1) == quote && peek(2) == quote) return triple(quote, indent);
    for (++at_; at_ < text_.size() && !is_newline(text_[at_]); ++at_) {
      if (text_[at_] == quote) {
        ++at_;
        return;
      }
      if (text_[at_] == '\\') {
        if (peek(1) == '\r' && peek(2) == '\n') ++at_;
        ++at_;
      }
    }
  }

  void triple(char quote, std::uint32_t indent) {
    const std::size_t begin = at_;
    for (at_ += 3; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\\') {
        ++at_;
      } else if (text_[at_] == quote && peek(1) == quote && peek(2) == quote) {
        at_ += 3;
        if (recover_ && holds_definition(begin, at_, indent)) at_ = line_end(begin);
        return;
      }
    }
    at_ = text_.size();
    if (recover_) {
      at_ = line_end(begin);
    } else {
      unterminated_ = true;
    }
  }

  std::size_t line_end(std::size_t at) const {
    while (at < text_.size() && !is_newline(text_[at])) ++at;
    return at;
  }

  // Whether the would-be string [begin, end) holds a definition further left than the line it began in.
  bool holds_definition(std::size_t begin, std::size_t end, std::uint32_t indent) const {
    for (std::size_t at = begin; at < end; ++at) {
      if (!is_newline(text_[at])) continue;
      const std::size_t line = at + 1;
      const std::size_t code = skip_blanks(line);
      const KnownWord* keyword = keyword_at(code);
      if (!keyword ||
          (keyword->word != Word::def && keyword->word != Word::class_ && keyword->word != Word::async))
        continue;
      if (code == line || code - line < indent) return true;
    }
    return false;
  }

  void logical_line(Layout& out) {
    Line line;
    line.indent = indentation();
    if (at_ >= text_.size()) return;
    if (is_newline(peek())) return newline();
    if (peek() == '#') return comment(out);
    line.begin = static_cast<std::uint32_t>(at_);
    if (peek() == '@') {
      line.word = Word::decorator;
    } else if (const KnownWord* keyword = keyword_at(at_)) {
      line.word = keyword->word;
    }
    std::size_t depth = 0;
    std::size_t code_end = 0;
    while (at_ < text_.size()) {
      const Class kind = classes[static_cast<unsigned char>(text_[at_])];
      if (kind == Class::plain || kind == Class::open || kind == Class::close) {
        if (kind == Class::open) ++depth;
        if (kind == Class::close && depth > 0) --depth;
        if (!is_blank(text_[at_])) code_end = at_ + 1;
        ++at_;
      } else if (kind == Class::quote) {
        string(line.indent);
        code_end = at_;
      } else if (kind == Class::backslash) {
        ++at_;
        code_end = at_;
        if (is_newline(peek())) newline();
      } else if (kind == Class::hash) {
        comment(out);
        line.end = static_cast<std::uint32_t>(at_);
      } else {
        newline();
        const std::size_t next = at_;
        if (depth == 0) break;
        indentation();
        if (breaks_out(at_)) {
          at_ = next;
          break;
        }
      }
    }
    code_end = std::min(code_end, text_.size());
    line.opens = code_end > 0 && text_[code_end - 1] == ':';
    line.end = std::max(line.end, static_cast<std::uint32_t>(code_end));
    out.lines.push_back(line);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  bool recover_;
  bool unterminated_ = false;
};

bool is_clause(Word word) { return word >= Word::elif; }
bool takes_clause(Word word) { return word >= Word::async && word <= Word::try_; }
bool is_decorated(Word word) { return word >= Word::decorator && word <= Word::async; }

}  // namespace

Layout layout(std::string_view text) {
  Layout out;
  if (!Scanner(text, false).run(out)) {
    out = {};
    Scanner(text, true).run(out);
    out.recovered = true;
  }
  return out;
}

std::size_t statement_end(const std::vector<Line>& lines, std::size_t first, std::size_t last) {
  const std::uint32_t indent = lines[first].indent;
  std::size_t at = first;
  while (lines[at].word == Word::decorator && at + 1 < last && lines[at + 1].indent == indent &&
      is_decorated(lines[at + 1].word))
    ++at;
  const Line& head = lines[at++];
  if (!head.opens && (head.word == Word::other || head.word == Word::decorator)) return at;
  for (; at < last; ++at) {
    if (lines[at].indent > indent) continue;
    if (lines[at].indent < indent || !is_clause(lines[at].word) || !takes_clause(head.word)) break;
  }
  return at;
}

bool too_long(std::string_view text) {
  while (text.size() > longest_line) {
    const std::size_t end = text.rfind('\n', longest_line);
    if (end == text.npos) return true;
    text.remove_prefix(end + 1);
  }
  return false;
}

}  // namespace stepzero::syntax
