// Values as text: str(), repr(), f-strings, str.format and the % operator, where every part is known.
#include "interpreter/builtins/texts.hpp"
#include "interpreter/builtins/real_text.hpp"
#include "interpreter/calls/noted_events.hpp"
#include "interpreter/calls/unseen.hpp"
#include "interpreter/interpreter.hpp"
#include "values/kept.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace stepzero::interpreter {

using namespace syntax;
using values::Kind;

std::string text_of_real(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  char buffer[64];
  const auto [end, error] = std::to_chars(
      buffer, buffer + sizeof buffer, value, std::chars_format::scientific);
  std::string text(buffer, end);
  const auto at = text.find('e');
  const int exponent = std::atoi(text.c_str() + at + 1);
  std::string digits = text.substr(0, at);
  if (exponent < -4 || exponent >= 16) {
    const std::string power = std::to_string(std::abs(exponent));
    return digits + (exponent < 0 ? "e-" : "e+") + (power.size() < 2 ? "0" : "") + power;
  }
  const bool negative = digits.front() == '-';
  std::erase_if(digits, [](char c) { return c == '-' || c == '.'; });
  std::string plain;
  if (exponent < 0)
    plain = "0." + std::string(static_cast<std::size_t>(-exponent - 1), '0') + digits;
  else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    if (digits.size() < whole) digits.append(whole - digits.size(), '0');
    plain = digits.substr(0, whole) + "." + (digits.size() > whole ? digits.substr(whole) : "0");
  }
  return (negative ? "-" : "") + plain;
}

namespace {

constexpr int deepest_text = 6;  // texts in texts: an f-string of f-strings

std::string quoted(std::string_view text) {
  const char quote =
      text.find('\'') != std::string_view::npos && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == '\\' || c == quote) out += '\\';
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\r')
      out += "\\r";
    else
      out += c;
  }
  return out + quote;
}

std::size_t letters(std::string_view text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

struct Spec {
  std::string fill = " ";
  char align = 0, sign = '-', group = 0, type = 0;
  bool alternate = false;
  std::size_t width = 0;
  int precision = -1;
  bool valid = true;
};

Spec read_spec(std::string_view text) {
  Spec spec;
  const auto is_align = [](char c) { return c == '<' || c == '>' || c == '^' || c == '='; };
  if (text.size() >= 2 && is_align(text[1])) {
    spec.fill = text[0];
    spec.align = text[1];
    text.remove_prefix(2);
  } else if (!text.empty() && is_align(text[0])) {
    spec.align = text[0];
    text.remove_prefix(1);
  }
  const auto take = [&](std::string_view any) {
    if (text.empty() || any.find(text[0]) == std::string_view::npos) return '\0';
    const char found = text[0];
    text.remove_prefix(1);
    return found;
  };
  if (const char sign = take("+- ")) spec.sign = sign;
  spec.alternate = take("#") != 0;
  if (take("0") && !spec.align) {
    spec.fill = "0";
    spec.align = '=';
  }
  const auto number = [&](int otherwise) {
    int value = otherwise;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error == std::errc{}) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return value;
  };
  spec.width = static_cast<std::size_t>(std::clamp(number(0), 0, 200));
  spec.group = take(",_");
  if (take(".")) {
    spec.precision = number(-1);
    spec.valid = spec.precision >= 0 && spec.precision <= 60;
  }
  spec.type = take("bcdeEfFgGnosxX%");
  spec.valid = spec.valid && text.empty();
  return spec;
}

std::string padded(std::string text, std::string_view sign, const Spec& spec, char align) {
  if (spec.align) align = spec.align;
  const std::size_t size = letters(text) + sign.size();
  if (size >= spec.width) return std::string(sign) + text;
  const std::size_t missing = spec.width - size;
  const auto fill = [&](std::size_t n) {
    std::string out;
    for (std::size_t i = 0; i < n; ++i) out += spec.fill;
    return out;
  };
  switch (align) {
  case '<': return std::string(sign) + text + fill(missing);
  case '^': return fill(missing / 2) + std::string(sign) + text + fill(missing - missing / 2);
  case '=': return std::string(sign) + fill(missing) + text;
  default: return fill(missing) + std::string(sign) + text;
  }
}

std::string grouped(std::string digits, char group) {
  if (!group) return digits;
  std::string out;
  const auto point = digits.find_first_of(".e%");
  const std::string whole = digits.substr(0, point);
  for (std::size_t i = 0; i < whole.size(); ++i) {
    if (i && (whole.size() - i) % 3 == 0) out += group;
    out += whole[i];
  }
  return out + (point == std::string::npos ? "" : digits.substr(point));
}

