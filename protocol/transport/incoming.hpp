// What transports of bytes share on the receiving side: from bytes to payloads, and one end.
#pragma once

#include "protocol/transport.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace stepzero::protocol {

// Lives on the loop's thread.
class Incoming {
public:
  explicit Incoming(FrameLimits limits) : decoder_(limits) {}

  void start(Receiver& receiver) { receiver_ = &receiver; }
  void silence() { receiver_ = nullptr; }  // nothing more is delivered
  bool silent() const { return receiver_ == nullptr; }

  void bytes(std::string_view bytes) {
    if (!receiver_) return;
    std::vector<std::string> payloads;
    const bool good = decoder_.feed(bytes, payloads);
    for (std::string& payload : payloads)
      if (receiver_) receiver_->on_message(std::move(payload));
    if (!good) end({End::Kind::broken_frame, decoder_.error()});
  }

  void end_of_input() {
    if (decoder_.inside_frame())
      end({End::Kind::cut_frame, "the input ends inside a frame"});
    else
      end({End::Kind::end_of_input, "the input ends"});
  }

  void end(End why) {
    if (Receiver* receiver = std::exchange(receiver_, nullptr)) receiver->on_end(std::move(why));
  }

private:
  FrameDecoder decoder_;
  Receiver* receiver_ = nullptr;
};

}  // namespace stepzero::protocol
