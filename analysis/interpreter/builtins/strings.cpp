// The methods of str as rows, where text and arguments are known. Letters outside ASCII are left alone: what
// would need their case or class is unknown.
#include "interpreter/builtins/builtin_call.hpp"
#include "interpreter/calls/unseen.hpp"
#include "syntax/text.hpp"

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

// Splits at `separator`, or at runs of blanks where it is empty; at most `limit` times if that is not
// negative.
std::vector<std::string> split(
    std::string_view text, std::string_view separator, std::int64_t limit, bool from_right) {
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
    if (separator.empty())
      text = stripped(text, blanks, static_cast<std::int64_t>(parts.size()) != limit, true);
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

// Something whose text is not known.
Value unknown(const BuiltinCall& call) {
  Sharing sharing = Sharing::uniform;
  for (const Value& argument : call.positional)
    sharing = symbolic::mix(sharing, call.heap().sharing(argument));
  return call.heap().unknown("", sharing, call.where);
}
bool has_text(Value value) { return value.is(Kind::string) && !value.text().empty(); }

Value format_braces(const BuiltinCall& call) {
  if (const auto made = call.format_braces(call.self.text())) return call.heap().string(*made);
  const Value made = unknown(call);
  const std::string_view pattern = call.self.text();
  note_beginning(call.heap(), made, pattern.substr(0, pattern.find('{')));
  return made;
}

Value join(const BuiltinCall& call) {
  if (!call.first) return {};
  const auto items = call.run.elements(call.first, call.where);
  const std::string text(call.self.text());
  std::string out;
  if (!items) return unknown(call);
  for (std::size_t i = 0; i < items->size(); ++i) {
    const Value item = call.run.resolve((*items)[i]);
    if (!item.is(Kind::string) || out.size() > longest_text) return unknown(call);
    out += (i ? text : "") + std::string(item.text());
  }
  return call.heap().string(out);
}

Value starts_or_ends(const BuiltinCall& call) {
  const std::string_view text = call.self.text();
  const auto matches = [&](std::string_view part) {
    return call.name == "startswith" ? text.starts_with(part) : text.ends_with(part);
  };
  if (call.second || !call.first) return unknown(call);
  if (call.first.is(Kind::string)) return call.heap().boolean(matches(call.first.text()));
  if (!call.first.is(Kind::tuple)) return unknown(call);
  bool any = false;
  for (const Value& part : call.first.as<values::Tuple>()->items) {
    if (!call.run.resolve(part).is(Kind::string)) return unknown(call);
    any = any || matches(call.run.resolve(part).text());
  }
  return call.heap().boolean(any);
}

Value split_text(const BuiltinCall& call) {
  const Value separator = call.first ? call.first : call.keyword("sep");
  const Value limit = call.second ? call.second : call.keyword("maxsplit");
  const auto most = limit ? call.run.to_constant(limit) : std::optional<std::int64_t>(-1);
  const bool blank = !separator || separator.is(Kind::none);
  if (!most || (!blank && !has_text(separator))) return call.heap().open_list(unknown(call));
  std::vector<Value> parts;
  for (const std::string& part :
      split(call.self.text(), blank ? std::string_view{} : separator.text(), *most, call.name == "rsplit"))
    parts.push_back(call.heap().string(part));
  return call.heap().list(std::move(parts));
}

Value split_lines(const BuiltinCall& call) {
  if (call.first || !ascii(call.self.text())) return {};
  std::vector<Value> lines;
  std::string_view rest = call.self.text();
  while (!rest.empty()) {
    const auto end = rest.find_first_of("\r\n");
    lines.push_back(call.heap().string(rest.substr(0, end)));
    if (end == std::string_view::npos) break;
    rest = rest.substr(end + (rest.substr(end).starts_with("\r\n") ? 2 : 1));
  }
  return call.heap().list(std::move(lines));
}

Value strip(const BuiltinCall& call) {
  if (call.first && !call.first.is(Kind::none) && !(call.first.is(Kind::string) && ascii(call.first.text())))
    return {};
  return call.heap().string(
      stripped(call.self.text(), call.first.is(Kind::string) ? call.first.text() : blanks,
          call.name != "rstrip", call.name != "lstrip"));
}

Value replace(const BuiltinCall& call) {
  if (!has_text(call.first) || !call.second.is(Kind::string)) return {};
  const std::string text(call.self.text());
  auto left = call.count > 2 ? call.run.to_constant(call.positional[2]) : std::optional<std::int64_t>(-1);
  if (!left) return unknown(call);
  std::string out;
  std::size_t from = 0;
  while (*left != 0) {
    const auto at = text.find(call.first.text(), from);
    if (at == std::string::npos) break;
    out += text.substr(from, at - from) + std::string(call.second.text());
    if (out.size() > longest_text) return unknown(call);
    from = at + call.first.text().size();
    --*left;
  }
  return call.heap().string(out + text.substr(from));
}

// Of something that is not known: a number, whichever.
Value some_number(const BuiltinCall& call) {
  if (!call.first || call.first.is(Kind::string)) return {};
  symbolic::AtomInfo info;
  info.lower = call.name.ends_with("find") ? -1 : 0;
  info.sharing = call.heap().sharing(unknown(call));
  return Value::of(call.symbols().fresh(info));
}

Value find(const BuiltinCall& call) {
  const std::string_view text = call.self.text();
  if (!call.first.is(Kind::string) || !ascii(text) || call.second) return some_number(call);
  const auto at = call.name.starts_with('r') ? text.rfind(call.first.text()) : text.find(call.first.text());
  if (at != std::string_view::npos) return call.number(at);
  return call.name.ends_with("find") ? call.heap().integer(-1) : call.fails("ValueError");
}

Value count(const BuiltinCall& call) {
  if (!has_text(call.first) || call.second) return some_number(call);
  const std::string_view text = call.self.text(), part = call.first.text();
  std::size_t found = 0;
  for (auto at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size()))
    ++found;
  return call.number(found);
}

