// JSON as tree-sitter reads it: comments are allowed, and what stands around a mistake is read.
#include "documents/document.hpp"
#include "documents/grammar.hpp"

#include <charconv>
#include <cstdlib>

extern "C" const TSLanguage* tree_sitter_json();

namespace stepzero::documents {

namespace {

constexpr int deepest_value = 64;  // configurations nest less; the stack has to hold

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xC0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    text += static_cast<char>(0xE0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    text += static_cast<char>(0xF0 | (code >> 18));
    text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// What stands between the quotes.
std::string unescaped(std::string_view written) {
  std::string text;
  std::uint32_t high = 0;  // the first half of a pair of surrogates
  for (std::size_t i = 0; i < written.size(); ++i) {
    if (written[i] != '\\' || i + 1 == written.size()) {
      text += written[i];
      continue;
    }
    switch (const char c = written[++i]) {
    case 'n': text += '\n'; break;
    case 't': text += '\t'; break;
    case 'r': text += '\r'; break;
    case 'b': text += '\b'; break;
    case 'f': text += '\f'; break;
    case 'u': {
      std::uint32_t code = 0;
      const char* first = written.data() + i + 1;
      if (i + 4 >= written.size() || std::from_chars(first, first + 4, code, 16).ptr != first + 4) break;
      i += 4;
      if (code >= 0xD800 && code < 0xDC00) {
        high = code;
        continue;
      }
      if (high != 0 && code >= 0xDC00 && code < 0xE000)
        code = 0x10000 + ((high - 0xD800) << 10) + (code - 0xDC00);
      append_utf8(text, code);
      break;
    }
    default: text += c;
    }
    high = 0;
  }
  return text;
}

class JsonReader {
public:
  JsonReader(std::string_view text, std::vector<Span>& comments) : text_(text), comments_(comments) {}

  // `cursor` stands at a value, and does again afterwards.
  bool value(TSTreeCursor& cursor, Node& into, int depth) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    using enum Node::Kind;
    into.span = span(node);
    const std::string_view type = ts_node_type(node),
                           written = text_.substr(into.span.begin, into.span.end - into.span.begin);
    if (depth > deepest_value) return false;
    if (type == "object") {
      into.kind = table;
      return fields(cursor, into, depth);
    }
    if (type == "array") {
      into.kind = list;
      into.items.reserve(ts_node_named_child_count(node));
      bool whole = true;
      each_child(
          cursor, [&] { whole = value(cursor, into.items.emplace_back(), depth + 1) && whole; }, whole);
      return whole;
    }
    if (type == "string") {
      into.kind = text;
      if (written.size() >= 2) into.text = unescaped(written.substr(1, written.size() - 2));
      return true;
    }
    if (type == "true" || type == "false") {
      into.kind = boolean;
      into.truth = type == "true";
      return true;
    }
    if (type == "null") {
      into.kind = null;
      return true;
    }
    if (type != "number") return false;
    if (written.find_first_of(".eE") == std::string_view::npos) {
      const auto [end, failure] = std::from_chars(
          written.data(), written.data() + written.size(), into.integer);
      if (failure == std::errc() && end == written.data() + written.size()) into.kind = integer;
      return true;
    }
    into.kind = real;
    into.real = std::strtod(std::string(written).c_str(), nullptr);
    return true;
  }

  // With the cursor at each named child that is a part of the value.
  template <class Each> void each_child(TSTreeCursor& cursor, const Each& each, bool& whole) {
    if (!ts_tree_cursor_goto_first_child(&cursor)) return;
    do {
      const TSNode child = ts_tree_cursor_current_node(&cursor);
      if (!ts_node_is_named(child)) continue;
      if (std::string_view(ts_node_type(child)) == "comment")
        comments_.push_back(span(child));
      else if (ts_node_is_error(child))
        whole = false;
      else
        each();
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
    ts_tree_cursor_goto_parent(&cursor);
  }

private:
  static Span span(TSNode node) { return {ts_node_start_byte(node), ts_node_end_byte(node)}; }

  bool fields(TSTreeCursor& cursor, Node& into, int depth) {
    into.fields.reserve(ts_node_named_child_count(ts_tree_cursor_current_node(&cursor)));
    bool whole = true;
    each_child(
        cursor,
        [&] {
          const TSNode pair = ts_tree_cursor_current_node(&cursor);
          whole = std::string_view(ts_node_type(pair)) == "pair" && field(cursor, into, depth) && whole;
        },
        whole);
    return whole;
  }

  // `cursor` stands at a pair of a key and a value.
  bool field(TSTreeCursor& cursor, Node& into, int depth) {
    if (!ts_tree_cursor_goto_first_child(&cursor)) return false;
    Field* made = nullptr;
    bool has_value = false, whole = true;
    do {
      const TSNode part = ts_tree_cursor_current_node(&cursor);
      const char* written = ts_tree_cursor_current_field_name(&cursor);
      const std::string_view name = written ? written : "";
      if (name == "key" && !made && std::string_view(ts_node_type(part)) == "string") {
        Node key;
        value(cursor, key, depth + 1);
        made = &into.fields.emplace_back();
        made->key = std::move(key.text);
        made->key_span = key.span;
        made->is_quoted = true;
      } else if (name == "value" && made && !has_value && !ts_node_is_missing(part)) {
        has_value = true;
        whole = value(cursor, made->value, depth + 1);
      }
    } while (ts_tree_cursor_goto_next_sibling(&cursor));
    ts_tree_cursor_goto_parent(&cursor);
    return has_value && whole;
  }

  std::string_view text_;
  std::vector<Span>& comments_;
};

}  // namespace

bool read_json(std::string_view text, Node& into, std::vector<Span>& comments, KeptTree* kept) {
  const GrammarTree tree = tree_of(tree_sitter_json(), text, kept);
  if (!tree) return false;
  const TSNode root = ts_tree_root_node(tree.get());
  bool whole = !ts_node_has_error(root), any = false;
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  JsonReader reader(text, comments);
  reader.each_child(
      cursor,
      [&] {
        if (any)
          whole = false;
        else
          whole = reader.value(cursor, into, 0) && whole;
        any = true;
      },
      whole);
  ts_tree_cursor_delete(&cursor);
  return whole && any;
}

}  // namespace stepzero::documents
