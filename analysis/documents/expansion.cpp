#include "documents/expansion.hpp"

#include "syntax/text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace stepzero::documents {

namespace {

constexpr std::size_t most_words = 4096;  // of one command: a list of all files of a run would be more
constexpr std::int64_t largest_number = 1'000'000'000;  // so that a product fits into 64 bits

// The script's own path, of which the name is of no matter.
Chars own_path(std::size_t at) {
  Chars made;
  for (const char c : {Chars::own, '/', '$'}) made.add(c, static_cast<std::uint32_t>(at));
  return made;
}

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

// Sums and products of numbers and variables, as $((…)) has them.
class Arithmetic {
public:
  Arithmetic(std::string_view text, const Variables& variables) : text_(text), variables_(variables) {}
  std::optional<std::int64_t> value() {
    const auto made = sum();
    skip();
    return at_ == text_.size() ? made : std::nullopt;
  }
  bool by_default = false;

private:
  void skip() {
    while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  std::optional<std::int64_t> sum() {
    auto left = product();
    while (left) {
      const bool plus = take('+');
      if (!plus && !take('-')) break;
      const auto right = product();
      if (!right) return std::nullopt;
      left = plus ? *left + *right : *left - *right;
      if (std::abs(*left) > largest_number * largest_number) return std::nullopt;
    }
    return left;
  }
  std::optional<std::int64_t> product() {
    auto left = atom();
    while (left) {
      const char op = take('*') ? '*' : take('/') ? '/' : take('%') ? '%' : 0;
      if (!op) break;
      const auto right = atom();
      if (!right || (op != '*' && *right == 0) || std::abs(*left) > largest_number ||
          std::abs(*right) > largest_number)
        return std::nullopt;
      left = op == '*' ? *left * *right : op == '/' ? *left / *right : *left % *right;
    }
    return left;
  }
  std::optional<std::int64_t> atom() {
    if (take('(')) {
      const auto inner = sum();
      return take(')') ? inner : std::nullopt;
    }
    const bool dollar = take('$');
    const bool braced = take('{');
    skip();
    std::size_t end = at_;
    while (end < text_.size() && syntax::is_word(text_[end])) ++end;
    std::string_view word = text_.substr(at_, end - at_);
    at_ = end;
    if (braced && !take('}')) return std::nullopt;
    if (dollar && !word.empty() && std::isdigit(static_cast<unsigned char>(word.front())))
      return std::nullopt;  // an argument
    if (const Variable* found = variables_.find(word)) {
      if (found->items.size() != 1) return std::nullopt;
      by_default = by_default || found->by_default;
      word = found->items.front().text;
    }
    std::int64_t number = 0;
    const auto [stop, failure] = std::from_chars(word.data(), word.data() + word.size(), number);
    return !word.empty() && failure == std::errc() && stop == word.data() + word.size() &&
            number <= largest_number
        ? std::optional(number)
        : std::nullopt;
  }

  std::string_view text_;
  const Variables& variables_;
  std::size_t at_ = 0;
};

}  // namespace

bool Variable::operator==(const Variable& other) const {
  return is_array == other.is_array &&
      std::equal(items.begin(), items.end(), other.items.begin(), other.items.end(),
          [](const Chars& a, const Chars& b) { return a.text == b.text; });
}

void Variable::forget() {
  is_array = false;
  Chars unknown;
  unknown.add(Chars::words, name_span.begin);
  items = {unknown};
}

// How many bytes of the shorter text are words that both begin with, quotes and all.
static std::size_t whole_words_of_both(std::string_view shorter, std::string_view longer) {
  if (longer.starts_with(shorter)) return shorter.size();
  const auto apart = std::mismatch(shorter.begin(), shorter.end(), longer.begin(), longer.end()).first;
  const std::size_t end = shorter.substr(0, static_cast<std::size_t>(apart - shorter.begin())).rfind(' ');
  if (end == std::string_view::npos) return 0;
  const std::string_view both = shorter.substr(0, end);
  const bool is_quoted = std::count(both.begin(), both.end(), '\'') % 2 != 0 ||
      std::count(both.begin(), both.end(), '"') % 2 != 0;
  return is_quoted ? 0 : both.size();
}

void Variable::meet(const Variable& other) {
  const bool is_shorter = items.size() < other.items.size() ||
      (items.size() == 1 && other.items.size() == 1 && items[0].text.size() < other.items[0].text.size());
  const Variable& shorter = is_shorter ? *this : other;
  const Variable& longer = is_shorter ? other : *this;
  if (is_array != other.is_array || shorter.items.empty()) return forget();
  Variable made = shorter;
  if (is_array) {
    if (!std::equal(shorter.items.begin(), shorter.items.end(), longer.items.begin(),
            [](const Chars& a, const Chars& b) { return a.text == b.text; }))
      return forget();
    made.items.emplace_back().forget(made.name_span.begin);
  } else {
    made.items[0].keep(whole_words_of_both(shorter.items[0].text, longer.items[0].text));
    if (made.items[0].text.empty()) return forget();
    made.items[0].add(' ', made.name_span.begin);
    made.items[0].add(Chars::words, made.name_span.begin);
  }
  made.by_default = by_default || other.by_default;
  made.is_exported = is_exported && other.is_exported;
  *this = std::move(made);
}

void Expansion::break_word() {
  if (has_current_) done_.push_back(std::move(current_));
  current_ = {};
  has_current_ = false;
}

std::vector<Chars> Expansion::take() {
  break_word();
  if (done_.size() > most_words) {
    Chars unknown;
    unknown.forget(done_.front().at.empty() ? 0 : done_.front().at.front());
    done_.assign(1, unknown);
  }
  return std::move(done_);
}

void Expansion::unknown(std::size_t at, bool quoted) { put(quoted ? Chars::hole : Chars::words, at); }

void Expansion::value(const Chars& chars, bool quoted) {
  if (quoted) {
    current_.add(chars);
    has_current_ = true;
    return;
  }
  for (std::size_t i = 0; i < chars.text.size(); ++i) {
    if (is_blank(chars.text[i]))
      break_word();
    else
      put(chars.text[i], chars.at[i]);
  }
}

void Expansion::array(const Variable& variable, bool quoted) {
  for (std::size_t i = 0; i < variable.items.size(); ++i) {
    if (i > 0) break_word();
    value(variable.items[i], quoted);
  }
}

void Expansion::variable(std::string_view name, std::size_t at, bool quoted) {
  if (name == "BASH_SOURCE") return value(own_path(at), quoted);
  const Variable* found = variables_.find(name);
  if (!found) return unknown(at, quoted);
  by_default_ = by_default_ || found->by_default;
  if (!found->items.empty())
    value(found->items.front(), quoted);
  else if (quoted)
    has_current_ = true;
}

std::size_t Expansion::matching(std::size_t at, std::size_t end, char open, char close) const {
  int depth = 0;
  for (std::size_t i = at; i < end; ++i) {
    if (text_[i] == '\\')
      ++i;
    else if (text_[i] == open)
      ++depth;
    else if (text_[i] == close && --depth == 0)
      return i;
  }
  return end;
}

// ${…}, without the braces.
void Expansion::braced(std::size_t begin, std::size_t end, bool quoted) {
  std::size_t at = begin;
  const bool counts = at < end && text_[at] == '#';
  if (counts) ++at;
  std::size_t stop = at;
  while (stop < end && syntax::is_word(text_[stop])) ++stop;
  const std::string_view name = text_.substr(at, stop - at);
  if (name.empty()) return unknown(begin, quoted);
  if (!counts && (name == "0" || name == "BASH_SOURCE") &&
      (stop == end || text_.substr(stop, end - stop) == "[0]"))
    return value(own_path(begin), quoted);
  const Variable* found = variables_.find(name);
  std::string_view rest = text_.substr(stop, end - stop);
  if (rest.starts_with("[@]") || rest.starts_with("[*]")) {
    if (!found || rest.size() > 3) return put(Chars::words, begin);
    by_default_ = by_default_ || found->by_default;
    if (!counts) return array(*found, quoted);
    const auto& items = found->items;
    if (std::any_of(items.begin(), items.end(),
            [](const Chars& item) { return item.text.find(Chars::words) != std::string::npos; }))
      return unknown(begin, quoted);
    for (const char c : std::to_string(items.size())) put(c, begin);
    return;
  }
  if (counts) return unknown(begin, quoted);
  if (rest.empty()) return variable(name, begin, quoted);
  const bool colon = rest.starts_with(':');
  if (colon) rest.remove_prefix(1);
  if (rest.starts_with('-') || rest.starts_with('=')) {
    const bool sets = rest.front() == '=';
    const bool positional = std::isdigit(static_cast<unsigned char>(name.front()));
    const bool is_set = found != nullptr;
    if (found && !positional) {
      const bool empty = found->items.empty() || found->items.front().text.empty();
      if (!empty || !colon) return variable(name, begin, quoted);
    }
    Expansion inner(text_, variables_);
    inner.add({static_cast<std::uint32_t>(end - rest.size() + 1), static_cast<std::uint32_t>(end)});
    Chars text;
    for (const Chars& word : inner.take()) {
      if (!text.text.empty()) text.add(' ', static_cast<std::uint32_t>(begin));
      text.add(word);
    }
    if (!is_set) by_default_ = true;
    if (sets) {
      Variable& made = variables_[name];
      made.items = {text};
      made.by_default = !is_set;
      made.name_span = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(stop)};
    }
    if (text.text.empty() && quoted) has_current_ = true;
    return value(text, quoted);
  }
  unknown(begin, quoted);
}

