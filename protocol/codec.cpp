// Decoding and encoding of primitives and containers, and the path of a decoding error.
#include "protocol/codec.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <limits>

namespace stepzero::protocol {
namespace {

std::string_view kind(const Json& value) {
  switch (value.type()) {
  case Json::value_t::null: return "null";
  case Json::value_t::boolean: return "a boolean";
  case Json::value_t::string: return "a string";
  case Json::value_t::number_integer:
  case Json::value_t::number_unsigned:
  case Json::value_t::number_float: return "a number";
  case Json::value_t::object: return "an object";
  case Json::value_t::array: return "an array";
  default: return "something else";
  }
}

// Some clients write every number as a floating one: 3.0 is an integer.
bool is_integral(const Json& in) {
  if (in.is_number_integer()) return true;
  if (!in.is_number_float()) return false;
  const double value = in.get<double>();
  return std::isfinite(value) && std::trunc(value) == value;
}

}  // namespace

DecodeError::DecodeError(std::string reason) : reason_(std::move(reason)) { compose(); }

DecodeError::DecodeError(std::string_view expected, const Json& got)
    : DecodeError("expected " + std::string(expected) + ", got " + std::string(kind(got))) {}

void DecodeError::inside(std::string_view field) {
  const bool dot = !path_.empty() && path_.front() != '[';
  path_.insert(0, std::string(field) + (dot ? "." : ""));
  compose();
}

void DecodeError::inside(std::size_t index) {
  const bool dot = !path_.empty() && path_.front() != '[';
  path_.insert(0, '[' + std::to_string(index) + ']' + (dot ? "." : ""));
  compose();
}

void DecodeError::compose() { text_ = path_.empty() ? reason_ : path_ + ": " + reason_; }

void to_json(Json& out, const None&) { out = nullptr; }
void from_json(const Json&, None&) {}

int read_int_in(const Json& in, IntRange range) {
  std::int32_t value = 0;
  Codec<std::int32_t>::read(in, value);
  if (value < range.first || value > range.last)
    throw DecodeError("expected a value from " + std::to_string(range.first) + " to " +
        std::to_string(range.last) + ", got " + std::to_string(value));
  return value;
}

void write_int(Json& out, std::int64_t value) { out = value; }

bool is_null(const Json& in) { return in.is_null(); }
void write_null(Json& out) { out = nullptr; }

void read_array(const Json& in, const std::function<void(const Json&)>& element) {
  if (!in.is_array()) throw DecodeError("an array", in);
  std::size_t index = 0;
  try {
    for (const Json& value : in) {
      element(value);
      ++index;
    }
  } catch (DecodeError& error) {
    error.inside(index);
    throw;
  }
}

void write_array(Json& out, std::size_t size, const std::function<void(std::size_t, Json&)>& element) {
  out = Json::array();
  auto& elements = out.get_ref<Json::array_t&>();
  elements.resize(size);
  for (std::size_t i = 0; i < size; ++i) element(i, elements[i]);
}

void read_map(const Json& in, const std::function<void(const std::string&, const Json&)>& entry) {
  if (!in.is_object()) throw DecodeError("an object", in);
  for (const auto& [key, value] : in.items()) {
    try {
      entry(key, value);
    } catch (DecodeError& error) {
      error.inside(key);
      throw;
    }
  }
}

void write_entry(Json& out, const std::string& key, const std::function<void(Json&)>& value) {
  value(out[key]);
}
void write_empty_object(Json& out) { out = Json::object(); }

void Codec<bool>::read(const Json& in, bool& out) {
  if (!in.is_boolean()) throw DecodeError("a boolean", in);
  out = in.get<bool>();
}
void Codec<bool>::write(Json& out, const bool& in) { out = in; }

void Codec<std::int32_t>::read(const Json& in, std::int32_t& out) {
  using Limits = std::numeric_limits<std::int32_t>;
  if (!is_integral(in)) throw DecodeError("an integer", in);
  const double value = in.get<double>();  // exact up to 2^53, and far enough beyond
  if (value < Limits::min() || value > Limits::max()) throw DecodeError("expected an integer of 32 bits");
  out = static_cast<std::int32_t>(value);
}
void Codec<std::int32_t>::write(Json& out, const std::int32_t& in) { out = in; }

void Codec<std::uint32_t>::read(const Json& in, std::uint32_t& out) {
  if (!is_integral(in)) throw DecodeError("an unsigned integer", in);
  const double value = in.get<double>();
  if (value < 0) throw DecodeError("expected an unsigned integer, got a negative one");
  constexpr std::uint32_t most = std::numeric_limits<std::int32_t>::max();  // of LSP's uinteger
  out = value >= most ? most : static_cast<std::uint32_t>(value);
}
void Codec<std::uint32_t>::write(Json& out, const std::uint32_t& in) { out = in; }

void Codec<double>::read(const Json& in, double& out) {
  if (!in.is_number()) throw DecodeError("a number", in);
  out = in.get<double>();
}
void Codec<double>::write(Json& out, const double& in) { out = in; }

void Codec<std::string>::read(const Json& in, std::string& out) {
  if (!in.is_string()) throw DecodeError("a string", in);
  out = in.get_ref<const std::string&>();
}
void Codec<std::string>::write(Json& out, const std::string& in) { out = in; }

}  // namespace stepzero::protocol
