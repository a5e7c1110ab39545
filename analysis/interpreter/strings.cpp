// The methods of str, where text and arguments are known. Letters outside ASCII are left alone: what would need their case or
// class is unknown.
#include "interpreter/interpreter.hpp"

#include <algorithm>
#include <cctype>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

namespace {

constexpr std::string_view blanks = " \t\n\r\f\v";

bool ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 128; });
}
std::string_view stripped(std::string_view text, std::string_view letters, bool left, bool right) {
  while (left && !text.empty() && letters.find(text.front()) != std::string_view::npos) text.remove_prefix(1);
  while (right && !text.empty() && letters.find(text.back()) != std::string_view::npos) text.remove_suffix(1);
  return text;
}
template <class Change> std::string changed(std::string_view text, Change change) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(change(static_cast<unsigned char>(c)));
  return out;
}
std::string titled(std::string_view text, bool first_only) {
  std::string out(text);
  bool inside = false;
  for (char& c : out) {
    const auto letter = static_cast<unsigned char>(c);
    c = static_cast<char>(inside ? std::tolower(letter) : std::toupper(letter));
    inside = first_only || std::isalpha(letter);
  }
  return out;
}

// Splits at `separator`, or at runs of blanks where it is empty; at most `limit` times if that is not negative.
std::vector<std::string> split(std::string_view text, std::string_view separator, std::int64_t limit, bool from_right) {
  std::vector<std::string> parts;
  if (from_right) {
    while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
      if (separator.empty()) {
        text = stripped(text, blanks, false, true);
        const auto at = text.find_last_of(blanks);
        if (at == std::string_view::npos) break;
        parts.emplace_back(text.substr(at + 1));
        text = text.substr(0, at);
      } else {
        const auto at = text.rfind(separator);
        if (at == std::string_view::npos) break;
        parts.emplace_back(text.substr(at + separator.size()));
        text = text.substr(0, at);
      }
    }
    if (separator.empty()) text = stripped(text, blanks, static_cast<std::int64_t>(parts.size()) != limit, true);
    if (!separator.empty() || !text.empty()) parts.emplace_back(text);
    std::reverse(parts.begin(), parts.end());
    return parts;
  }
  while (limit < 0 || static_cast<std::int64_t>(parts.size()) < limit) {
    if (separator.empty()) text = stripped(text, blanks, true, false);
    const auto at = separator.empty() ? text.find_first_of(blanks) : text.find(separator);
    if (at == std::string_view::npos) break;
    parts.emplace_back(text.substr(0, at));
    text = text.substr(at + std::max<std::size_t>(separator.size(), 1));
  }
  if (separator.empty()) text = stripped(text, blanks, true, false);
  if (!separator.empty() || !text.empty()) parts.emplace_back(text);
  return parts;
}

} // namespace

