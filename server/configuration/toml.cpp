#include "server/configuration/toml.hpp"

#include <stdexcept>

// The library takes its own checks for granted in a release build, and a text such as "[[[" breaks one of
// them. Here they hold in every build, as an exception.
#undef NDEBUG
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wterminate"
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

} // namespace

Toml read_toml(const syntax::Text& text, const std::vector<std::string>& keys) {
  const Reader reader(text);
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

} // namespace stepzero::server
