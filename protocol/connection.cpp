// The dispatcher. Its state is shared by the connection, the transport's callbacks and replies on other
// threads; one mutex orders what leaves with what the session's life allows.
#include "protocol/connection.hpp"
#include "protocol/pending_request.hpp"

#include <nlohmann/json.hpp>

#include <atomic>
#include <map>
#include <mutex>

namespace stepzero::protocol {

class Connection::Core final : public ReplySink, public Receiver, public std::enable_shared_from_this<Core> {
public:
  Core(EventLoop& loop, std::unique_ptr<Transport> transport, Log log, Role role)
      : loop_(loop), transport_(std::move(transport)), log_(std::move(log)), role_(role) {}

  void start(std::function<void(int)> ended) {
    ended_ = std::move(ended);
    transport_->start(*this);
  }
  void leave();

  void on_message(std::string payload) override;
  void on_end(End end) override;
  void finish(PendingRequest& request, std::string text, bool with_result) override;

  bool notify(std::string_view method, const Write& params);
  Id request(std::string_view method, const Write& params, ResponseHandler handler);
  void cancel(const Id& id);
  void post(Task task);
  void end(int status, const std::string& reason);

  Lifecycle::State state() const {
    const std::lock_guard lock(mutex_);
    return lifecycle_.state();
  }
  std::size_t unanswered() const {
    const std::lock_guard lock(mutex_);
    return pending_.size();
  }

  std::map<std::string, RequestHandler, std::less<>> request_handlers;
  std::map<std::string, NotificationHandler, std::less<>> notification_handlers;

private:
  void handle(Request& message);
  void handle(Notification& message);
  void handle(Response& message);
  void handle(const Malformed& message) { send(error_text(message.id, message.error)); }
  void handle(const Unusable& message) { log(LogLevel::warning, message.reason); }

  void answer(const Request& message, const RequestHandler& handler);
  void cancelled_by_peer(const Any& params);
  void call(const ResponseHandler& handler, const Json* result, Error error);
  void end_when_answered(int status, const std::string& reason);
  void detach();
  void send(std::string text);
  int exit_status() const {
    const std::lock_guard lock(mutex_);
    return lifecycle_.exit_status();
  }
  void log(LogLevel level, const std::string& line) const {
    if (log_) log_(level, line);
  }

  EventLoop& loop_;
  std::unique_ptr<Transport> transport_;  // until leave(); not touched once ending_
  const Log log_;
  const Role role_;
  std::function<void(int)> ended_;  // on the loop's thread; empty once called
  Timer patience_;
  bool closing_ = false;
  bool left_ = false;  // the owner is gone

  mutable std::mutex mutex_;  // guards what follows, and orders it with transport_->send
  Lifecycle lifecycle_;
  std::map<Id, std::shared_ptr<PendingRequest>> pending_;
  std::map<Id, ResponseHandler> asked_;
  std::int64_t next_id_ = 1;
  bool draining_ = false;  // nothing is taken any more, the last replies leave
  bool ending_ = false;    // nothing leaves any more
};

// ------------------------------------------------------------ in

void Connection::Core::on_message(std::string payload) {
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || draining_) return;
  }
  Message message = parse_message(payload);
  payload = {};
  std::visit([this](auto& kind) { handle(kind); }, message);
}

void Connection::Core::handle(Request& message) {
  std::optional<Error> refused;
  {
    const std::lock_guard lock(mutex_);
    if (pending_.contains(message.id))
      refused = Error{error_code::invalid_request, "the id " + show(message.id) + " is in use", {}};
    else if (role_ == Role::server)
      refused = lifecycle_.admit_request(message.method);
  }
  if (refused) return send(error_text(message.id, *refused));
  const auto known = request_handlers.find(message.method);
  if (known != request_handlers.end()) return answer(message, known->second);
  if (message.method == "shutdown" && role_ == Role::server)
    return answer(message, [](const Json&, UntypedReply reply) { reply.result({}); });
  if (message.method == "initialize") {  // a server that knows none cannot be initialized
    const std::lock_guard lock(mutex_);
    lifecycle_.initialize_answered(false);
  }
  send(error_text(message.id, {error_code::method_not_found, "unknown request: " + message.method, {}}));
}

void Connection::Core::answer(const Request& message, const RequestHandler& handler) {
  const auto request = std::make_shared<PendingRequest>(message.id, message.method, weak_from_this());
  {
    const std::lock_guard lock(mutex_);
    pending_.emplace(message.id, request);
  }
  std::optional<Error> failure;
  const PendingRequest* outer = std::exchange(PendingRequest::in_handler, request.get());
  try {
    handler(message.params.json(), UntypedReply(request));
  } catch (const DecodeError& error) {
    failure = Error{error_code::invalid_params, message.method + ": " + error.what(), {}};
  } catch (const std::exception& error) {
    failure = Error{error_code::internal_error, message.method + ": " + error.what(), {}};
  } catch (...) {
    failure = Error{error_code::internal_error, message.method + " failed", {}};
  }
  PendingRequest::in_handler = outer;
  if (failure) {
    const bool ours = failure->code == error_code::internal_error;
    log(ours ? LogLevel::error : LogLevel::warning, "request " + show(message.id) + ": " + failure->message);
    UntypedReply(request).error(std::move(*failure));
  } else if (request->dropped) {
    UntypedReply{request};  // its destructor says what there is to say
  }
}