Value Interpreter::string_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const std::string text(self.text());
  const auto& positional = arguments.positional;
  const auto keyword = [&](std::string_view wanted) -> Value {
    for (const auto& [key, value] : arguments.keywords)
      if (key.text() == wanted) return resolve(value);
    return {};
  };
  const Value first = positional.empty() ? Value{} : positional[0];
  const Value second = positional.size() < 2 ? Value{} : positional[1];
  const auto unknown = [&] {
    Sharing sharing = Sharing::uniform;
    for (const Value& argument : positional) sharing = symbolic::mix(sharing, heap().sharing(argument));
    return heap().unknown("", sharing, where);
  };
  const auto number = [&](std::size_t value) { return heap().integer(static_cast<std::int64_t>(value)); };
  const auto text_argument = [](Value value) { return value.is(Kind::string) ? std::optional(value.text()) : std::nullopt; };
  const bool plain = ascii(text);

  if (name == "format") {
    if (const auto made = format_braces(text, arguments)) return heap().string(*made);
    return unknown();
  }
  if (name == "join" && first) {
    const auto items = elements(first, where);
    std::string out;
    if (!items) return unknown();
    for (std::size_t i = 0; i < items->size(); ++i) {
      const Value item = resolve((*items)[i]);
      if (!item.is(Kind::string) || out.size() > longest_text) return unknown();
      out += (i ? text : "") + std::string(item.text());
    }
    return heap().string(out);
  }
  if (name == "startswith" || name == "endswith") {
    const auto matches = [&](std::string_view part) { return name == "startswith" ? text.starts_with(part) : text.ends_with(part); };
    if (second || !first) return unknown();
    if (first.is(Kind::string)) return heap().boolean(matches(first.text()));
    if (first.is(Kind::tuple)) {
      bool any = false;
      for (const Value& part : first.as<values::Tuple>()->items) {
        if (!resolve(part).is(Kind::string)) return unknown();
        any = any || matches(resolve(part).text());
      }
      return heap().boolean(any);
    }
    return unknown();
  }
  if (name == "split" || name == "rsplit") {
    const Value separator = first ? first : keyword("sep");
    const Value limit = second ? second : keyword("maxsplit");
    const auto most = limit ? to_constant(limit) : std::optional<std::int64_t>(-1);
    const bool blank = !separator || separator.is(Kind::none);
    if (!most || (!blank && (!separator.is(Kind::string) || separator.text().empty()))) return heap().open_list(unknown());
    std::vector<Value> parts;
    for (const std::string& part : split(text, blank ? std::string_view{} : separator.text(), *most, name == "rsplit")) parts.push_back(heap().string(part));
    return heap().list(std::move(parts));
  }
  if (name == "splitlines" && !first && plain) {
    std::vector<Value> lines;
    std::string_view rest = text;
    while (!rest.empty()) {
      const auto end = rest.find_first_of("\r\n");
      lines.push_back(heap().string(rest.substr(0, end)));
      if (end == std::string_view::npos) break;
      rest = rest.substr(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1));
    }
    return heap().list(std::move(lines));
  }
  if ((name == "strip" || name == "lstrip" || name == "rstrip") && (!first || first.is(Kind::none) || (first.is(Kind::string) && ascii(first.text()))))
    return heap().string(stripped(text, first.is(Kind::string) ? first.text() : blanks, name != "rstrip", name != "lstrip"));
  if (name == "replace" && first.is(Kind::string) && second.is(Kind::string) && !first.text().empty()) {
    auto left = positional.size() > 2 ? to_constant(positional[2]) : std::optional<std::int64_t>(-1);
    if (!left) return unknown();
    std::string out;
    std::size_t from = 0;
    while (*left != 0) {
      const auto at = text.find(first.text(), from);
      if (at == std::string::npos) break;
      out += text.substr(from, at - from) + std::string(second.text());
      if (out.size() > longest_text) return unknown();
      from = at + first.text().size();
      --*left;
    }
    return heap().string(out + text.substr(from));
  }
  if ((name == "find" || name == "rfind" || name == "index" || name == "rindex") && first.is(Kind::string) && plain && !second) {
    const auto at = name.starts_with('r') ? text.rfind(first.text()) : text.find(first.text());
    if (at != std::string::npos) return number(at);
    if (name.ends_with("find")) return heap().integer(-1);
    return raise_builtin("ValueError", where);
  }
  if (name == "count" && first.is(Kind::string) && !first.text().empty() && !second) {
    std::size_t found = 0;
    for (auto at = text.find(first.text()); at != std::string::npos; at = text.find(first.text(), at + first.text().size())) ++found;
    return number(found);
  }
  if ((name == "partition" || name == "rpartition") && first.is(Kind::string) && !first.text().empty()) {
    const auto at = name == "partition" ? text.find(first.text()) : text.rfind(first.text());
    const std::string_view whole = text;
    if (at == std::string::npos)
      return name == "partition" ? heap().tuple({heap().string(text), heap().string(""), heap().string("")})
                                 : heap().tuple({heap().string(""), heap().string(""), heap().string(text)});
    return heap().tuple({heap().string(whole.substr(0, at)), first, heap().string(whole.substr(at + first.text().size()))});
  }
  if (name == "removeprefix" && first.is(Kind::string)) return heap().string(text.starts_with(first.text()) ? text.substr(first.text().size()) : text);
  if (name == "removesuffix" && first.is(Kind::string))
    return heap().string(text.ends_with(first.text()) ? text.substr(0, text.size() - first.text().size()) : text);
  if ((name == "zfill" || name == "ljust" || name == "rjust" || name == "center") && first && plain) {
    const auto width = to_constant(first);
    const auto fill = second ? text_argument(second) : std::optional<std::string_view>(name == "zfill" ? "0" : " ");
    if (!width || *width > 512 || !fill || fill->size() != 1) return unknown();
    if (*width <= static_cast<std::int64_t>(text.size())) return self;
    const auto missing = static_cast<std::size_t>(*width) - text.size();
    const char letter = fill->front();
    if (name == "ljust") return heap().string(text + std::string(missing, letter));
    if (name == "center") {
      const std::size_t left = missing / 2 + (missing & static_cast<std::size_t>(*width) & 1);
      return heap().string(std::string(left, letter) + text + std::string(missing - left, letter));
    }
    const bool sign = name == "zfill" && !text.empty() && (text[0] == '-' || text[0] == '+');
    return heap().string((sign ? text.substr(0, 1) : "") + std::string(missing, letter) + (sign ? text.substr(1) : text));
  }
  // Of something that is not known: a number, whichever.
  if ((name == "find" || name == "rfind" || name == "index" || name == "rindex" || name == "count") && first && !first.is(Kind::string)) {
    symbolic::AtomInfo info;
    info.lower = name.ends_with("find") ? -1 : 0;
    info.sharing = heap().sharing(unknown());
    return Value::of(symbols().fresh(info));
  }
  if (!plain) return unknown();
  if (name == "lower" || name == "casefold") return heap().string(changed(text, [](int c) { return std::tolower(c); }));
  if (name == "upper") return heap().string(changed(text, [](int c) { return std::toupper(c); }));
  if (name == "swapcase") return heap().string(changed(text, [](int c) { return std::isupper(c) ? std::tolower(c) : std::toupper(c); }));
  if (name == "title") return heap().string(titled(text, false));
  if (name == "capitalize") return heap().string(titled(text, true));
  const auto all = [&](int (*test)(int)) {
    return heap().boolean(!text.empty() && std::all_of(text.begin(), text.end(), [&](char c) { return test(static_cast<unsigned char>(c)) != 0; }));
  };
  if (name == "isdigit" || name == "isnumeric" || name == "isdecimal") return all(std::isdigit);
  if (name == "isalpha") return all(std::isalpha);
  if (name == "isalnum") return all(std::isalnum);
  if (name == "isspace") return all(std::isspace);
  if (name == "isupper" || name == "islower") {
    const auto is = [&](int (*test)(int)) { return std::any_of(text.begin(), text.end(), [&](char c) { return test(static_cast<unsigned char>(c)) != 0; }); };
    return heap().boolean(name == "isupper" ? is(std::isupper) && !is(std::islower) : is(std::islower) && !is(std::isupper));
  }
  if (name == "isidentifier")
    return heap().boolean(!text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
                          std::all_of(text.begin(), text.end(), [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }));
  return unknown();
}

} // namespace stepzero::interpreter
