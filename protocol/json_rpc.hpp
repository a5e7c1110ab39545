// JSON-RPC 2.0: what kind of message a text is, and the texts of messages. Knows no method and no connection.
#pragma once

#include "protocol/error.hpp"
#include "protocol/json.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace stepzero::protocol {

using Id = std::variant<std::int64_t, std::string>;  // echoed in kind
std::string show(const Id& id);                      // for logs: 7 or "seven"

// Nesting beyond this is refused as a parse error: nothing of LSP comes near, and writers of JSON are
// recursive.
inline constexpr std::size_t max_depth = 512;

// Parameters and results are held as Any: absent differs from null.
struct Request {
  Id id;
  std::string method;
  Any params;
};
struct Notification {
  std::string method;
  Any params;
};
struct Response {
  Id id;
  std::variant<Any, Error> outcome;
};
struct Malformed {       // to be answered with this error
  std::optional<Id> id;  // null on the wire if unknown
  Error error;
};
struct Unusable {  // nobody to answer to: a response that is none, or to no request. For the log.
  std::string reason;
};
using Message = std::variant<Request, Notification, Response, Malformed, Unusable>;

// Never throws. An escaped lone surrogate becomes U+FFFD, which takes the same place in UTF-16, so that the
// text and the positions of the client stay in step; bytes that are not UTF-8 are a parse error.
Message parse_message(std::string_view payload);

// Payloads, without a frame. Always valid UTF-8: what is not becomes U+FFFD.
using Write = std::function<void(Json&)>;
std::string request_text(const Id& id, std::string_view method, const Write& params);
std::string notification_text(std::string_view method, const Write& params);
std::string result_text(const Id& id, const Write& result);
std::string error_text(const std::optional<Id>& id, const Error& error);

}  // namespace stepzero::protocol