std::optional<std::string> integer_text(std::int64_t value, const Spec& spec) {
  const bool negative = value < 0;
  std::uint64_t magnitude = negative ? 0 - static_cast<std::uint64_t>(value)
                                     : static_cast<std::uint64_t>(value);
  const int base = spec.type == 'b'          ? 2
      : spec.type == 'o'                     ? 8
      : spec.type == 'x' || spec.type == 'X' ? 16
                                             : 10;
  char buffer[72];
  const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, magnitude, base);
  std::string digits(buffer, end);
  if (spec.type == 'X')
    std::transform(digits.begin(), digits.end(), digits.begin(),
        [](char c) { return static_cast<char>(std::toupper(c)); });
  if (spec.alternate && base != 10)
    digits.insert(0, spec.type == 'b' ? "0b" : spec.type == 'o' ? "0o" : spec.type == 'x' ? "0x" : "0X");
  const std::string sign = negative ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  return padded(grouped(digits, spec.group), sign, spec, '>');
}

std::optional<std::string> real_text(double value, const Spec& spec) {
  if (!std::isfinite(value)) return std::nullopt;
  std::string digits;
  char buffer[512];
  const double magnitude = std::abs(value);
  switch (spec.type) {
  case 0:
    if (spec.precision < 0)
      digits = text_of_real(magnitude);
    else {
      // Like g, but always with a digit past the point.
      std::snprintf(buffer, sizeof buffer, "%.*g", spec.precision ? spec.precision : 1, magnitude);
      digits = buffer;
      if (digits.find_first_of(".e") == std::string::npos) digits += ".0";
    }
    break;
  case 'f':
  case 'F':
  case 'e':
  case 'E':
  case 'g': {
    const char* form = spec.type == 'e' ? "%.*e"
        : spec.type == 'E'              ? "%.*E"
        : spec.type == 'g'              ? "%.*g"
                                        : "%.*f";
    std::snprintf(buffer, sizeof buffer, form, spec.precision < 0 ? 6 : spec.precision, magnitude);
    digits = buffer;
    break;
  }
  case '%':
    std::snprintf(buffer, sizeof buffer, "%.*f%%", spec.precision < 0 ? 6 : spec.precision, magnitude * 100);
    digits = buffer;
    break;
  default: return std::nullopt;
  }
  const std::string sign = std::signbit(value) ? "-" : spec.sign == '-' ? "" : std::string(1, spec.sign);
  return padded(grouped(digits, spec.group), sign, spec, '>');
}

}  // namespace

std::optional<std::string> Interpreter::text_of(Value value, bool as_repr, int depth) {
  value = resolve(value);
  if (depth > deepest_text) return std::nullopt;
  const auto joined = [&](const std::vector<Value>& items, std::string_view open,
                          std::string_view close) -> std::optional<std::string> {
    std::string out(open);
    for (std::size_t i = 0; i < items.size(); ++i) {
      const auto text = text_of(items[i], true, depth + 1);
      if (!text || out.size() > longest_text) return std::nullopt;
      out += (i ? ", " : "") + *text;
    }
    return out + std::string(close);
  };
  switch (value.kind) {
  case Kind::string: return as_repr ? quoted(value.text()) : std::string(value.text());
  case Kind::none: return "None";
  case Kind::ellipsis: return "Ellipsis";
  case Kind::real: return text_of_real(value.real());
  case Kind::integer:
    if (const auto constant = symbols().value(value.integer())) return std::to_string(*constant);
    return std::nullopt;
  case Kind::boolean:
    if (const auto constant = to_constant(value)) return *constant ? "True" : "False";
    return std::nullopt;
  case Kind::dtype:
    return value.dtype() == values::Dtype::unknown
        ? std::nullopt
        : std::optional(std::string(library_.types().root) + std::string(values::name(value.dtype())));
  case Kind::device:
    if (as_repr) return std::nullopt;
    return std::string(value.as<values::Device>()->text);
  case Kind::tuple: {
    const auto* tuple = value.as<values::Tuple>();
    if (tuple->cls) {
      std::string out = std::string(tuple->cls->name.text()) + "(";
      for (std::size_t i = 0; i < tuple->items.size(); ++i) {
        const auto text = text_of(tuple->items[i], true, depth + 1);
        if (!text || i >= tuple->cls->fields.size()) return std::nullopt;
        out += (i ? ", " : "") + std::string(tuple->cls->fields[i].name.text()) + "=" + *text;
      }
      return out + ")";
    }
    return joined(tuple->items, "(", tuple->items.size() == 1 ? ",)" : ")");
  }
  case Kind::list: {
    const auto* state = values::Heap::list_state(value);
    if (state->open || value.as<values::List>()->kind != values::ListKind::list) return std::nullopt;
    return joined(state->items, "[", "]");
  }
  case Kind::dict: {
    const auto* state = values::Heap::dict_state(value);
    if (state->open) return std::nullopt;
    std::string out = "{";
    for (const auto& [key, item] : state->items) {
      const auto left = text_of(key, true, depth + 1),
                 right = item.is(Kind::choice) ? std::nullopt : text_of(item, true, depth + 1);
      if (!left || !right || out.size() > longest_text) return std::nullopt;
      out += (out.size() > 1 ? ", " : "") + *left + ": " + *right;
    }
    return out + "}";
  }
  case Kind::instance: {
    auto* object = value.as<values::Instance>();
    if (!object->cls) {
      // A path is written as what it stands for.
      const Value path = as_repr ? Value{} : object->attributes.value(Name(values::FileState::path));
      return path.is(Kind::string) ? std::optional(std::string(path.text())) : std::nullopt;
    }
    for (const std::string_view name : {as_repr ? "__repr__" : "__str__", "__repr__"})
      if (find_in_order(object->cls->order, Name(name)))
        if (const Value method = find_method(object, Name(name))) {
          const Value made = resolve(call(method, {}, {}));
          return made.is(Kind::string) ? std::optional(std::string(made.text())) : std::nullopt;
        }
    // A member of an enum that is text or a number, too, is written as what it is, or as its name: it depends
    // on the version.
    if (object->cls->is_enum && !object->cls->enum_mixes && !as_repr)
      if (const values::Slot* name = object->attributes.find(Name("name"));
          name && name->value.is(Kind::string))
        return std::string(object->cls->name.text()) + "." + std::string(name->value.text());
    return std::nullopt;
  }
  default: return std::nullopt;
  }
}

