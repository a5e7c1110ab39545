// The duty to answer one request. Move-only; destroyed unused it answers InternalError, so every request has
// exactly one reply whatever its handler does. May be answered from any thread; the text is made on that
// thread.
#pragma once

#include "protocol/codec.hpp"
#include "protocol/error.hpp"
#include "protocol/json_rpc.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

namespace stepzero::protocol {

struct PendingRequest;

class UntypedReply {
public:
  explicit UntypedReply(std::shared_ptr<PendingRequest> request) : request_(std::move(request)) {}
  UntypedReply(UntypedReply&& other) noexcept = default;
  UntypedReply& operator=(UntypedReply&& other) noexcept;
  ~UntypedReply() { abandon(); }

  void result(const Write& write);  // consumes the duty, as does error(); a second call is ignored
  void error(Error error);

  // Stopped when the client cancels the request (the answer RequestCancelled is sent then, what comes later
  // is dropped) and when the connection ends.
  std::stop_token cancelled() const;
  const Id& id() const;
  const std::string& method() const;
  explicit operator bool() const { return request_ != nullptr; }  // not answered yet, nor moved from

private:
  void abandon() noexcept;
  std::shared_ptr<PendingRequest> request_;
};

template <class Result> class Reply {
public:
  explicit Reply(UntypedReply reply) : reply_(std::move(reply)) {}

  void operator()(const Result& result) {
    reply_.result([&result](Json& out) { Codec<Result>::write(out, result); });
  }
  void error(Error error) { reply_.error(std::move(error)); }
  void error(int code, std::string message) { reply_.error(Error{code, std::move(message), {}}); }

  std::stop_token cancelled() const { return reply_.cancelled(); }
  const Id& id() const { return reply_.id(); }
  explicit operator bool() const { return static_cast<bool>(reply_); }

private:
  UntypedReply reply_;
};

}  // namespace stepzero::protocol
