// A request of the peer that waits for its reply: shared by the Reply, the connection's table and the
// dispatcher.
#pragma once

#include "protocol/json_rpc.hpp"
#include "protocol/reply.hpp"

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>
#include <utility>

namespace stepzero::protocol {

class ReplySink {
public:
  virtual ~ReplySink() = default;
  // Sends the text if the request has no reply yet; from any thread.
  virtual void finish(PendingRequest& request, std::string text, bool with_result) = 0;
};

struct PendingRequest {
  PendingRequest(Id i, std::string m, std::weak_ptr<ReplySink> s)
      : id(std::move(i)), method(std::move(m)), sink(std::move(s)) {}

  const Id id;
  const std::string method;
  const std::weak_ptr<ReplySink> sink;  // gone: nobody to answer to
  std::stop_source stop;
  std::atomic<bool> answered = false;  // set under the connection's lock

  // While the handler runs, a reply that is dropped on its thread is left to the dispatcher, which knows
  // whether the handler threw.
  static thread_local const PendingRequest* in_handler;
  bool dropped = false;  // by the handler's own thread
};

}  // namespace stepzero::protocol
