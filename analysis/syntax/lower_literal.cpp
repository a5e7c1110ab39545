// Literals: numbers, and strings with their prefixes, escapes, concatenation and interpolations.
#include "syntax/lower_common.hpp"

#include <charconv>
#include <cmath>
#include <limits>
#include <string>

namespace stepzero::syntax {
namespace {

int digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return 16;
}

// Lone surrogates are kept, in the way UTF-8 would write them if it might.
void append_codepoint(std::string& out, std::uint32_t code) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | (code >> 6)), put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | (code >> 12)), put(0x80 | ((code >> 6) & 0x3f)), put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | (code >> 18)), put(0x80 | ((code >> 12) & 0x3f)), put(0x80 | ((code >> 6) & 0x3f)),
        put(0x80 | (code & 0x3f));
  }
}

struct Prefix {
  bool raw = false, bytes = false, format = false, templated = false;
  std::size_t length = 0;  // of prefix and quotes
  std::size_t quotes = 1;
};

Prefix prefix_of(std::string_view literal) {
  Prefix out;
  std::size_t at = 0;
  for (; at < literal.size() && literal[at] != '"' && literal[at] != '\''; ++at) {
    switch (literal[at] | 0x20) {
    case 'r': out.raw = true; break;
    case 'b': out.bytes = true; break;
    case 'f': out.format = true; break;
    case 't': out.format = out.templated = true; break;
    default: break;
    }
  }
  if (at + 2 < literal.size() && literal[at + 1] == literal[at] && literal[at + 2] == literal[at])
    out.quotes = 3;
  out.length = at + out.quotes;
  return out;
}

// Reads up to `most` digits of `base` at `at`; moves `at` past them.
std::uint32_t read_digits(std::string_view raw, std::size_t& at, std::size_t most, int base) {
  std::uint32_t value = 0;
  for (std::size_t count = 0; count < most && at < raw.size() && digit(raw[at]) < base; ++count, ++at)
    value = value * static_cast<std::uint32_t>(base) + static_cast<std::uint32_t>(digit(raw[at]));
  return value;
}

// Appends the escape at raw[at], a backslash; moves `at` past it.
void append_escape(std::string& out, std::string_view raw, std::size_t& at, bool bytes) {
  const std::size_t begin = at++;
  if (at >= raw.size()) {
    out.push_back('\\');
    return;
  }
  const auto put = [&](std::uint32_t code) {
    if (bytes) {
      out.push_back(static_cast<char>(code));
    } else {
      append_codepoint(out, code);
    }
  };
  const char c = raw[at++];
  switch (c) {
  case '\r':
    if (at < raw.size() && raw[at] == '\n') ++at;
    return;
  case '\n': return;
  case '\\':
  case '\'':
  case '"': out.push_back(c); return;
  case 'a': out.push_back('\a'); return;
  case 'b': out.push_back('\b'); return;
  case 'f': out.push_back('\f'); return;
  case 'n': out.push_back('\n'); return;
  case 'r': out.push_back('\r'); return;
  case 't': out.push_back('\t'); return;
  case 'v': out.push_back('\v'); return;
  case 'x':
    if (at + 1 < raw.size() && digit(raw[at]) < 16 && digit(raw[at + 1]) < 16)
      return put(read_digits(raw, at, 2, 16));
    break;
  case 'u':
  case 'U':
    if (!bytes) return put(read_digits(raw, at, c == 'u' ? 4 : 8, 16));
    break;
  case 'N':
    // The names of all characters are not known here.
    if (!bytes && at < raw.size() && raw[at] == '{') {
      if (const std::size_t close = raw.find('}', at); close != raw.npos) {
        at = close + 1;
        return put(0xfffd);
      }
    }
    break;
  default:
    if (c >= '0' && c <= '7') {
      --at;
      return put(read_digits(raw, at, 3, 8) & (bytes ? 0xffU : 0x1ffU));
    }
    break;
  }
  at = begin + 1;
  out.push_back('\\');
}

// Where the plain run that begins at `at` ends.
std::size_t plain_end(std::string_view raw, std::size_t at, bool format) {
  for (; at < raw.size(); ++at) {
    const char c = raw[at];
    if (c == '\\' || c == '\r' || (format && (c == '{' || c == '}'))) return at;
  }
  return at;
}

// The value of a piece of a literal's inside. Line endings become "\n", as Python reads them.
void append_literal(std::string& out, std::string_view raw, const Prefix& prefix) {
  for (std::size_t at = 0; at < raw.size();) {
    const std::size_t plain = plain_end(raw, at, prefix.format);
    out.append(raw.substr(at, plain - at));
    if (plain == raw.size()) return;
    at = plain;
    if (raw[at] == '\r') {
      out.push_back('\n');
      at += at + 1 < raw.size() && raw[at + 1] == '\n' ? 2 : 1;
    } else if (raw[at] == '\\' && !prefix.raw) {
      append_escape(out, raw, at, prefix.bytes);
    } else if (raw[at] == '\\') {
      out.push_back(raw[at++]);
    } else {
      out.push_back(raw[at]);
      at += at + 1 < raw.size() && raw[at + 1] == raw[at] ? 2 : 1;
    }
  }
}

}  // namespace

