// One description of a struct's fields serves both directions: a function template `fields(f, value)` names
// each field once, and STEPZERO_LSP_CODEC makes to_json and from_json of it. For .cpp files: it includes all
// of nlohmann.
//
//   template <class F>
//   void fields(F& f, Of<F, Position> value) {
//     f("line", value.line);
//     f("character", value.character);
//   }
//   STEPZERO_LSP_CODEC(Position)
#pragma once

#include "protocol/codec.hpp"

#include <nlohmann/json.hpp>

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace stepzero::protocol {

class FieldReader {
public:
  template <class T> using Ref = T&;

  explicit FieldReader(const Json& in) : in_(in) {
    if (!in.is_object()) throw DecodeError("an object", in);
  }

  template <class T> void operator()(const char* key, T& out) const {  // required
    const Json* value = find(key);
    if (!value) missing(key);
    read(key, *value, out);
  }
  template <class T> void operator()(const char* key,
      std::optional<T>& out) const {  // left out if nullopt; null is taken for that
    const Json* value = find(key);
    out.reset();
    if (value && !value->is_null()) read(key, *value, out.emplace());
  }
  void operator()(const char* key, Any& out) const {  // left out if absent
    const Json* value = find(key);
    out = value ? Any(*value) : Any();
  }
  template <class T> void or_empty(const char* key, T& out) const {  // left out if it equals T{}
    const Json* value = find(key);
    out = T{};
    if (value && !value->is_null()) read(key, *value, out);
  }
  template <class T>
  void nullable(const char* key, std::optional<T>& out) const {  // null if nullopt; leniently, may be missing
    (*this)(key, out);
  }
  void required(const char* key, Any& out) const {
    const Json* value = find(key);
    if (!value) missing(key);
    out = Any(*value);
  }
  void constant(const char* key, std::string_view expected) const {
    const Json* value = find(key);
    if (value && *value == Json(expected)) return;
    DecodeError error("expected \"" + std::string(expected) + '"');
    error.inside(key);
    throw error;
  }
  // A struct within, all of whose fields are optional.
  template <class Body> void group(const char* key, Body body) const {
    static const Json empty = Json::object();
    const Json* value = find(key);
    try {
      FieldReader inner(value && !value->is_null() ? *value : empty);
      body(inner);
    } catch (DecodeError& error) {
      error.inside(key);
      throw;
    }
  }

  const Json& json() const { return in_; }

private:
  const Json* find(const char* key) const {
    const auto at = in_.find(key);
    return at == in_.end() ? nullptr : &*at;
  }
  [[noreturn]] static void missing(const char* key) {
    DecodeError error("is missing");
    error.inside(key);
    throw error;
  }
  template <class T> static void read(const char* key, const Json& value, T& out) {
    try {
      Codec<T>::read(value, out);
    } catch (DecodeError& error) {
      error.inside(key);
      throw;
    }
  }
  const Json& in_;
};

class FieldWriter {
public:
  template <class T> using Ref = const T&;

  explicit FieldWriter(Json& out) : out_(out) {
    if (!out.is_object()) out = Json::object();
  }

  template <class T> void operator()(const char* key, const T& value) const {
    Codec<T>::write(out_[key], value);
  }
  template <class T> void operator()(const char* key, const std::optional<T>& value) const {
    if (value) Codec<T>::write(out_[key], *value);
  }
  void operator()(const char* key, const Any& value) const {
    if (value) out_[key] = value.json();
  }
  template <class T> void or_empty(const char* key, const T& value) const {
    if (!(value == T{})) Codec<T>::write(out_[key], value);
  }
  template <class T> void nullable(const char* key, const std::optional<T>& value) const {
    Codec<std::optional<T>>::write(out_[key], value);
  }
  void required(const char* key, const Any& value) const { out_[key] = value.json(); }
  void constant(const char* key, std::string_view value) const { out_[key] = value; }
  template <class Body> void group(const char* key, Body body) const {
    Json inner = Json::object();
    FieldWriter writer(inner);
    body(writer);
    if (!inner.empty()) out_[key] = std::move(inner);
  }

private:
  Json& out_;
};

template <class F, class T> using Of = typename F::template Ref<T>;

// An enumeration that travels as a word: the words in the order of the values, from 0.
template <class E, std::size_t N>
void write_word(Json& out, E value, const std::array<std::string_view, N>& words) {
  out = words.at(static_cast<std::size_t>(value));
}
template <class E, std::size_t N>
void read_word(const Json& in, E& out, const std::array<std::string_view, N>& words) {
  if (!in.is_string()) throw DecodeError("a string", in);
  const auto& word = in.get_ref<const std::string&>();
  std::string known;
  for (std::size_t i = 0; i < N; ++i) {
    if (word == words[i]) {
      out = static_cast<E>(i);
      return;
    }
    known += (i == 0 ? "\"" : i + 1 == N ? " or \"" : ", \"") + std::string(words[i]) + '"';
  }
  throw DecodeError("expected " + known);
}

}  // namespace stepzero::protocol

#define STEPZERO_LSP_CODEC(T)                                                                                \
  void to_json(Json& out, const T& value) {                                                                  \
    ::stepzero::protocol::FieldWriter writer(out);                                                           \
    fields(writer, value);                                                                                   \
  }                                                                                                          \
  void from_json(const Json& in, T& value) {                                                                 \
    ::stepzero::protocol::FieldReader reader(in);                                                            \
    fields(reader, value);                                                                                   \
  }