void Connection::Core::handle(Notification& message) {
  if (message.method == "$/cancelRequest") return cancelled_by_peer(message.params);
  if (role_ == Role::server) {
    bool admitted = false;
    {
      const std::lock_guard lock(mutex_);
      admitted = lifecycle_.admit_notification(message.method);
    }
    if (!admitted) return log(LogLevel::debug, "dropped " + message.method + ": not in a session");
    if (message.method == "exit") return end_when_answered(exit_status(), "exit");
  }
  const auto known = notification_handlers.find(message.method);
  if (known == notification_handlers.end())
    return log(LogLevel::debug, "unknown notification: " + message.method);
  try {
    known->second(message.params.json());
  } catch (const DecodeError& error) {
    log(LogLevel::warning, message.method + " is dropped: " + error.what());
  } catch (const std::exception& error) {
    log(LogLevel::error, message.method + " failed: " + error.what());
  } catch (...) {
    log(LogLevel::error, message.method + " failed");
  }
}

void Connection::Core::handle(Response& message) {
  ResponseHandler handler;
  {
    const std::lock_guard lock(mutex_);
    const auto at = asked_.find(message.id);
    if (at != asked_.end()) {
      handler = std::move(at->second);
      asked_.erase(at);
    }
  }
  if (!handler) return log(LogLevel::warning, "a response to " + show(message.id) + ", which was not asked");
  if (auto* error = std::get_if<Error>(&message.outcome))
    call(handler, nullptr, std::move(*error));
  else
    call(handler, &std::get<Any>(message.outcome).json(), {});
}

void Connection::Core::call(const ResponseHandler& handler, const Json* result, Error error) {
  try {
    handler(result, std::move(error));
  } catch (const std::exception& failure) {
    log(LogLevel::error, std::string("the handler of a response failed: ") + failure.what());
  } catch (...) {
    log(LogLevel::error, "the handler of a response failed");
  }
}

void Connection::Core::cancelled_by_peer(const Any& params) {
  const Json& json = params.json();
  const auto field = json.is_object() ? json.find("id") : json.end();
  std::optional<Id> id;
  if (json.is_object() && field != json.end()) {
    if (field->is_string()) id = field->get<std::string>();
    if (field->is_number_integer()) id = field->get<std::int64_t>();
  }
  if (!id) return log(LogLevel::warning, "$/cancelRequest without an id");
  std::shared_ptr<PendingRequest> request;
  {
    const std::lock_guard lock(mutex_);
    const auto at = pending_.find(*id);
    if (at != pending_.end()) request = at->second;
  }
  if (!request) return;  // answered already
  UntypedReply(request).error({error_code::request_cancelled, "cancelled", {}});
  request->stop.request_stop();
}

void Connection::Core::on_end(End why) {
  // Who sent the bytes hears what is wrong with them before nothing is read any more.
  const bool cut = why.kind == End::Kind::cut_frame && state() != Lifecycle::State::shut_down;
  if (cut || why.kind == End::Kind::broken_frame)
    send(error_text(std::nullopt, {error_code::parse_error, why.reason, {}}));
  if (why.kind == End::Kind::end_of_input || why.kind == End::Kind::cut_frame)
    end_when_answered(exit_status(), why.reason);
  else
    end(1, why.reason);
}

// ------------------------------------------------------------ out

void Connection::Core::send(std::string text) {
  const std::lock_guard lock(mutex_);
  if (!ending_) transport_->send(std::move(text));
}

void Connection::Core::finish(PendingRequest& request, std::string text, bool with_result) {
  const std::lock_guard lock(mutex_);
  if (request.answered.exchange(true)) return;
  pending_.erase(request.id);
  if (ending_) return;
  if (request.method == "initialize") lifecycle_.initialize_answered(with_result);
  transport_->send(std::move(text));
  if (draining_ && pending_.empty())
    loop_.post([self = shared_from_this()] { self->end(0, "all is answered"); });
}

bool Connection::Core::notify(std::string_view method, const Write& params) {
  {
    const std::lock_guard lock(mutex_);  // to spare the text; asked again when it is made
    if (ending_ || (role_ == Role::server && !lifecycle_.may_notify(method))) return false;
  }
  std::string text = notification_text(method, params);
  const std::lock_guard lock(mutex_);
  if (ending_ || (role_ == Role::server && !lifecycle_.may_notify(method))) return false;
  transport_->send(std::move(text));
  return true;
}

