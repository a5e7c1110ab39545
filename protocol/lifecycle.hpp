// The life of a session: what may come in and go out before initialize, between, and after shutdown. A pure
// state machine; the Connection asks it under its lock. Knows methods by name only.
#pragma once

#include "protocol/error.hpp"

#include <optional>
#include <string_view>

namespace stepzero::protocol {

class Lifecycle {
public:
  enum class State {
    created,       // nothing came yet
    initializing,  // initialize came and is not answered
    answered,      // its result is sent, `initialized` has not come
    running,
    shut_down,
  };

  State state() const { return state_; }

  // Called for each message that arrives, in order. A request is refused with an error, a notification by
  // false.
  std::optional<Error> admit_request(std::string_view method);
  bool admit_notification(std::string_view method);

  // The reply to initialize left: with a result the session begins, with an error the client may try again.
  void initialize_answered(bool with_result);

  // Whether a message of the server may leave now.
  bool may_notify(std::string_view method) const;
  bool may_request(std::string_view method) const;

  int exit_status() const {
    return state_ == State::shut_down ? 0 : 1;
  }  // of `exit`, and of the end of input

private:
  State state_ = State::created;
};

}  // namespace stepzero::protocol
