// The session's states.
#include "protocol/lifecycle.hpp"

#include <algorithm>

namespace stepzero::protocol {
namespace {

bool is_one_of(std::string_view method, std::initializer_list<std::string_view> methods) {
  return std::ranges::find(methods, method) != methods.end();
}

}  // namespace

std::optional<Error> Lifecycle::admit_request(std::string_view method) {
  const bool is_initialize = method == "initialize";
  switch (state_) {
  case State::created:
    if (!is_initialize) return Error{error_code::server_not_initialized, "the server is not initialized", {}};
    state_ = State::initializing;
    return std::nullopt;
  case State::initializing:
    if (!is_initialize)
      return Error{error_code::server_not_initialized, "the server is not initialized yet", {}};
    break;
  case State::answered:
  case State::running: break;
  case State::shut_down: return Error{error_code::invalid_request, "the server is shut down", {}};
  }
  if (is_initialize) return Error{error_code::invalid_request, "the server is initialized already", {}};
  if (method == "shutdown") state_ = State::shut_down;
  return std::nullopt;
}

bool Lifecycle::admit_notification(std::string_view method) {
  if (method == "exit") return true;
  switch (state_) {
  case State::created:
  case State::initializing: return false;
  case State::answered:
    if (method == "initialized") state_ = State::running;
    return true;
  case State::running: return true;
  case State::shut_down: return false;
  }
  return false;
}

void Lifecycle::initialize_answered(bool with_result) {
  if (state_ == State::initializing) state_ = with_result ? State::answered : State::created;
}

bool Lifecycle::may_notify(std::string_view method) const {
  switch (state_) {
  case State::created:
    return is_one_of(method, {"window/logMessage", "window/showMessage", "telemetry/event"});
  case State::initializing:  // $/progress for the token of the initialize request only: the caller's duty
    return is_one_of(method, {"window/logMessage", "window/showMessage", "telemetry/event", "$/progress"});
  case State::answered:
  case State::running: return true;
  case State::shut_down: return is_one_of(method, {"window/logMessage", "$/logTrace"});
  }
  return false;
}

bool Lifecycle::may_request(std::string_view method) const {
  switch (state_) {
  case State::created: return false;
  case State::initializing: return method == "window/showMessageRequest";
  case State::answered:
    return !is_one_of(method, {"client/registerCapability", "client/unregisterCapability"});
  case State::running: return true;
  case State::shut_down: return false;
  }
  return false;
}

}  // namespace stepzero::protocol
