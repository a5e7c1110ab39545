// The errors of JSON-RPC 2.0 and of LSP, as they travel in a response.
#pragma once

#include "protocol/any.hpp"

#include <string>

namespace stepzero::protocol {

namespace error_code {
inline constexpr int parse_error = -32700;
inline constexpr int invalid_request = -32600;
inline constexpr int method_not_found = -32601;
inline constexpr int invalid_params = -32602;
inline constexpr int internal_error = -32603;
inline constexpr int server_not_initialized = -32002;
inline constexpr int unknown_error = -32001;
inline constexpr int request_failed = -32803;     // valid and failed: the message is for the user
inline constexpr int server_cancelled = -32802;   // only for requests that say so: ask again
inline constexpr int content_modified = -32801;   // the text moved on and the result would be unusable
inline constexpr int request_cancelled = -32800;  // the client asked for it
}  // namespace error_code

struct Error {
  int code = error_code::internal_error;
  std::string message;
  Any data;
};

}  // namespace stepzero::protocol
