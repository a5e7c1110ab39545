// The functions and objects of `re`, where pattern and text are known.
#include "libraries/python/expressions.hpp"
#include "libraries/table/native.hpp"
#include "values/kept.hpp"

#include <array>

namespace stepzero::libraries {

using values::ExpressionState;
using Flags = RegularExpression::Flags;
using Place = RegularExpression::Place;

namespace {

constexpr std::size_t most_matches = 256;  // of one search that are made values

struct Flag {
  std::string_view name, short_name;
  std::int64_t value;  // as `re` counts
  Flags meaning;
};
constexpr std::array flags = {
    Flag{"IGNORECASE", "I", 2, Flags::ignore_case},
    Flag{"MULTILINE", "M", 8, Flags::multi_line},
    Flag{"DOTALL", "S", 16, Flags::dot_all},
    Flag{"VERBOSE", "X", 64, Flags::verbose},
    Flag{"ASCII", "A", 256, Flags::none},
    Flag{"UNICODE", "U", 32, Flags::none},
};
template <std::size_t i> Value flag(Call& call) { return call.run.heap().integer(flags[i].value); }

std::optional<Flags> flags_of(Call& call, Value value) {
  const auto number = call.run.to_constant(value);
  if (!number) return {};
  std::int64_t rest = *number;
  Flags all = Flags::none;
  for (const Flag& each : flags)
    if (rest & each.value) all = all | each.meaning, rest -= each.value;
  return rest ? std::nullopt : std::optional(all);
}

// The expression that is asked for: of the compiled pattern whose method this is, or of the first argument.
std::shared_ptr<const RegularExpression> expression(Call& call, Value given_flags) {
  Value pattern = call.self ? call.self : call.run.resolve(call.at(0));
  if (pattern.is(Kind::instance)) {
    given_flags = kept(call.run, *pattern.as<Instance>(), ExpressionState::flags);
    pattern = kept(call.run, *pattern.as<Instance>(), ExpressionState::pattern);
  }
  if (!pattern || !given_flags || !pattern.is(Kind::string) || call.spread) return nullptr;
  const auto read = flags_of(call, given_flags);
  return read ? RegularExpression::read(pattern.text(), *read) : nullptr;
}

// A method of a pattern has no parameter for the pattern.
std::size_t first_parameter(const Call& call) { return call.self ? 0 : 1; }
std::optional<std::string> text_of(Call& call, std::size_t parameter) {
  const Value text = call.run.resolve(call.at(parameter));
  return text && text.is(Kind::string) ? std::optional<std::string>(text.text()) : std::nullopt;
}

Value group_text(Call& call, std::string_view text, const Match& match, std::size_t group, Value otherwise) {
  const auto& span = match.groups[group];
  return span ? call.run.heap().string(text.substr(span->first, span->second - span->first)) : otherwise;
}

Value match_object(
    Call& call, const RegularExpression& expression, std::string_view text, const Match& match) {
  values::Heap& heap = call.run.heap();
  std::vector<Value> groups, spans;
  for (std::size_t i = 0; i < match.groups.size(); ++i) {
    groups.push_back(group_text(call, text, match, i, Value::none()));
    const auto number = [&](std::size_t at) {
      return heap.integer(match.groups[i] ? static_cast<std::int64_t>(at) : -1);
    };
    const auto span = match.groups[i].value_or(std::pair<std::size_t, std::size_t>{});
    spans.push_back(heap.tuple({number(span.first), number(span.second)}));
  }
  std::vector<std::pair<Value, Value>> names;
  for (const auto& [name, group] : expression.names())
    names.emplace_back(heap.string(name), heap.integer(static_cast<std::int64_t>(group)));
  Instance* made = call.run.make_native("re.Match", call.place);
  keep(call.run, *made, ExpressionState::groups, heap.list(std::move(groups)));
  keep(call.run, *made, ExpressionState::spans, heap.list(std::move(spans)));
  keep(call.run, *made, ExpressionState::names, heap.dict(std::move(names)));
  keep(call.run, *made, "string", heap.string(text));
  return Value::of(Kind::instance, made);
}

// All that a call finds; absent where that is not known, or too much.
struct Search {
  std::shared_ptr<const RegularExpression> expression;
  std::string text;
  std::vector<Match> matches;
};
std::optional<Search> search(
    Call& call, std::size_t text_parameter, Value given_flags, Place place, std::size_t most) {
  Search made{expression(call, given_flags), {}, {}};
  const auto text = text_of(call, text_parameter);
  if (!made.expression || !text || !call.rest.empty()) return {};  // `rest`: bounds within the text
  made.text = *text;
  const bool known = made.expression->each(made.text, place, [&](const Match& match) {
    made.matches.push_back(match);
    return made.matches.size() < most;
  });
  return known && made.matches.size() < most_matches ? std::optional(std::move(made)) : std::nullopt;
}
Value flags_after(const Call& call, std::size_t parameter) {
  return call.self ? Value{} : call.at(parameter);
}

Value compile(Call& call) {
  const Value pattern = call.run.resolve(call.at(0));
  if (pattern.is(Kind::instance)) return pattern;
  if (!pattern.is(Kind::string)) return unknown_of(call);
  Instance* made = call.run.make_native("re.Pattern", call.place);
  keep(call.run, *made, ExpressionState::pattern, pattern);
  keep(call.run, *made, ExpressionState::flags, call.at(1));
  keep(call.run, *made, "pattern", pattern);
  return Value::of(Kind::instance, made);
}

template <Place place> Value first_match(Call& call) {
  const std::size_t text = first_parameter(call);
  const auto found = search(call, text, flags_after(call, text + 1), place, 1);
  if (!found) return unknown_of(call);
  return found->matches.empty() ? Value::none()
                                : match_object(call, *found->expression, found->text, found->matches[0]);
}

Value all_matches(Call& call) {
  const std::size_t text = first_parameter(call);
  const auto found = search(call, text, flags_after(call, text + 1), Place::anywhere, most_matches);
  if (!found) return unknown_of(call);
  std::vector<Value> items;
  for (const Match& match : found->matches) {
    std::vector<Value> groups;
    for (std::size_t i = 1; i < match.groups.size(); ++i)
      groups.push_back(group_text(call, found->text, match, i, call.run.heap().string("")));
    if (groups.empty()) groups.push_back(group_text(call, found->text, match, 0, {}));
    items.push_back(groups.size() == 1 ? groups[0] : call.run.heap().tuple(std::move(groups)));
  }
  return call.run.heap().list(std::move(items));
}
Value each_match(Call& call) {
  const std::size_t text = first_parameter(call);
  const auto found = search(call, text, flags_after(call, text + 1), Place::anywhere, most_matches);
  if (!found)
    return call.run.heap().open_list(
        call.run.heap().unseen("", call.place), nullptr, values::ListKind::iterator);
  std::vector<Value> items;
  items.reserve(found->matches.size());
  for (const Match& match : found->matches)
    items.push_back(match_object(call, *found->expression, found->text, match));
  return call.run.heap().list(std::move(items), values::ListKind::iterator);
}

Value split(Call& call) {
  const std::size_t text = first_parameter(call);
  const auto most = call.run.to_constant(call.at(text + 1));
  const auto found = most && *most >= 0 ? search(call, text, flags_after(call, text + 2), Place::anywhere,
                                              *most ? static_cast<std::size_t>(*most) : most_matches)
                                        : std::nullopt;
  if (!found) return unknown_of(call);
  std::vector<Value> parts;
  std::size_t from = 0;
  const auto part = [&](std::size_t to) {
    parts.push_back(call.run.heap().string(std::string_view(found->text).substr(from, to - from)));
  };
  for (const Match& match : found->matches) {
    part(match.begin());
    for (std::size_t i = 1; i < match.groups.size(); ++i)
      parts.push_back(group_text(call, found->text, match, i, Value::none()));
    from = match.end();
  }
  part(found->text.size());
  return call.run.heap().list(std::move(parts));
}

// A replacement with the groups that it names put in; absent where it has escapes of another kind.
std::optional<std::string> expanded(const Search& found, const Match& match, std::string_view replacement) {
  std::string out;
  const auto put = [&](std::size_t group) {
    if (group >= match.groups.size()) return false;
    if (const auto& span = match.groups[group])
      out += found.text.substr(span->first, span->second - span->first);
    return true;
  };
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (std::size_t i = 0; i < replacement.size(); ++i) {
    if (replacement[i] != '\\') {
      out += replacement[i];
      continue;
    }
    const char next = ++i < replacement.size() ? replacement[i] : '\0';
    if (next == '\\')
      out += next;
    else if (next == 'n')
      out += '\n';
    else if (next == 't')
      out += '\t';
    else if (next >= '1' && next <= '9') {
      // Two digits may be one number, or an octal one.
      if ((i + 1 < replacement.size() && is_digit(replacement[i + 1])) ||
          !put(static_cast<std::size_t>(next - '0')))
        return {};
    } else if (next == 'g' && i + 1 < replacement.size() && replacement[i + 1] == '<') {
      const auto close = replacement.find('>', i);
      if (close == std::string_view::npos) return {};
      const std::string_view name = replacement.substr(i + 2, close - i - 2);
      std::optional<std::size_t> group;
      if (name.size() == 1 && is_digit(name[0])) group = static_cast<std::size_t>(name[0] - '0');
      for (const auto& [known, number] : found.expression->names())
        if (known == name) group = number;
      if (!group || !put(*group)) return {};
      i = close;
    } else {
      return {};
    }
  }
  return out;
}

// sub(pattern, repl, string, count=0, flags=0); subn gives the number of replacements besides.
template <bool with_count> Value substitute(Call& call) {
  const std::size_t replacement = first_parameter(call), text = replacement + 1;
  const auto most = call.run.to_constant(call.at(text + 1));
  const auto found = most && *most >= 0 ? search(call, text, flags_after(call, text + 2), Place::anywhere,
                                              *most ? static_cast<std::size_t>(*most) : most_matches)
                                        : std::nullopt;
  const Value by = call.run.resolve(call.at(replacement));
  if (!found || !by) return unknown_of(call);
  std::string out;
  std::size_t from = 0;
  for (const Match& match : found->matches) {
    std::optional<std::string> put;
    if (by.is(Kind::string)) {
      put = expanded(*found, match, by.text());
    } else if (by.is(Kind::function) || by.is(Kind::bound)) {
      const Value made = call.run.resolve(call.run.call(by,
          {.positional = {match_object(call, *found->expression, found->text, match)}, .keywords = {}},
          call.place));
      if (made.is(Kind::string)) put = made.text();
    }
    if (!put) return unknown_of(call);
    out += found->text.substr(from, match.begin() - from) + *put;
    from = match.end();
  }
  out += found->text.substr(from);
  const Value made = call.run.heap().string(out);
  return with_count ? call.run.heap().tuple(
                          {made, call.run.heap().integer(static_cast<std::int64_t>(found->matches.size()))})
                    : made;
}

// The characters that `re.escape` writes a backslash before.
Value escape(Call& call) {
  constexpr std::string_view special = "()[]{}?*+-|^$\\.&~# \t\n\r\v\f";
  const auto text = text_of(call, 0);
  if (!text) return unknown_of(call);
  std::string out;
  for (const char c : *text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return call.run.heap().string(out);
}

// What a match keeps of the group that is asked for by number or name.
Value of_group(Call& call, Value group, std::string_view what) {
  const Value all = kept(call, what), names = kept(call, ExpressionState::names);
  Value index = call.run.resolve(group);
  if (!all || !names || !index) return unknown_of(call);
  if (index.is(Kind::string)) {
    Value number;
    for (const auto& [name, known] : values::Heap::dict_state(names)->items)
      if (call.run.same_key(name, index)) number = known;
    if (!number) return call.run.raise_builtin("IndexError", call.place);
    index = number;
  }
  const auto at = call.run.to_constant(index);
  const auto& items = values::Heap::list_state(all)->items;
  if (!at) return unknown_of(call);
  if (*at < 0 || *at >= static_cast<std::int64_t>(items.size()))
    return call.run.raise_builtin("IndexError", call.place);
  return items[static_cast<std::size_t>(*at)];
}
Value group(Call& call) {
  if (call.spread) return unknown_of(call);
  if (call.rest.empty()) return of_group(call, call.run.heap().integer(0), ExpressionState::groups);
  std::vector<Value> found;
  found.reserve(call.rest.size());
  for (const Value& each : call.rest) found.push_back(of_group(call, each, ExpressionState::groups));
  return found.size() == 1 ? found[0] : call.run.heap().tuple(std::move(found));
}
Value match_item(Call& call) { return of_group(call, call.at(0), ExpressionState::groups); }
Value groups(Call& call) {
  const Value all = kept(call, ExpressionState::groups);
  if (!all) return unknown_of(call);
  std::vector<Value> items(
      values::Heap::list_state(all)->items.begin() + 1, values::Heap::list_state(all)->items.end());
  for (Value& each : items)
    if (each.is(Kind::none)) each = call.at(0);
  return call.run.heap().tuple(std::move(items));
}
Value named_groups(Call& call) {
  const Value names = kept(call, ExpressionState::names);
  if (!names) return unknown_of(call);
  std::vector<std::pair<Value, Value>> items;
  for (const auto& [name, number] : values::Heap::dict_state(names)->items) {
    const Value text = of_group(call, number, ExpressionState::groups);
    items.emplace_back(name, text.is(Kind::none) ? call.at(0) : text);
  }
  return call.run.heap().dict(std::move(items));
}
Value span(Call& call) { return of_group(call, call.at(0), ExpressionState::spans); }
template <std::size_t side> Value bound(Call& call) {
  const Value both = span(call);
  return both.is(Kind::tuple) ? both.as<values::Tuple>()->items[side] : both;
}

}  // namespace

std::vector<Row> expression_rows() {
  using enum RowKind;
  std::vector<Row> rows = {
      row("re.compile", function, "pattern, flags=0", compile),
      row("re.search", function, "pattern, string, flags=0", first_match<Place::anywhere>),
      row("re.match", function, "pattern, string, flags=0", first_match<Place::at_start>),
      row("re.fullmatch", function, "pattern, string, flags=0", first_match<Place::whole>),
      row("re.findall", function, "pattern, string, flags=0", all_matches),
      row("re.finditer", function, "pattern, string, flags=0", each_match),
      row("re.split", function, "pattern, string, maxsplit=0, flags=0", split),
      row("re.sub", function, "pattern, repl, string, count=0, flags=0", substitute<false>),
      row("re.subn", function, "pattern, repl, string, count=0, flags=0", substitute<true>),
      row("re.escape", function, "pattern", escape),

      row("re.Pattern", class_, "*arguments", nullptr),
      row("re.Pattern.search", method, "string, *bounds", first_match<Place::anywhere>),
      row("re.Pattern.match", method, "string, *bounds", first_match<Place::at_start>),
      row("re.Pattern.fullmatch", method, "string, *bounds", first_match<Place::whole>),
      row("re.Pattern.findall", method, "string, *bounds", all_matches),
      row("re.Pattern.finditer", method, "string, *bounds", each_match),
      row("re.Pattern.split", method, "string, maxsplit=0", split),
      row("re.Pattern.sub", method, "repl, string, count=0", substitute<false>),
      row("re.Pattern.subn", method, "repl, string, count=0", substitute<true>),

      row("re.Match", class_, "*arguments", nullptr),
      row("re.Match.group", method, "*groups", group),
      row("re.Match.__getitem__", method, "group", match_item),
      row("re.Match.groups", method, "default=None", groups),
      row("re.Match.groupdict", method, "default=None", named_groups),
      row("re.Match.span", method, "group=0", span),
      row("re.Match.start", method, "group=0", bound<0>),
      row("re.Match.end", method, "group=0", bound<1>),
  };
  [&]<std::size_t... i>(std::index_sequence<i...>) {
    static const std::array<std::string, 2 * flags.size()> paths = {
        ("re." + std::string(flags[i].name))..., ("re." + std::string(flags[i].short_name))...};
    (rows.push_back(row(paths[i], constant, "", flag<i>)), ...);
    (rows.push_back(row(paths[flags.size() + i], constant, "", flag<i>)), ...);
  }(std::make_index_sequence<flags.size()>{});
  return rows;
}

}  // namespace stepzero::libraries
