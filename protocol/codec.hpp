// How C++ values and JSON become each other: primitives, lists, maps, optionals and unions here; a struct of
// the protocol brings its own to_json and from_json. Decoding is strict: a field of the wrong kind throws
// DecodeError, which names the path to it. Unknown fields are ignored. Knows no message and no method.
#pragma once

#include "protocol/any.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace stepzero::protocol {

class DecodeError : public std::exception {
public:
  explicit DecodeError(std::string reason);
  DecodeError(std::string_view expected, const Json& got);  // "expected a string, got null"

  // Called on the way out, from the innermost field to the outermost.
  void inside(std::string_view field);
  void inside(std::size_t index);

  const std::string& path() const { return path_; }  // "contentChanges[1].range.start"
  const std::string& reason() const { return reason_; }
  const char* what() const noexcept override { return text_.c_str(); }  // "path: reason"

private:
  void compose();
  std::string path_, reason_, text_;
};

// Absent parameters, and the result null. Decodes from anything.
struct None {
  friend bool operator==(const None&, const None&) = default;
};
void to_json(Json& out, const None&);
void from_json(const Json& in, None&);

// An enumeration that travels as an integer says its range next to its definition:
//   constexpr IntRange values_of(DiagnosticSeverity) { return {1, 4}; }
struct IntRange {
  int first, last;
};
int read_int_in(const Json& in, IntRange range);
void write_int(Json& out, std::int64_t value);

bool is_null(const Json& in);
void write_null(Json& out);
void read_array(const Json& in, const std::function<void(const Json&)>& element);
void write_array(Json& out, std::size_t size, const std::function<void(std::size_t, Json&)>& element);
void read_map(const Json& in, const std::function<void(const std::string&, const Json&)>& entry);
void write_entry(Json& out, const std::string& key, const std::function<void(Json&)>& value);
void write_empty_object(Json& out);

template <class T> struct Codec {
  static void read(const Json& in, T& out) { from_json(in, out); }
  static void write(Json& out, const T& in) { to_json(out, in); }
};

#define STEPZERO_PRIMITIVE(T)                                                                                \
  template <> struct Codec<T> {                                                                              \
    static void read(const Json& in, T& out);                                                                \
    static void write(Json& out, const T& in);                                                               \
  };
STEPZERO_PRIMITIVE(bool)
STEPZERO_PRIMITIVE(std::int32_t)
STEPZERO_PRIMITIVE(std::uint32_t)  // saturates at 2^31 - 1: clients write "to the end" as very large numbers
STEPZERO_PRIMITIVE(double)
STEPZERO_PRIMITIVE(std::string)
#undef STEPZERO_PRIMITIVE

template <class E>
  requires requires(E e) { values_of(e); }
struct Codec<E> {
  static void read(const Json& in, E& out) { out = static_cast<E>(read_int_in(in, values_of(E{}))); }
  static void write(Json& out, const E& in) { write_int(out, static_cast<std::int64_t>(in)); }
};

template <class T> struct Codec<std::vector<T>> {
  static void read(const Json& in, std::vector<T>& out) {
    out.clear();
    read_array(in, [&out](const Json& element) { Codec<T>::read(element, out.emplace_back()); });
  }
  static void write(Json& out, const std::vector<T>& in) {
    write_array(out, in.size(), [&in](std::size_t i, Json& element) { Codec<T>::write(element, in[i]); });
  }
};

template <class T> struct Codec<std::map<std::string, T>> {
  static void read(const Json& in, std::map<std::string, T>& out) {
    out.clear();
    read_map(in, [&out](const std::string& key, const Json& value) { Codec<T>::read(value, out[key]); });
  }
  static void write(Json& out, const std::map<std::string, T>& in) {
    write_empty_object(out);
    for (const auto& [key, value] : in)
      write_entry(out, key, [&v = value](Json& entry) { Codec<T>::write(entry, v); });
  }
};

template <class T>
struct Codec<std::optional<T>> {  // standing alone, nullopt is null; a field is left out instead
  static void read(const Json& in, std::optional<T>& out) {
    if (is_null(in))
      out.reset();
    else
      Codec<T>::read(in, out.emplace());
  }
  static void write(Json& out, const std::optional<T>& in) {
    if (in)
      Codec<T>::write(out, *in);
    else
      write_null(out);
  }
};

// A union is decoded as its first alternative that fits: put the one with more required fields first.
template <class... Ts> struct Codec<std::variant<Ts...>> {
  static void read(const Json& in, std::variant<Ts...>& out) {
    std::optional<DecodeError> last;
    if (!(try_read<Ts>(in, out, last) || ...)) throw *last;
  }
  static void write(Json& out, const std::variant<Ts...>& in) {
    std::visit([&out](const auto& value) { Codec<std::decay_t<decltype(value)>>::write(out, value); }, in);
  }

private:
  template <class T>
  static bool try_read(const Json& in, std::variant<Ts...>& out, std::optional<DecodeError>& last) {
    try {
      T value{};
      Codec<T>::read(in, value);
      out = std::move(value);
      return true;
    } catch (const DecodeError& error) {
      last = error;
      return false;
    }
  }
};

// A value of the protocol as one it does not interpret, and back (throws DecodeError).
template <class T> Any to_any(const T& value) {
  return Any::made_by([&value](Json& out) { Codec<T>::write(out, value); });
}
template <class T> T from_any(const Any& any) {
  T value{};
  Codec<T>::read(any.json(), value);
  return value;
}

}  // namespace stepzero::protocol
