#include "server/workspace/data.hpp"

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

namespace stepzero::server {

namespace {

using program::Data;

constexpr int deepest = 64;
constexpr std::size_t most_nodes = 100'000;  // aliases can stand for more than the file holds

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words)
    if (text == word) return true;
  return false;
}

bool all_digits(std::string_view text, std::string_view digits) { return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos; }

// What YAML 1.1 takes a text without quotes for, as PyYAML does: numbers with an exponent need a dot and a sign, unless they may be bare.
void resolve(std::string_view written, Data& into, bool bare_exponents) {
  using enum Data::Kind;
  into.kind = text;
  into.text = written;
  const auto be = [&](Data::Kind kind) {
    into.kind = kind;
    into.text.clear();
  };
  if (written.empty() || is_one_of(written, {"~", "null", "Null", "NULL"})) return be(null);
  if (is_one_of(written, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) {
    into.truth = true;
    return be(boolean);
  }
  if (is_one_of(written, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return be(boolean);
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
  if (number.empty() || !(std::isdigit(static_cast<unsigned char>(number.front())) || number.front() == '.')) return;
  // Dates, times and numbers to the base of 60 are left aside.
  if (number.find(':') != std::string_view::npos || number.find_first_of("-", 1) != std::string_view::npos) {
    if (number.find_first_not_of("0123456789_:.-+TtZz ") == std::string_view::npos && number.find_first_of("eE") == std::string_view::npos) return be(unknown);
  }
  std::string digits;
  for (const char c : number)
    if (c != '_') digits += c;
  int base = 10;
  std::string_view whole = digits;
  if (whole.starts_with("0x")) base = 16, whole.remove_prefix(2);
  else if (whole.starts_with("0b")) base = 2, whole.remove_prefix(2);
  else if (whole.size() > 1 && whole.front() == '0') base = 8;
  if (all_digits(whole, base == 16 ? "0123456789abcdefABCDEF" : base == 2 ? "01" : base == 8 ? "01234567" : "0123456789")) {
    const auto [end, failure] = std::from_chars(whole.data(), whole.data() + whole.size(), into.integer, base);
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
  if (base == 16 || base == 2 || dot == std::string::npos || digits.find('.', dot + 1) != std::string::npos) return;
  if (const auto exponent = digits.find_first_of("eE"); exponent != std::string::npos) {
    // "1.0e5" is a text: the sign of the exponent is needed, and a digit before it.
    if (exponent < dot || exponent + 2 >= digits.size() || (digits[exponent + 1] != '-' && digits[exponent + 1] != '+') || !all_digits(std::string_view(digits).substr(exponent + 2), "0123456789")) return;
    if (!all_digits(digits.substr(0, dot) + digits.substr(dot + 1, exponent - dot - 1), "0123456789")) return;
  } else if (digits.size() == 1 || !all_digits(digits.substr(0, dot) + digits.substr(dot + 1), "0123456789")) {
    return;
  }
  into.real = std::strtod(digits.c_str(), nullptr) * (minus ? -1 : 1);
  be(real);
}

class Reader {
public:
  Reader(std::string_view text, bool bare_exponents) : bare_exponents_(bare_exponents) {
    ready_ = yaml_parser_initialize(&parser_) == 1;
    if (ready_) yaml_parser_set_input_string(&parser_, reinterpret_cast<const unsigned char*>(text.data()), text.size());
  }
  ~Reader() {
    if (ready_) yaml_parser_delete(&parser_);
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // One document, or none; more of them are no configuration.
  bool read(Data& into) {
    Event event;
    if (!ready_ || !next(event) || event.type() != YAML_STREAM_START_EVENT || !next(event)) return false;
    if (event.type() == YAML_STREAM_END_EVENT) return true;
    if (event.type() != YAML_DOCUMENT_START_EVENT || !next(event) || !node(event, into, 0)) return false;
    return next(event) && event.type() == YAML_DOCUMENT_END_EVENT && next(event) && event.type() == YAML_STREAM_END_EVENT;
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
  static std::string text_of(const unsigned char* text) { return text ? reinterpret_cast<const char*>(text) : std::string(); }

  bool count(const Data& data) {
    if (++nodes_ > most_nodes) return false;
    for (const Data& item : data.items)
      if (!count(item)) return false;
    for (const auto& [name, field] : data.fields)
      if (!count(field)) return false;
    return true;
  }
  void name(const unsigned char* anchor, const Data& data) {
    if (anchor) anchors_[text_of(anchor)] = data;
  }

  bool node(Event& event, Data& into, int depth) {
    using enum Data::Kind;
    if (depth > deepest || ++nodes_ > most_nodes) return false;
    switch (event.type()) {
    case YAML_ALIAS_EVENT: {
      const auto found = anchors_.find(text_of(event.event.data.alias.anchor));
      if (found == anchors_.end() || !count(found->second)) return false;
      into = found->second;
      return true;
    }
    case YAML_SCALAR_EVENT: {
      const auto& scalar = event.event.data.scalar;
      const std::string value(reinterpret_cast<const char*>(scalar.value), scalar.length);
      if (scalar.tag) into.kind = unknown;
      else if (scalar.style == YAML_PLAIN_SCALAR_STYLE) resolve(value, into, bare_exponents_);
      else into.kind = text, into.text = value;
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
      return end(anchor, tagged, into);
    }
    case YAML_MAPPING_START_EVENT: {
      const std::string anchor = text_of(event.event.data.mapping_start.anchor);
      bool tagged = event.event.data.mapping_start.tag != nullptr;
      into.kind = table;
      std::vector<std::pair<std::string, Data>> merged;
      while (next(event) && event.type() != YAML_MAPPING_END_EVENT) {
        Data key, value;
        const bool plain = event.type() == YAML_SCALAR_EVENT && event.event.data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
        if (!node(event, key, depth + 1) || !next(event) || !node(event, value, depth + 1)) return false;
        if (plain && key.kind == text && key.text == "<<") {
          const auto merge = [&](const Data& from) {
            tagged = tagged || from.kind != table;
            for (const auto& field : from.fields)
              if (std::none_of(merged.begin(), merged.end(), [&](const auto& each) { return each.first == field.first; })) merged.push_back(field);
          };
          if (value.kind != list) merge(value);
          for (const Data& item : value.items) merge(item);
        } else if (key.kind == text) {
          into.fields.emplace_back(std::move(key.text), std::move(value));
        } else {
          tagged = true;  // a key that is no text
        }
      }
      if (!event.held) return false;
      // What is written here is stronger than what is merged.
      into.fields.insert(into.fields.begin(), std::make_move_iterator(merged.begin()), std::make_move_iterator(merged.end()));
      return end(anchor, tagged, into);
    }
    default: return false;
    }
  }
  bool end(const std::string& anchor, bool tagged, Data& into) {
    if (tagged) {
      into = {};
      into.kind = Data::Kind::unknown;
    }
    if (!anchor.empty()) anchors_[anchor] = into;
    return true;
  }

  yaml_parser_t parser_ = {};
  bool ready_ = false;
  bool bare_exponents_;
  std::size_t nodes_ = 0;
  std::map<std::string, Data> anchors_;
};

} // namespace

bool read_yaml(std::string_view text, program::Data& into, bool bare_exponents) { return Reader(text, bare_exponents).read(into); }

} // namespace stepzero::server