Value partition(const BuiltinCall& call) {
  if (!has_text(call.first)) return {};
  const std::string_view whole = call.self.text();
  const bool from_left = call.name == "partition";
  const auto at = from_left ? whole.find(call.first.text()) : whole.rfind(call.first.text());
  const auto text = [&](std::string_view part) { return call.heap().string(part); };
  if (at == std::string_view::npos)
    return from_left ? call.heap().tuple({text(whole), text(""), text("")})
                     : call.heap().tuple({text(""), text(""), text(whole)});
  return call.heap().tuple(
      {text(whole.substr(0, at)), call.first, text(whole.substr(at + call.first.text().size()))});
}

Value remove_prefix(const BuiltinCall& call) {
  if (!call.first.is(Kind::string)) return {};
  const std::string_view text = call.self.text(), part = call.first.text();
  return call.heap().string(text.starts_with(part) ? text.substr(part.size()) : text);
}
Value remove_suffix(const BuiltinCall& call) {
  if (!call.first.is(Kind::string)) return {};
  const std::string_view text = call.self.text(), part = call.first.text();
  return call.heap().string(text.ends_with(part) ? text.substr(0, text.size() - part.size()) : text);
}

Value fill(const BuiltinCall& call) {
  constexpr std::int64_t widest = 512;  // a table's line; what is wider is padded to say something else
  const std::string text(call.self.text());
  if (!call.first || !ascii(text)) return {};
  const auto width = call.run.to_constant(call.first);
  std::string_view with = call.name == "zfill" ? "0" : " ";
  if (call.second) with = call.second.is(Kind::string) ? call.second.text() : std::string_view();
  if (!width || *width > widest || with.size() != 1) return unknown(call);
  if (*width <= static_cast<std::int64_t>(text.size())) return call.self;
  const auto missing = static_cast<std::size_t>(*width) - text.size();
  const char letter = with.front();
  if (call.name == "ljust") return call.heap().string(text + std::string(missing, letter));
  if (call.name == "center") {
    const std::size_t left = missing / 2 + (missing & static_cast<std::size_t>(*width) & 1);
    return call.heap().string(std::string(left, letter) + text + std::string(missing - left, letter));
  }
  const bool sign = call.name == "zfill" && !text.empty() && (text[0] == '-' || text[0] == '+');
  return call.heap().string(
      (sign ? text.substr(0, 1) : "") + std::string(missing, letter) + (sign ? text.substr(1) : text));
}

// Letters of ASCII only: what others become is not known here.
template <int (*change)(int)> Value each_letter(const BuiltinCall& call) {
  return ascii(call.self.text()) ? call.heap().string(changed(call.self.text(), change)) : Value{};
}
int swapped(int c) { return std::isupper(c) ? std::tolower(c) : std::toupper(c); }
Value title(const BuiltinCall& call) {
  return ascii(call.self.text()) ? call.heap().string(titled(call.self.text(), call.name == "capitalize"))
                                 : Value{};
}

template <int (*test)(int)> Value all_letters(const BuiltinCall& call) {
  const std::string_view text = call.self.text();
  if (!ascii(text)) return {};
  return call.heap().boolean(!text.empty() &&
      std::all_of(text.begin(), text.end(), [](char c) { return test(static_cast<unsigned char>(c)) != 0; }));
}
template <int (*wanted)(int), int (*other)(int)> Value is_case(const BuiltinCall& call) {
  const std::string_view text = call.self.text();
  if (!ascii(text)) return {};
  const auto any = [&](int (*test)(int)) {
    return std::any_of(
        text.begin(), text.end(), [&](char c) { return test(static_cast<unsigned char>(c)) != 0; });
  };
  return call.heap().boolean(any(wanted) && !any(other));
}
Value is_identifier(const BuiltinCall& call) {
  const std::string_view text = call.self.text();
  if (!ascii(text)) return {};
  return call.heap().boolean(!text.empty() && !std::isdigit(static_cast<unsigned char>(text[0])) &&
      std::all_of(text.begin(), text.end(), syntax::is_word));
}

const BuiltinTable& methods() {
  static const BuiltinTable table{
      {"format", format_braces},
      {"join", join},
      {"startswith endswith", starts_or_ends},
      {"split rsplit", split_text},
      {"splitlines", split_lines},
      {"strip lstrip rstrip", strip},
      {"replace", replace},
      {"find rfind index rindex", find},
      {"count", count},
      {"partition rpartition", partition},
      {"removeprefix", remove_prefix},
      {"removesuffix", remove_suffix},
      {"zfill ljust rjust center", fill},
      {"lower casefold", each_letter<std::tolower>},
      {"upper", each_letter<std::toupper>},
      {"swapcase", each_letter<swapped>},
      {"title capitalize", title},
      {"isdigit isnumeric isdecimal", all_letters<std::isdigit>},
      {"isalpha", all_letters<std::isalpha>},
      {"isalnum", all_letters<std::isalnum>},
      {"isspace", all_letters<std::isspace>},
      {"isupper", is_case<std::isupper, std::islower>},
      {"islower", is_case<std::islower, std::isupper>},
      {"isidentifier", is_identifier},
  };
  return table;
}

}  // namespace

Value Builtins::string_method(Value self, std::string_view name, Arguments& arguments, Place where) {
  const BuiltinCall call{run_, name, self, arguments, where};
  const Value made = methods().run(call);
  return made ? made : unknown(call);
}

}  // namespace stepzero::interpreter