std::optional<std::string> Texts::formatted(Value value, std::string_view specification) {
  value = run_.resolve(value);
  if (specification.empty()) return run_.text_of(value, false);
  const Spec spec = read_spec(specification);
  if (!spec.valid) return std::nullopt;
  switch (value.kind) {
  case Kind::boolean:
  case Kind::integer: {
    const auto constant = run_.to_constant(value);
    if (!constant || (value.is(Kind::boolean) && !spec.type)) return std::nullopt;
    if (spec.type == 0 || std::string_view("bdoxXn").find(spec.type) != std::string_view::npos)
      return spec.precision < 0 ? integer_text(*constant, spec) : std::nullopt;
    return real_text(static_cast<double>(*constant), spec);
  }
  case Kind::real: return real_text(value.real(), spec);
  case Kind::string: {
    if (spec.type && spec.type != 's') return std::nullopt;
    std::string text(value.text());
    if (spec.precision >= 0) {
      if (letters(text) != text.size()) return std::nullopt;
      text = text.substr(0, static_cast<std::size_t>(spec.precision));
    }
    return padded(text, "", spec, '<');
  }
  default: return std::nullopt;
  }
}

Value Texts::evaluate_format(const FormatExpr& expr) {
  std::string text;
  bool known = true, nested = false;
  Sharing sharing = Sharing::uniform;
  const std::string_view source = expr.plain ? std::string_view{} : record_.text(run_.here(expr));
  for (const Expr* part : expr.parts) {
    const Value value = run_.resolve(run_.evaluate(*part));
    sharing = symbolic::mix(sharing, heap().sharing(value));
    run_.noted_->record_read(value, run_.here(*part));
    if (!known || nested) continue;
    std::string_view specification;
    bool as_repr = false;
    // Text that stands in the f-string itself has no quotes of its own.
    const std::string_view own =
        expr.plain || part->kind != ExprKind::string ? std::string_view{} : record_.text(run_.here(*part));
    const bool literal = part->kind == ExprKind::string &&
        !(own.size() >= 2 && own.front() == own.back() && (own.front() == '\'' || own.front() == '"'));
    if (!expr.plain && !literal) {
      // What stands between the part and its closing brace says how it is written.
      std::string_view rest = part->span.end - expr.span.begin <= source.size()
          ? source.substr(part->span.end - expr.span.begin)
          : std::string_view{};
      while (!rest.empty() && (rest.front() == ' ' || rest.front() == ')')) rest.remove_prefix(1);
      if (rest.starts_with("!r") || rest.starts_with("!s")) {
        as_repr = rest[1] == 'r';
        rest.remove_prefix(2);
      }
      if (rest.starts_with(":")) {
        const auto end = rest.find_first_of("{}");
        if (end == std::string_view::npos || rest[end] == '{')
          known = false;
        else
          specification = rest.substr(1, end - 1);
        if (as_repr) known = false;
      } else if (!rest.starts_with("}")) {
        known = false;
      }
      if (!known) continue;
    }
    const auto written = as_repr ? run_.text_of(value, true) : formatted(value, specification);
    if (written && text.size() < longest_text)
      text += *written;
    else
      known = false;
  }
  if (known) return heap().string(text);
  const Value made = heap().unknown("", sharing, run_.here(expr));
  note_beginning(heap(), made, text);
  return made;
}

