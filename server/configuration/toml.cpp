#include "server/configuration/toml.hpp"

#include <algorithm>
#include <cstdint>
#include <stdexcept>
#include <string_view>

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

namespace stepzero::server {
namespace {

class Reader {
public:
  explicit Reader(const syntax::Text& text) : text_(text) {}

  // The library counts lines and code points from 1; 0 where it knows no place.
  syntax::Span span(const toml::source_region& region) const {
    const auto offset = [this](const toml::source_position& at) {
      if (at.line == 0) return 0u;
      return text_.offset({at.line - 1, at.column == 0 ? 0 : at.column - 1}, syntax::Encoding::codepoint);
    };
    const syntax::Span result = {offset(region.begin), offset(region.end)};
    return {result.begin, std::max(result.begin, result.end)};
  }

  Value value(const toml::node& node) const {
    Value result;
    result.where = span(node.source());
    if (const auto* string = node.as_string()) {
      result.kind = Value::Kind::string;
      result.text = string->get();
    } else if (node.is_number()) {
      result.kind = Value::Kind::number;
    } else if (node.is_boolean()) {
      result.kind = Value::Kind::boolean;
    } else if (const auto* array = node.as_array()) {
      result.kind = Value::Kind::list;
      for (const toml::node& item : *array) result.items.push_back(value(item));
    } else if (const auto* table = node.as_table()) {
      result.kind = Value::Kind::table;
      for (const auto& [key, item] : *table) {
        result.entries.push_back({std::string(key.str()), span(key.source()), value(item)});
      }
    }
    return result;
  }

private:
  const syntax::Text& text_;
};

// The first byte of a character that is not ASCII and stands neither in a string nor in a comment, where TOML
// has none. The library's classes of characters know no answer for most of them.
std::optional<std::size_t> bare_beyond_ascii(std::string_view text) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  std::size_t at = text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  while (at < text.size()) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) return at;
    if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
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

Toml read_toml(const syntax::Text& text, const std::vector<std::string>& keys) {
  const Reader reader(text);
  if (const auto bare = bare_beyond_ascii(text.bytes())) {
    const auto begin = static_cast<std::uint32_t>(*bare);
    return {std::nullopt,
        Problem{{begin, begin + 1}, "in TOML a character that is not ASCII stands in quotes", {}}};
  }
  try {
    const toml::table root = toml::parse(text.bytes());
    const toml::node* node = &root;
    for (const std::string& key : keys) {
      const toml::table* table = node->as_table();
      node = table == nullptr ? nullptr : table->get(key);
      if (node == nullptr) return {};
    }
    return {reader.value(*node), std::nullopt};
  } catch (const toml::parse_error& error) {
    return {std::nullopt, Problem{reader.span(error.source()), std::string(error.description()), {}}};
  } catch (const std::logic_error&) {
    return {std::nullopt, Problem{{}, "it is not TOML", {}}};
  }
}

}  // namespace stepzero::server
