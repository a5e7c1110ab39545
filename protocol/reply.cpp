// Answering, at most once, and never not at all.
#include "protocol/pending_request.hpp"

namespace stepzero::protocol {

thread_local const PendingRequest* PendingRequest::in_handler = nullptr;

UntypedReply& UntypedReply::operator=(UntypedReply&& other) noexcept {
  if (this != &other) {
    abandon();
    request_ = std::move(other.request_);
  }
  return *this;
}

void UntypedReply::result(const Write& write) {
  if (!request_) return;
  std::string text;  // made first: if that throws, the duty is still here
  if (!request_->answered) text = result_text(request_->id, write);
  const auto request = std::exchange(request_, nullptr);
  const auto sink = request->sink.lock();
  if (sink && !text.empty()) sink->finish(*request, std::move(text), true);
}

void UntypedReply::error(Error error) {
  const auto request = std::exchange(request_, nullptr);
  if (!request || request->answered) return;
  const auto sink = request->sink.lock();
  if (sink) sink->finish(*request, error_text(request->id, error), false);
}

std::stop_token UntypedReply::cancelled() const {
  return request_ ? request_->stop.get_token() : std::stop_token();
}

const Id& UntypedReply::id() const {
  static const Id none = std::int64_t{0};
  return request_ ? request_->id : none;
}

const std::string& UntypedReply::method() const {
  static const std::string none;
  return request_ ? request_->method : none;
}

void UntypedReply::abandon() noexcept {
  if (!request_) return;
  if (request_.get() == PendingRequest::in_handler) {
    request_->dropped = true;
    request_ = nullptr;
    return;
  }
  try {
    error({error_code::internal_error, "the handler of " + request_->method + " gave no answer", {}});
  } catch (...) {  // out of memory at worst: a destructor has nobody to tell
  }
}

}  // namespace stepzero::protocol