std::optional<std::string> Texts::format_percent(std::string_view pattern, Value argument) {
  argument = run_.resolve(argument);
  std::vector<Value> items;
  if (argument.is(Kind::tuple))
    items = argument.as<values::Tuple>()->items;
  else
    items.push_back(argument);
  std::string out;
  std::size_t next = 0;
  bool mapped = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] != '%') {
      out += pattern[i];
      continue;
    }
    if (++i == pattern.size()) return std::nullopt;
    if (pattern[i] == '%') {
      out += '%';
      continue;
    }
    Value item;
    if (pattern[i] == '(') {
      const auto close = pattern.find(')', i);
      if (close == std::string_view::npos || !argument.is(Kind::dict)) return std::nullopt;
      item = run_.dict_get(argument, heap().string(pattern.substr(i + 1, close - i - 1)), {});
      i = close + 1;
      mapped = true;
    }
    const std::size_t begin = i;
    while (
        i < pattern.size() && std::string_view("#0- +.123456789").find(pattern[i]) != std::string_view::npos)
      ++i;
    if (i == pattern.size()) return std::nullopt;
    std::string flags(pattern.substr(begin, i - begin));
    const char type = pattern[i];
    if (!item) {
      if (next == items.size()) return std::nullopt;
      item = run_.resolve(items[next++]);
    }
    if (type == 's' || type == 'r') {
      const auto text = run_.text_of(item, type == 'r');
      if (!text) return std::nullopt;
      Spec spec = read_spec(flags.starts_with('-') ? "<" + flags.substr(1) : ">" + flags);
      if (!spec.valid || spec.precision >= 0) return std::nullopt;
      out += padded(*text, "", spec, '>');
      continue;
    }
    if (std::string_view("dixXoeEfFgG").find(type) == std::string_view::npos ||
        !(item.is(Kind::integer) || item.is(Kind::real)))
      return std::nullopt;
    const bool whole = std::string_view("dixXo").find(type) != std::string_view::npos;
    if (whole && item.is(Kind::real)) item = heap().integer(static_cast<std::int64_t>(item.real()));
    if (flags.starts_with('-')) flags = "<" + flags.substr(1);
    const auto text = formatted(item, flags + (type == 'i' ? 'd' : type));
    if (!text) return std::nullopt;
    out += *text;
  }
  if (!mapped && next != items.size()) return std::nullopt;
  return out;
}

std::optional<std::string> Texts::format_braces(std::string_view pattern, const Arguments& arguments) {
  if (arguments.spread) return std::nullopt;
  std::string out;
  std::size_t next = 0;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if ((c == '{' || c == '}') && i + 1 < pattern.size() && pattern[i + 1] == c) {
      out += c;
      ++i;
      continue;
    }
    if (c == '}') return std::nullopt;
    if (c != '{') {
      out += c;
      continue;
    }
    const auto close = pattern.find('}', i);
    if (close == std::string_view::npos) return std::nullopt;
    std::string_view field = pattern.substr(i + 1, close - i - 1), specification;
    i = close;
    if (const auto colon = field.find(':'); colon != std::string_view::npos) {
      specification = field.substr(colon + 1);
      field = field.substr(0, colon);
    }
    if (field.find_first_of("![{") != std::string_view::npos ||
        specification.find('{') != std::string_view::npos)
      return std::nullopt;
    const auto dot = field.find('.');
    std::string_view name = field.substr(0, dot),
                     path = dot == std::string_view::npos ? std::string_view{} : field.substr(dot + 1);
    Value item;
    std::size_t index = 0;
    if (name.empty()) index = next++;
    const bool numbered = name.empty() ||
        std::from_chars(name.data(), name.data() + name.size(), index).ec == std::errc{};
    if (numbered) {
      if (index >= arguments.positional.size()) return std::nullopt;
      item = arguments.positional[index];
    } else {
      for (const auto& [key, value] : arguments.keywords)
        if (key.text() == name) item = value;
      if (!item) return std::nullopt;
    }
    while (!path.empty()) {
      const auto end = path.find('.');
      item = run_.attribute(item, Name(path.substr(0, end)), {});
      path = end == std::string_view::npos ? std::string_view{} : path.substr(end + 1);
    }
    const auto text = formatted(item, specification);
    if (!text) return std::nullopt;
    out += *text;
  }
  return out;
}

}  // namespace stepzero::interpreter