const Expr* Lowering::integer(TSNode node) {
  std::string_view digits = original(node);
  const Span at = span(node);
  if (digits.ends_with('j') || digits.ends_with('J')) return real(node);
  std::uint64_t base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    const char mark = static_cast<char>(digits[1] | 0x20);
    base = mark == 'x' ? 16 : mark == 'o' ? 8 : mark == 'b' ? 2 : 10;
    if (base != 10) digits.remove_prefix(2);
  }
  constexpr auto limit = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  std::uint64_t value = 0;
  bool fits = true, zero = digits.size() > 1 && base == 10 && digits[0] == '0';
  for (const char c : digits) {
    if (c == '_') continue;
    if (c == 'l' || c == 'L') {
      has_error_ = true;
      break;
    }
    const auto next = static_cast<std::uint64_t>(digit(c));
    if (value > (limit - std::min(limit, next)) / base) fits = false;
    value = fits ? value * base + next : 0;
  }
  if (zero && value != 0) has_error_ = true;  // 017, an octal of Python 2
  return make(IntegerExpr{{ExprKind::integer, at}, fits ? static_cast<std::int64_t>(value) : 0, fits});
}

const Expr* Lowering::real(TSNode node) {
  std::string digits;
  bool imaginary = false;
  for (const char c : original(node)) {
    if (c == 'j' || c == 'J') {
      imaginary = true;
    } else if (c != '_') {
      digits.push_back(c);
    }
  }
  double value = 0;
  const auto result = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (result.ec == std::errc::result_out_of_range) {
    const std::size_t exponent = digits.find_first_of("eE");
    const bool tiny = exponent != digits.npos && exponent + 1 < digits.size() && digits[exponent + 1] == '-';
    value = tiny ? 0.0 : HUGE_VAL;
  }
  if (imaginary) return make(ImaginaryExpr{{ExprKind::imaginary, span(node)}, value});
  return make(RealExpr{{ExprKind::real, span(node)}, value});
}

// A literal being put together from adjacent string tokens.
struct Lowering::StringParts {
  explicit StringParts(Lowering& lowering) : parts(lowering) {}
  std::string text;  // since the last interpolation
  Span text_span{};
  bool bytes = false, format = false, templated = false, plain = true;
  Gather<const Expr*> parts;

  void grow(Span span) {
    if (text_span.end == 0) text_span = span;
    text_span.end = span.end;
  }
  void flush(Lowering& lowering) {
    if (!text.empty()) {
      const std::string_view kept = lowering.keep(text);
      parts.push(lowering.make(StringExpr{{ExprKind::string, text_span}, kept}));
    }
    text.clear();
    text_span = {};
  }
};

void Lowering::interpolation(StringParts& out) {
  const TSNode whole = node();
  const Expr* value = nullptr;
  bool conversion = false;
  std::vector<const Expr*> nested;
  std::uint32_t debug_end = 0;
  const std::uint32_t begin = ts_node_start_byte(whole);
  children([&](TSNode child, Node kind) {
    if (kind == Node::equal) {
      debug_end = ts_node_end_byte(child);
    } else if (kind == Node::type_conversion) {
      conversion = true;
    } else if (kind == Node::format_specifier) {
      conversion = true;
      children([&](TSNode, Node part) {
        if (part != Node::format_expression) return;
        StringParts inner(*this);
        interpolation(inner);
        nested.reserve(inner.parts.size());
        for (std::size_t index = 0; index < inner.parts.size(); ++index) nested.push_back(inner.parts[index]);
      });
    } else if (is_expression(kind)) {
      value = expression();
    }
  });
  if (debug_end) {  // f"{x = }" writes the expression's text, too
    std::uint32_t end = debug_end;
    while (source_.origin + end < original_.size() && original_[source_.origin + end] == ' ') ++end;
    out.text += original_.substr(source_.origin + begin + 1, end - begin - 1);
    const Span all = span(whole);
    out.grow({all.begin + 1, all.begin + (end - begin)});
    conversion = true;
  }
  out.flush(*this);
  if (value) out.parts.push(value);
  for (const Expr* part : nested) out.parts.push(part);
  out.plain = out.plain && !conversion;
}

void Lowering::string_part(StringParts& out) {
  const TSNode whole = node();
  const std::string_view literal = original(whole);
  const Prefix prefix = prefix_of(literal);
  const Span at = span(whole);
  out.bytes = out.bytes || prefix.bytes;
  if (!prefix.format) {
    if (literal.size() >= prefix.length + prefix.quotes)
      append_literal(
          out.text, literal.substr(prefix.length, literal.size() - prefix.length - prefix.quotes), prefix);
    out.grow(at);
    return;
  }
  out.format = true;
  out.templated = out.templated || prefix.templated;
  children([&](TSNode child, Node kind) {
    if (kind == Node::string_content) {
      append_literal(out.text, original(child), prefix);
      out.grow(span(child));
    } else if (kind == Node::interpolation) {
      interpolation(out);
    }
  });
}

const Expr* Lowering::string(TSNode node, bool concatenated) {
  StringParts out(*this);
  if (concatenated) {
    children([&](TSNode, Node kind) {
      if (kind == Node::string) string_part(out);
    });
  } else {
    string_part(out);
  }
  const Span at = span(node);
  if (out.format) {
    out.flush(*this);
    if (out.templated) return make(ErrorExpr{{ExprKind::error, at}, out.parts.list()});
    return make(FormatExpr{{ExprKind::format, at}, out.parts.list(), out.plain});
  }
  const std::string_view value = keep(out.text);
  if (out.bytes) return make(BytesExpr{{ExprKind::bytes, at}, value});
  return make(StringExpr{{ExprKind::string, at}, value});
}

}  // namespace stepzero::syntax
