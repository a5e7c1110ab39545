// Carried JSON values.
#include "protocol/any.hpp"

#include <nlohmann/json.hpp>

namespace stepzero::protocol {

Any::Any(Json value) : value_(std::make_shared<const Json>(std::move(value))) {}

Any Any::parse(std::string_view text) {
  Json value = Json::parse(text, nullptr, false);
  return value.is_discarded() ? Any() : Any(std::move(value));
}

Any Any::text(std::string_view value) { return Any(Json(value)); }

Any Any::made_by(const std::function<void(Json&)>& write) {
  Json value;
  write(value);
  return Any(std::move(value));
}

const Json& Any::json() const {
  static const Json null;
  return value_ ? *value_ : null;
}

std::string Any::dump() const { return json().dump(-1, ' ', false, Json::error_handler_t::replace); }

bool operator==(const Any& a, const Any& b) { return a.present() == b.present() && a.json() == b.json(); }

void to_json(Json& out, const Any& value) { out = value.json(); }
void from_json(const Json& in, Any& out) { out = Any(in); }

}  // namespace stepzero::protocol
