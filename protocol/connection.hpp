// One peer: messages in and handlers for them, requests and notifications out, cancellation, and the rules of
// the session's life. Knows JSON-RPC and the few methods that are about the session itself; no other.
//
// Handlers run on the loop's thread, in the order of the messages. notify, request, cancel and post may be
// called from any thread; messages leave in the order of the calls.
#pragma once

#include "protocol/codec.hpp"
#include "protocol/lifecycle.hpp"
#include "protocol/method.hpp"
#include "protocol/reply.hpp"
#include "protocol/transport.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace stepzero::protocol {

enum class LogLevel { debug, info, warning, error };
using Log = std::function<void(LogLevel, const std::string& line)>;  // called from any thread

// What a request of ours came back with.
template <class Result> struct Outcome {
  std::optional<Result> result;  // else the error is meant
  Error error;
  explicit operator bool() const { return result.has_value(); }
};

enum class Role {
  server,  // the rules of Lifecycle hold
  client,  // for tests: none do
};

class Connection {
public:
  Connection(EventLoop& loop, std::unique_ptr<Transport> transport, Log log = {}, Role role = Role::server);
  ~Connection();  // on the loop's thread, or when it has stopped; not from a handler. No callback runs after
                  // it.
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Handlers are set before start(). A later one for the same method replaces the earlier.
  template <class Params, class Result, class Handler>
  void on_request(std::string_view method, Handler handler) {
    static_assert(std::is_invocable_v<Handler&, Params, Reply<Result>>);
    set_request_handler(method, [handler = std::move(handler)](const Json& json, UntypedReply reply) mutable {
      Params params{};
      Codec<Params>::read(json, params);
      handler(std::move(params), Reply<Result>(std::move(reply)));
    });
  }
  template <class Params, class Handler> void on_notification(std::string_view method, Handler handler) {
    static_assert(std::is_invocable_v<Handler&, Params>);
    set_notification_handler(method, [handler = std::move(handler)](const Json& json) mutable {
      Params params{};
      Codec<Params>::read(json, params);
      handler(std::move(params));
    });
  }
  template <class Params, class Result, class Handler>
  void on(RequestMethod<Params, Result> method, Handler handler) {
    on_request<Params, Result>(method.name, std::move(handler));
  }
  template <class Params, class Handler> void on(NotificationMethod<Params> method, Handler handler) {
    on_notification<Params>(method.name, std::move(handler));
  }

  // `ended` runs once, on the loop, when nothing more will come or go; the status is the process's to exit
  // with. Without a handler of its own `shutdown` answers null; `exit` and `$/cancelRequest` are handled
  // here.
  void start(std::function<void(int status)> ended);

  // False, and nothing is sent, if the session is not in a state to hear it (see Lifecycle).
  template <class Params>
  bool notify(NotificationMethod<Params> method, const std::type_identity_t<Params>& params) {
    return send_notification(method.name, writer(params));
  }

  // The callback runs once, on the loop: with the result, the peer's error, or an error of ours (a result of
  // the wrong form; the session not in a state to be asked; the end of the connection).
  template <class Params, class Result, class Callback> Id request(
      RequestMethod<Params, Result> method, const std::type_identity_t<Params>& params, Callback callback) {
    return send_request(
        method.name, writer(params), [callback = std::move(callback)](const Json* json, Error error) mutable {
          Outcome<Result> outcome{std::nullopt, std::move(error)};
          if (json) {
            try {
              Codec<Result>::read(*json, outcome.result.emplace());
            } catch (const DecodeError& bad) {
              outcome = {std::nullopt, {error_code::invalid_params, bad.what(), {}}};
            }
          }
          callback(std::move(outcome));
        });
  }
  void cancel(const Id& ours);  // asks the peer to; its answer still comes

  void post(Task task);  // runs on the loop, if the connection still exists then; may throw
  void end(int status, const std::string& reason);  // from any thread: closes, then `ended`
  Lifecycle::State state() const;
  std::size_t unanswered() const;  // requests of the peer that wait for their reply

private:
  using RequestHandler = std::function<void(const Json&, UntypedReply)>;  // throws DecodeError
  using NotificationHandler = std::function<void(const Json&)>;
  using ResponseHandler = std::function<void(const Json* result, Error)>;

  template <class Params> static Write writer(const Params& params) {
    if constexpr (std::is_same_v<Params, None>)
      return {};  // no `params` at all
    else
      return [&params](Json& out) { Codec<Params>::write(out, params); };
  }

  void set_request_handler(std::string_view method, RequestHandler handler);
  void set_notification_handler(std::string_view method, NotificationHandler handler);
  bool send_notification(std::string_view method, const Write& params);
  Id send_request(std::string_view method, const Write& params, ResponseHandler handler);

  friend struct PendingRequest;
  class Core;
  std::shared_ptr<Core> core_;
};

}  // namespace stepzero::protocol
