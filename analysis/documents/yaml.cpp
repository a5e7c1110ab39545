// YAML as libyaml reads it, and its values without quotes as PyYAML or OmegaConf take them.
#include "documents/document.hpp"

#include <yaml.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace stepzero::documents {

namespace {

constexpr int deepest_node = 64;             // configurations nest less; the stack has to hold
constexpr std::size_t most_nodes = 100'000;  // aliases can stand for more than the file holds

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

bool all_digits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

// What YAML 1.1 takes a text without quotes for, as PyYAML does: numbers with an exponent need a dot and a
// sign, unless they may be bare.
void resolve(std::string_view written, Node& into, bool bare_exponents) {
  using enum Node::Kind;
  into.kind = text;
  into.text = written;
  const auto be = [&](Node::Kind kind) {
    into.kind = kind;
    into.text.clear();
  };
  if (written.empty() || is_one_of(written, {"~", "null", "Null", "NULL"})) return be(null);
  if (is_one_of(written, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    into.truth = true;
    return be(boolean);
  }
  if (is_one_of(written, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"}))
    return be(boolean);
  const bool minus = written.front() == '-';
  std::string_view number = written;
  if (minus || written.front() == '+') number.remove_prefix(1);
  if (is_one_of(number, {".inf", ".Inf", ".INF"})) {
    into.real = minus ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
    return be(real);
  }
  if (is_one_of(written, {".nan", ".NaN", ".NAN"})) {
    into.real = std::nan("");
    return be(real);
  }
  if (number.empty() || !(std::isdigit(static_cast<unsigned char>(number.front())) || number.front() == '.'))
    return;
  // Dates, times and numbers to the base of 60 are left aside.
  if (number.find(':') != std::string_view::npos || number.find_first_of("-", 1) != std::string_view::npos) {
    if (number.find_first_not_of("0123456789_:.-+TtZz ") == std::string_view::npos &&
        number.find_first_of("eE") == std::string_view::npos)
      return be(unknown);
  }
  std::string digits;
  for (const char c : number)
    if (c != '_') digits += c;
  int base = 10;
  std::string_view whole = digits;
  if (whole.starts_with("0x"))
    base = 16, whole.remove_prefix(2);
  else if (whole.starts_with("0b"))
    base = 2, whole.remove_prefix(2);
  else if (whole.size() > 1 && whole.front() == '0')
    base = 8;
  if (all_digits(whole,
          base == 16      ? "0123456789abcdefABCDEF"
              : base == 2 ? "01"
              : base == 8 ? "01234567"
                          : "0123456789")) {
    const auto [end, failure] = std::from_chars(
        whole.data(), whole.data() + whole.size(), into.integer, base);
    if (failure != std::errc()) return be(unknown);
    if (minus) into.integer = -into.integer;
    return be(integer);
  }
  if (bare_exponents && base == 10 && digits.find_first_not_of("0123456789.eE+-") == std::string::npos) {
    double value = 0;
    const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (failure == std::errc() && end == digits.data() + digits.size()) {
      into.real = minus ? -value : value;
      return be(real);
    }
  }
  const auto dot = digits.find('.');
  if (base == 16 || base == 2 || dot == std::string::npos || digits.find('.', dot + 1) != std::string::npos)
    return;
  if (const auto exponent = digits.find_first_of("eE"); exponent != std::string::npos) {
    // "1.0e5" is a text: the sign of the exponent is needed, and a digit before it.
    if (exponent < dot || exponent + 2 >= digits.size() ||
        (digits[exponent + 1] != '-' && digits[exponent + 1] != '+') ||
        !all_digits(std::string_view(digits).substr(exponent + 2), "0123456789"))
      return;
    if (!all_digits(digits.substr(0, dot) + digits.substr(dot + 1, exponent - dot - 1), "0123456789")) return;
  } else if (digits.size() == 1 ||
      !all_digits(digits.substr(0, dot) + digits.substr(dot + 1), "0123456789")) {
    return;
  }
  into.real = std::strtod(digits.c_str(), nullptr) * (minus ? -1 : 1);
  be(real);
}

// libyaml counts code points, and leaves a byte order mark out. It asks for places nearly in order.
class Places {
public:
  explicit Places(std::string_view text) : text_(text) {
    if (text.starts_with("\xEF\xBB\xBF")) first_ = byte_ = 3;
  }
  std::uint32_t offset(std::size_t index) {
    if (index < index_) index_ = 0, byte_ = first_;
    while (index_ < index && byte_ < text_.size()) {
      ++byte_, ++index_;
      while (byte_ < text_.size() && (static_cast<unsigned char>(text_[byte_]) & 0xC0) == 0x80) ++byte_;
    }
    return static_cast<std::uint32_t>(byte_);
  }

private:
  std::string_view text_;
  std::size_t first_ = 0, byte_ = 0, index_ = 0;
};

class YamlReader {
public:
  YamlReader(std::string_view text, bool bare_exponents) : bare_exponents_(bare_exponents), places_(text) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (ready_)
      yaml_parser_set_input_string(
          &parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~YamlReader() {
    if (ready_) yaml_parser_delete(&parser_);
  }
  YamlReader(const YamlReader&) = delete;
  YamlReader& operator=(const YamlReader&) = delete;

  // One document, or none; more of them are no configuration.
  bool read(Node& into) {
    Event event;
    if (!ready_ || !next(event) || event.type() != YAML_STREAM_START_EVENT || !next(event)) return false;
    if (event.type() == YAML_STREAM_END_EVENT) {
      into.kind = Node::Kind::null;
      return true;
    }
    if (event.type() != YAML_DOCUMENT_START_EVENT || !next(event) || !node(event, into, 0)) return false;
    return next(event) && event.type() == YAML_DOCUMENT_END_EVENT && next(event) &&
        event.type() == YAML_STREAM_END_EVENT;
  }

private:
  struct Event {
    Event() = default;
    ~Event() { drop(); }
    Event(const Event&) = delete;
    Event& operator=(const Event&) = delete;
    void drop() {
      if (held) yaml_event_delete(&event);
      held = false;
    }
    yaml_event_type_t type() const { return event.type; }
    yaml_event_t event = {};
    bool held = false;
  };

  bool next(Event& event) {
    event.drop();
    event.held = yaml_parser_parse(&parser_, &event.event) == 1;
    return event.held;
  }
  static std::string text_of(const unsigned char* text) {
    return text ? reinterpret_cast<const char*>(text) : std::string();
  }

  bool count(const Node& data) {
    if (++nodes_ > most_nodes) return false;
    for (const Node& item : data.items)
      if (!count(item)) return false;
    for (const Field& field : data.fields)
      if (!count(field.value)) return false;
    return true;
  }
  Span span(const Event& event) {
    return {places_.offset(event.event.start_mark.index), places_.offset(event.event.end_mark.index)};
  }
  void name(const unsigned char* anchor, const Node& data) {
    if (anchor) anchors_[text_of(anchor)] = data;
  }

  bool node(Event& event, Node& into, int depth) {
    using enum Node::Kind;
    if (depth > deepest_node || ++nodes_ > most_nodes) return false;
    into.span = span(event);
    switch (event.type()) {
    case YAML_ALIAS_EVENT: {
      const auto found = anchors_.find(text_of(event.event.data.alias.anchor));
      if (found == anchors_.end() || !count(found->second)) return false;
      const Span here = into.span;
      into = found->second;
      into.span = here;
      return true;
    }
    case YAML_SCALAR_EVENT: {
      const auto& scalar = event.event.data.scalar;
      const std::string value(reinterpret_cast<const char*>(scalar.value), scalar.length);
      if (scalar.tag)
        into.kind = unknown;
      else if (scalar.style == YAML_PLAIN_SCALAR_STYLE)
        resolve(value, into, bare_exponents_);
      else
        into.kind = text, into.text = value;
      name(scalar.anchor, into);
      return true;
    }
    case YAML_SEQUENCE_START_EVENT: {
      const std::string anchor = text_of(event.event.data.sequence_start.anchor);
      const bool tagged = event.event.data.sequence_start.tag != nullptr;
      into.kind = list;
      while (next(event) && event.type() != YAML_SEQUENCE_END_EVENT)
        if (!node(event, into.items.emplace_back(), depth + 1)) return false;
      if (!event.held) return false;
      into.span.end = span(event).end;
      return end(anchor, tagged, into);
    }
    case YAML_MAPPING_START_EVENT: {
      const std::string anchor = text_of(event.event.data.mapping_start.anchor);
      bool tagged = event.event.data.mapping_start.tag != nullptr;
      into.kind = table;
      std::vector<Field> merged;
      while (next(event) && event.type() != YAML_MAPPING_END_EVENT) {
        Node key, value;
        const bool plain = event.type() == YAML_SCALAR_EVENT &&
            event.event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (!node(event, key, depth + 1) || !next(event) || !node(event, value, depth + 1)) return false;
        if (plain && key.kind == text && key.text == "<<") {
          const auto merge = [&](const Node& from) {
            tagged = tagged || from.kind != table;
            into.has_other_keys = into.has_other_keys || from.has_other_keys;
            for (const Field& field : from.fields) {
              if (std::any_of(
                      merged.begin(), merged.end(), [&](const Field& each) { return each.key == field.key; }))
                continue;
              merged.push_back(field);
              merged.back().is_merged = true;
            }
          };
          if (value.kind != list) merge(value);
          for (const Node& item : value.items) merge(item);
        } else if (key.kind == text) {
          into.fields.push_back({std::move(key.text), key.span, !plain, false, std::move(value)});
        } else {
          into.has_other_keys = true;
        }
      }
      if (!event.held) return false;
      into.span.end = span(event).end;
      // What is written here is stronger than what is merged.
      into.fields.insert(into.fields.begin(), std::make_move_iterator(merged.begin()),
          std::make_move_iterator(merged.end()));
      return end(anchor, tagged, into);
    }
    default: return false;
    }
  }
  bool end(const std::string& anchor, bool tagged, Node& into) {
    if (tagged) {
      const Span here = into.span;
      into = {};
      into.span = here;
    }
    if (!anchor.empty()) anchors_[anchor] = into;
    return true;
  }

  yaml_parser_t parser_ = {};
  bool ready_ = false;
  bool bare_exponents_;
  std::size_t nodes_ = 0;
  std::map<std::string, Node> anchors_;
  Places places_;
};

}  // namespace

bool read_yaml(std::string_view text, Node& into, Exponents exponents) {
  return YamlReader(text, exponents == Exponents::bare).read(into);
}

}  // namespace stepzero::documents