Id Connection::Core::request(std::string_view method, const Write& params, ResponseHandler handler) {
  std::unique_lock lock(mutex_);
  const Id id = next_id_++;
  lock.unlock();
  std::string text = request_text(id, method, params);
  lock.lock();
  if (!ending_ && (role_ == Role::client || lifecycle_.may_request(method))) {
    asked_.emplace(id, std::move(handler));
    transport_->send(std::move(text));
    return id;
  }
  lock.unlock();
  std::string reason = std::string(method) + " was not sent: there is no session";
  post([self = shared_from_this(), call_back = std::move(handler), told = std::move(reason)] {
    self->call(call_back, nullptr, {error_code::request_failed, told, {}});
  });
  return id;
}

void Connection::Core::cancel(const Id& id) {
  notify("$/cancelRequest",
      [&id](Json& params) { std::visit([&params](const auto& value) { params["id"] = value; }, id); });
}

void Connection::Core::post(Task task) {
  loop_.post([weak = weak_from_this(), work = std::move(task)]() mutable {
    const auto self = weak.lock();
    if (!self || self->left_) return;
    try {
      work();
    } catch (const std::exception& failure) {
      self->log(LogLevel::error, std::string("a task failed: ") + failure.what());
    } catch (...) {
      self->log(LogLevel::error, "a task failed");
    }
  });
}

// ------------------------------------------------------------ the end

// An orderly end leaves a moment to what was asked before it. Not so one that nobody announced.
void Connection::Core::end_when_answered(int status, const std::string& reason) {
  constexpr std::chrono::milliseconds moment{300};
  bool wait = false;
  {
    const std::lock_guard lock(mutex_);
    if (ending_ || draining_) return;
    draining_ = wait = status == 0 && !pending_.empty();
  }
  if (!wait) return end(status, reason);
  patience_ = loop_.after(moment, [weak = weak_from_this(), reason] {
    if (const auto self = weak.lock()) self->end(0, reason);
  });
}

void Connection::Core::end(int status, const std::string& reason) {
  detach();
  loop_.post([self = shared_from_this(), status, reason] {
    if (!self->transport_ || std::exchange(self->closing_, true)) return;
    self->log(status == 0 ? LogLevel::info : LogLevel::error, "the connection ends: " + reason);
    self->patience_.reset();
    self->transport_->close([self, status] {
      if (const auto ended = std::exchange(self->ended_, nullptr)) ended(status);
    });
  });
}

// Nobody waits any more: what the peer still waits for is cancelled, and so is what waits for the peer.
void Connection::Core::detach() {
  std::map<Id, std::shared_ptr<PendingRequest>> pending;
  std::map<Id, ResponseHandler> asked;
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(ending_, true)) return;
    pending.swap(pending_);
    asked.swap(asked_);
    for (const auto& [id, request] : pending)
      if (!request->answered.exchange(true))
        transport_->send(error_text(id, {error_code::request_cancelled, "the session ended", {}}));
  }
  for (const auto& [id, request] : pending) request->stop.request_stop();
  for (auto& [id, handler] : asked)
    post([self = shared_from_this(), call_back = std::move(handler)] {
      self->call(call_back, nullptr, {error_code::request_failed, "the session ended", {}});
    });
}

// The owner goes: nothing of it is called from now on.
void Connection::Core::leave() {
  detach();
  left_ = true;
  ended_ = nullptr;
  patience_.reset();
  request_handlers.clear();
  notification_handlers.clear();
  transport_.reset();
}

// ------------------------------------------------------------ Connection

Connection::Connection(EventLoop& loop, std::unique_ptr<Transport> transport, Log log, Role role)
    : core_(std::make_shared<Core>(loop, std::move(transport), std::move(log), role)) {}

Connection::~Connection() { core_->leave(); }

void Connection::set_request_handler(std::string_view method, RequestHandler handler) {
  core_->request_handlers.insert_or_assign(std::string(method), std::move(handler));
}
void Connection::set_notification_handler(std::string_view method, NotificationHandler handler) {
  core_->notification_handlers.insert_or_assign(std::string(method), std::move(handler));
}

void Connection::start(std::function<void(int)> ended) { core_->start(std::move(ended)); }
bool Connection::send_notification(std::string_view method, const Write& params) {
  return core_->notify(method, params);
}
Id Connection::send_request(std::string_view method, const Write& params, ResponseHandler handler) {
  return core_->request(method, params, std::move(handler));
}
void Connection::cancel(const Id& ours) { core_->cancel(ours); }
void Connection::post(Task task) { core_->post(std::move(task)); }
void Connection::end(int status, const std::string& reason) { core_->end(status, reason); }
Lifecycle::State Connection::state() const { return core_->state(); }
std::size_t Connection::unanswered() const { return core_->unanswered(); }

}  // namespace stepzero::protocol