// A path that a command writes: dirname "$0", cd there && pwd, realpath …; nothing of all others.
std::optional<Chars> Expansion::path_of_command(std::size_t begin, std::size_t end) {
  const auto trim = [&] {
    while (begin < end && is_blank(text_[begin])) ++begin;
    while (end > begin && is_blank(text_[end - 1])) --end;
  };
  trim();
  const auto all = [&] { return text_.substr(begin, end - begin); };
  if (all() == "pwd") {
    const Variable* here = variables_.find("PWD");
    return here && !here->items.empty() ? std::optional(here->items.front()) : std::nullopt;
  }
  const auto argument = [&](std::size_t from, std::size_t to) -> std::optional<Chars> {
    Expansion inner(text_, variables_);
    inner.add({static_cast<std::uint32_t>(from), static_cast<std::uint32_t>(to)});
    std::vector<Chars> words = inner.take();
    by_default_ = by_default_ || inner.by_default();
    std::erase_if(words, [](const Chars& word) {
      return word.text == "--" || word.text == "-P" || word.text == "-f" || word.text == "-e";
    });
    return words.size() == 1 && words[0].is_known() && words[0].text.starts_with(Chars::own)
        ? std::optional(words[0])
        : std::nullopt;
  };
  if (all().starts_with("cd ")) {
    const std::string_view text = all();
    const std::size_t joint = std::min(text.rfind("&&"),
        text.rfind(';') == std::string_view::npos ? std::string_view::npos : text.rfind(';'));
    if (joint == std::string_view::npos || text.find("pwd", joint) == std::string_view::npos)
      return std::nullopt;
    std::size_t stop = begin + joint;
    if (const std::size_t redirect = text.find_first_of("&>", 3);
        redirect < joint && redirect != std::string_view::npos)
      stop = begin + redirect;
    while (stop > begin && (is_blank(text_[stop - 1]) || text_[stop - 1] == '2')) --stop;
    return argument(begin + 3, stop);
  }
  for (const std::string_view same : {"realpath ", "readlink -f ", "readlink -e ", "greadlink -f "})
    if (all().starts_with(same)) return argument(begin + same.size(), end);
  if (!all().starts_with("dirname ")) return std::nullopt;
  std::optional<Chars> path = argument(begin + 8, end);
  if (!path || path->text.size() < 2) return std::nullopt;
  const std::size_t slash = path->text.rfind('/');
  if (slash == std::string::npos || path->text.substr(slash) == "/..") return std::nullopt;
  path->text.resize(slash), path->at.resize(slash);
  return path;
}

