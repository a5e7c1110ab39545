// Two ends in one process. Payloads cross without frames, each in a task of its own.
#include "protocol/transport.hpp"

#include <mutex>

namespace stepzero::protocol {
namespace {

struct Side {
  Receiver* receiver = nullptr;  // on the loop's thread; nullptr before start and after the end
  bool started = false;
  std::vector<std::string> early;  // came before start
};

struct Wire {
  explicit Wire(EventLoop& l) : loop(l) {}
  EventLoop& loop;
  Side sides[2];
  std::mutex mutex;
  bool cut[2] = {false, false};  // this side sends no more; guarded by mutex
};

void end_of(Side& side) {
  if (Receiver* receiver = std::exchange(side.receiver, nullptr))
    receiver->on_end({End::Kind::end_of_input, "the other end closed"});
}

class MemoryTransport final : public Transport {
public:
  MemoryTransport(std::shared_ptr<Wire> wire, int side) : wire_(std::move(wire)), side_(side) {}
  ~MemoryTransport() override {
    wire_->sides[side_].receiver = nullptr;
    cut();
  }

  void start(Receiver& receiver) override {
    Side& mine = wire_->sides[side_];
    mine.receiver = &receiver;
    mine.started = true;
    for (std::string& payload : std::exchange(mine.early, {}))
      wire_->loop.post([wire = wire_, side = side_, payload = std::move(payload)]() mutable {
        if (Receiver* to = wire->sides[side].receiver) to->on_message(std::move(payload));
      });
  }

  void send(std::string payload) override {
    const std::lock_guard lock(wire_->mutex);
    if (wire_->cut[side_]) return;
    wire_->loop.post([wire = wire_, side = 1 - side_, payload = std::move(payload)]() mutable {
      Side& other = wire->sides[side];
      if (other.receiver)
        other.receiver->on_message(std::move(payload));
      else if (!other.started)
        other.early.push_back(std::move(payload));
    });
  }

  void close(Task done) override {
    wire_->sides[side_].receiver = nullptr;
    cut();
    wire_->loop.post(std::move(done));
  }

private:
  void cut() {
    const std::lock_guard lock(wire_->mutex);
    if (std::exchange(wire_->cut[side_], true)) return;
    wire_->loop.post([wire = wire_, side = 1 - side_] { end_of(wire->sides[side]); });
  }

  std::shared_ptr<Wire> wire_;
  const int side_;
};

}  // namespace

std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> memory_transport(EventLoop& loop) {
  auto wire = std::make_shared<Wire>(loop);
  return {std::make_unique<MemoryTransport>(wire, 0), std::make_unique<MemoryTransport>(wire, 1)};
}

}  // namespace stepzero::protocol
