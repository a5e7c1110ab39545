// TOML as toml++ reads it, with places. The only file that knows that library.
#include "documents/document.hpp"

#include <algorithm>
#include <stdexcept>

// The library takes its own checks for granted in a release build, and a text such as "[[[" breaks one of
// them. Here they hold in every build, as an exception.
#undef NDEBUG
#pragma GCC diagnostic push
#ifdef __clang__  // which calls it otherwise
#pragma GCC diagnostic ignored "-Wexceptions"
#else
#pragma GCC diagnostic ignored "-Wterminate"
#endif
#define TOML_ASSERT(condition) ((condition) ? void() : throw std::logic_error(#condition))
#include <toml++/toml.h>
#pragma GCC diagnostic pop

namespace stepzero::documents {

namespace {

class TomlReader {
public:
  explicit TomlReader(const syntax::Text& text) : text_(text) {}

  // The library counts lines and code points from 1; 0 where it knows no place.
  Span span(const toml::source_region& region) const {
    const auto offset = [this](const toml::source_position& at) {
      if (at.line == 0) return 0u;
      return text_.offset({at.line - 1, at.column == 0 ? 0 : at.column - 1}, syntax::Encoding::codepoint);
    };
    const Span result = {offset(region.begin), offset(region.end)};
    return {result.begin, std::max(result.begin, result.end)};
  }

  Node value(const toml::node& node) const {
    Node result;
    result.span = span(node.source());
    if (const auto* string = node.as_string()) {
      result.kind = Node::Kind::text;
      result.text = string->get();
    } else if (const auto* integer = node.as_integer()) {
      result.kind = Node::Kind::integer;
      result.integer = integer->get();
    } else if (const auto* real = node.as_floating_point()) {
      result.kind = Node::Kind::real;
      result.real = real->get();
    } else if (const auto* truth = node.as_boolean()) {
      result.kind = Node::Kind::boolean;
      result.truth = truth->get();
    } else if (const auto* array = node.as_array()) {
      result.kind = Node::Kind::list;
      for (const toml::node& item : *array) result.items.push_back(value(item));
    } else if (const auto* table = node.as_table()) {
      result.kind = Node::Kind::table;
      for (const auto& [key, item] : *table) {
        Field& field = result.fields.emplace_back();
        field.key = key.str();
        field.key_span = span(key.source());
        field.value = value(item);
      }
      std::sort(result.fields.begin(), result.fields.end(),
          [](const Field& a, const Field& b) { return a.key_span.begin < b.key_span.begin; });
    }
    return result;
  }

private:
  const syntax::Text& text_;
};

// The first byte of a character that is not ASCII and stands neither in a string nor in a comment, where TOML
// has none. The library's classes of characters know no answer for most of them.
std::optional<std::size_t> bare_beyond_ascii(std::string_view text, std::vector<Span>& comments) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) return at;
    if (c == '#') {
      const std::size_t end = std::min(text.find('\n', at), text.size());
      comments.push_back({static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)});
      at = end;
    } else if (c == '"' || c == '\'') {
      const bool block = text.substr(at).starts_with(std::string(3, c));
      const std::string quote(block ? 3 : 1, c);
      at += quote.size();
      while (at < text.size() && !text.substr(at).starts_with(quote) && (block || text[at] != '\n'))
        at += c == '"' && text[at] == '\\' ? 2 : 1;
      at += quote.size();
      while (block && at < text.size() && text[at] == c) ++at;  // quotes may stand before the closing ones
    } else {
      ++at;
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Broken> read_toml(const syntax::Text& text, Node& into, std::vector<Span>& comments) {
  const TomlReader reader(text);
  if (const auto bare = bare_beyond_ascii(text.bytes(), comments)) {
    const auto begin = static_cast<std::uint32_t>(*bare);
    return Broken{{begin, begin + 1}, "in TOML a character that is not ASCII stands in quotes"};
  }
  try {
    into = reader.value(toml::parse(text.bytes()));
    return std::nullopt;
  } catch (const toml::parse_error& error) {
    return Broken{reader.span(error.source()), std::string(error.description())};
  } catch (const std::logic_error&) {
    return Broken{{}, "it is not TOML"};
  }
}

}  // namespace stepzero::documents