// The place after what begins with the dollar at `at`.
std::size_t Expansion::dollar(std::size_t at, std::size_t end, bool quoted) {
  const std::size_t next = at + 1;
  if (next >= end) return put('$', at), next;
  const char c = text_[next];
  const auto compute = [&](std::string_view formula) {
    Arithmetic arithmetic(formula, variables_);
    const auto number = arithmetic.value();
    if (!number) return put(Chars::hole, at);
    for (const char digit : std::to_string(*number)) put(digit, at);
    by_default_ = by_default_ || arithmetic.by_default;
  };
  if (c == '(') {
    const std::size_t close = matching(next, end, '(', ')');
    if (next + 1 < end && text_[next + 1] == '(' && close >= next + 3)
      compute(text_.substr(next + 2, close - 1 - (next + 2)));
    else if (const auto path = path_of_command(next + 1, close))
      value(*path, quoted);
    else
      unknown(at, quoted);
    return std::min(close + 1, end);
  }
  if (c == '[') {  // $[N * 2], as it was written before $((N * 2))
    const std::size_t close = matching(next, end, '[', ']');
    compute(text_.substr(next + 1, close - (next + 1)));
    return std::min(close + 1, end);
  }
  if (c == '{') {
    const std::size_t close = matching(next, end, '{', '}');
    braced(next + 1, close, quoted);
    return std::min(close + 1, end);
  }
  if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
    std::size_t stop = next;
    while (stop < end && syntax::is_word(text_[stop])) ++stop;
    variable(text_.substr(next, stop - next), at, quoted);
    return stop;
  }
  if (c == '@' || c == '*') {
    if (const Variable* given = variables_.find("@"))
      array(*given, quoted);
    else
      put(Chars::words, at);
    return next + 1;
  }
  if (c == '#' || c == '?' || c == '$' || c == '!' || c == '-') return put(Chars::hole, at), next + 1;
  if (std::isdigit(static_cast<unsigned char>(c))) {
    const Variable* given = variables_.find("@");
    const auto number = static_cast<std::size_t>(c - '0');
    if (number == 0) return value(own_path(at), quoted), next + 1;
    if (!given || number > given->items.size())
      unknown(at, quoted);
    else
      value(given->items[number - 1], quoted);
    return next + 1;
  }
  return put('$', at), next;
}

