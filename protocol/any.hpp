// A JSON value that the protocol carries and does not interpret: `data`, settings, arguments of commands.
// Immutable and shared, so copies are cheap and cross threads freely.
#pragma once

#include "protocol/json.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace stepzero::protocol {

class Any {
public:
  Any() = default;  // absent, which is not the same as null
  explicit Any(Json value);
  Any(const Any&) = default;
  Any(Any&&) noexcept = default;
  Any& operator=(const Any&) = default;
  Any& operator=(Any&&) noexcept = default;
  ~Any() = default;

  static Any parse(std::string_view text);  // absent if the text is not JSON
  static Any text(std::string_view value);  // a JSON string
  static Any made_by(const std::function<void(Json&)>& write);

  bool present() const { return value_ != nullptr; }
  explicit operator bool() const { return present(); }
  const Json& json() const;  // null if absent
  std::string dump() const;  // compact text, valid UTF-8 whatever the value holds

  friend bool operator==(const Any& a, const Any& b);

private:
  std::shared_ptr<const Json> value_;
};

void to_json(Json& out, const Any& value);
void from_json(const Json& in, Any& out);

}  // namespace stepzero::protocol
