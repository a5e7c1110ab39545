// Parsing and writing of JSON-RPC messages.
#include "protocol/json_rpc.hpp"

#include <nlohmann/json.hpp>

namespace stepzero::protocol {
namespace {

std::string text_of(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

// Builds the value as nlohmann does, and stops where nesting passes the limit: before memory or a stack
// suffers.
class Builder : public nlohmann::detail::json_sax_dom_parser<Json> {
  using Base = nlohmann::detail::json_sax_dom_parser<Json>;

public:
  explicit Builder(Json& target) : Base(target, false) {}

  bool start_object(std::size_t size) { return deeper() && Base::start_object(size); }
  bool start_array(std::size_t size) { return deeper() && Base::start_array(size); }
  bool end_object() { return --depth_, Base::end_object(); }
  bool end_array() { return --depth_, Base::end_array(); }
  template <class Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception& exception) {
    reason_ = exception.what();
    if (const auto start = reason_.find("] "); start != std::string::npos) reason_.erase(0, start + 2);
    reason_ += " (byte " + std::to_string(position) + ")";
    return false;
  }

  const std::string& reason() const { return reason_; }

private:
  bool deeper() {
    if (++depth_ <= max_depth) return true;
    reason_ = "nested deeper than " + std::to_string(max_depth);
    return false;
  }
  std::size_t depth_ = 0;
  std::string reason_;
};

bool is_hex(std::string_view text) {
  return text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// The code unit of an escape \uXXXX at `at`; -1 if there is none.
int escaped_unit(std::string_view text, std::size_t at) {
  if (at + 6 > text.size() || text[at] != '\\' || text[at + 1] != 'u' || !is_hex(text.substr(at + 2, 4)))
    return -1;
  return std::stoi(std::string(text.substr(at + 2, 4)), nullptr, 16);
}

bool is_high(int unit) { return unit >= 0xd800 && unit < 0xdc00; }
bool is_low(int unit) { return unit >= 0xdc00 && unit < 0xe000; }

// JavaScript escapes the halves of a cut surrogate pair, which JSON cannot hold. True if there were any.
bool replace_lone_surrogates(std::string& text) {
  bool changed = false;
  for (std::size_t at = text.find('\\'); at != std::string::npos && at + 1 < text.size();
      at = text.find('\\', at)) {
    const int unit = escaped_unit(text, at);
    if (is_high(unit) && is_low(escaped_unit(text, at + 6))) {
      at += 12;
    } else if (is_high(unit) || is_low(unit)) {
      text.replace(at, 6, "\\ufffd");
      changed = true;
      at += 6;
    } else {
      at += 2;  // any other escape; its second character may be a backslash
    }
  }
  return changed;
}

bool parse(std::string_view payload, Json& root, std::string& reason) {
  Builder builder(root);
  const bool good = Json::sax_parse(payload, &builder);
  reason = builder.reason();
  return good;
}

std::optional<Id> id_of(const Json& value) {
  if (value.is_string()) return Id(value.get<std::string>());
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > INT64_MAX) return std::nullopt;
  if (value.is_number_integer()) return Id(value.get<std::int64_t>());
  return std::nullopt;
}

Json json_of(const Id& id) {
  return std::visit([](const auto& value) { return Json(value); }, id);
}

Any member(Json& object, const char* key) {
  const auto at = object.find(key);
  return at == object.end() ? Any() : Any(std::move(*at));
}

Malformed invalid(std::optional<Id> id, std::string reason) {
  return {std::move(id), {error_code::invalid_request, std::move(reason), {}}};
}

Message response(Json& message, std::optional<Id> id) {
  const auto error = message.find("error");
  if (!id) {
    const bool told = error != message.end() && error->is_object() && error->contains("message");
    return Unusable{"a response without a usable id" + (told ? ": " + text_of((*error)["message"]) : "")};
  }
  if (error == message.end() || error->is_null()) {
    if (message.contains("result")) return Response{*id, member(message, "result")};
    return Unusable{"a response to " + show(*id) + " with neither result nor error"};
  }
  Error told{error_code::unknown_error, "", {}};
  if (error->is_object()) {
    if (const auto code = error->find("code"); code != error->end() && code->is_number_integer())
      told.code = code->get<int>();
    if (const auto text = error->find("message"); text != error->end() && text->is_string())
      told.message = text->get<std::string>();
    told.data = member(*error, "data");
  }
  return Response{*id, std::move(told)};
}

Message classify(Json& message) {
  if (message.is_array()) return invalid({}, "batches are not part of LSP");
  if (!message.is_object()) return invalid({}, "a message is an object");
  const auto id_field = message.find("id");
  const bool has_id = id_field != message.end();
  std::optional<Id> id = has_id ? id_of(*id_field) : std::nullopt;
  const auto method = message.find("method");
  if (method == message.end() && (message.contains("result") || message.contains("error")))
    return response(message, std::move(id));
  const auto version = message.find("jsonrpc");
  if (version == message.end() || *version != "2.0")
    return invalid(std::move(id), "\"jsonrpc\" must be \"2.0\"");
  if (method == message.end()) return invalid(std::move(id), "\"method\" is missing");
  if (!method->is_string()) return invalid(std::move(id), "\"method\" must be a string");
  if (has_id && !id) return invalid({}, "\"id\" must be an integer or a string");
  std::string name = method->get<std::string>();
  Any params = member(message, "params");
  if (!params.json().is_null() && !params.json().is_structured())
    return invalid(std::move(id), "\"params\" must be an object or an array");
  if (id) return Request{std::move(*id), std::move(name), std::move(params)};
  return Notification{std::move(name), std::move(params)};
}

Json envelope() { return Json{{"jsonrpc", "2.0"}}; }

void set_params(Json& message, const Write& params) {
  if (params) params(message["params"]);
}

}  // namespace

std::string show(const Id& id) { return text_of(json_of(id)); }

Message parse_message(std::string_view payload) {
  Json root;
  std::string reason;
  if (!parse(payload, root, reason)) {
    std::string repaired(payload);
    const std::string first = reason;
    root = nullptr;
    if (!replace_lone_surrogates(repaired) || !parse(repaired, root, reason))
      return Malformed{{}, {error_code::parse_error, first, {}}};
  }
  return classify(root);
}

std::string request_text(const Id& id, std::string_view method, const Write& params) {
  Json message = envelope();
  message["id"] = json_of(id);
  message["method"] = method;
  set_params(message, params);
  return text_of(message);
}

std::string notification_text(std::string_view method, const Write& params) {
  Json message = envelope();
  message["method"] = method;
  set_params(message, params);
  return text_of(message);
}

std::string result_text(const Id& id, const Write& result) {
  Json message = envelope();
  message["id"] = json_of(id);
  Json& value = message["result"];
  if (result) result(value);
  return text_of(message);
}

std::string error_text(const std::optional<Id>& id, const Error& error) {
  Json message = envelope();
  message["id"] = id ? json_of(*id) : Json();
  Json& value = message["error"];
  value["code"] = error.code;
  value["message"] = error.message.empty() ? "no reason given" : error.message;
  if (error.data) value["data"] = error.data.json();
  return text_of(message);
}

}  // namespace stepzero::protocol