void Expansion::add(Span span) {
  Quote quote = Quote::none;
  for (std::size_t i = span.begin, end = std::min<std::size_t>(span.end, text_.size()); i < end;) {
    const char c = text_[i];
    if (quote == Quote::single) {
      if (c == '\'')
        quote = Quote::none;
      else
        put(c, i);
      ++i;
    } else if (c == '\\' && i + 1 < end) {
      const char next = text_[i + 1];
      const bool crlf = next == '\r' && i + 2 < end && text_[i + 2] == '\n';
      if (next != '\n' && !crlf) {
        if (quote == Quote::twice && next != '$' && next != '`' && next != '"' && next != '\\') put('\\', i);
        put(next, i + 1);
      }
      i += crlf ? 3 : 2;
    } else if (c == '"') {
      quote = quote == Quote::twice ? Quote::none : Quote::twice;
      has_current_ = true;
      ++i;
    } else if (c == '\'' && quote == Quote::none) {
      quote = Quote::single;
      has_current_ = true;
      ++i;
    } else if (c == '$') {
      i = dollar(i, end, quote == Quote::twice);
    } else if (c == '`') {
      const std::size_t close = text_.find('`', i + 1);
      unknown(i, quote == Quote::twice);
      i = close == std::string_view::npos ? end : std::min(close + 1, end);
    } else if (quote == Quote::none && (c == '<' || c == '>') && i + 1 < end && text_[i + 1] == '(') {
      // The name of a file that is what the command inside writes: one word.
      const std::size_t close = matching(i + 1, end, '(', ')');
      unknown(i, true);
      i = std::min(close + 1, end);
    } else if (quote == Quote::none && is_blank(c)) {
      break_word();
      ++i;
    } else if (quote == Quote::none && (c == '*' || c == '?')) {
      put(Chars::words, i++);
    } else if (quote == Quote::none && c == '{') {
      const std::size_t close = matching(i, end, '{', '}');
      const std::string_view inside = text_.substr(i, close - i);
      if (close < end &&
          (inside.find(',') != std::string_view::npos || inside.find("..") != std::string_view::npos)) {
        put(Chars::words, i);
        i = close + 1;
      } else {
        put(c, i++);
      }
    } else {
      put(c, i++);
    }
  }
}

}  // namespace stepzero::documents
