// A client in memory: sends texts, keeps what comes. Its destructor asserts that no message was left unread.
#pragma once

#include "protocol/json.hpp"
#include "protocol/transport.hpp"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <deque>
#include <memory>
#include <string>
#include <utility>

namespace stepzero::protocol {

class Peer final : public Receiver {
public:
  Peer(EventLoop& loop, std::unique_ptr<Transport> transport)
      : loop_(loop), transport_(std::move(transport)) {
    transport_->start(*this);
  }
  ~Peer() override { CHECK(received.empty()); }

  void send(const std::string& text) {
    transport_->send(text);
    loop_.poll();
  }
  void ask(int id, const std::string& method, const std::string& params = "{}") {
    send(R"({"jsonrpc":"2.0","id":)" + std::to_string(id) + R"(,"method":")" + method + R"(","params":)" +
        params + "}");
  }
  void tell(const std::string& method, const std::string& params = "{}") {
    send(R"({"jsonrpc":"2.0","method":")" + method + R"(","params":)" + params + "}");
  }
  void initialize() {
    ask(0, "initialize");
    CHECK(next().contains("result"));
    tell("initialized");
  }

  Json next() {
    loop_.poll();
    if (received.empty()) return Json();
    Json message = Json::parse(received.front());
    received.pop_front();
    return message;
  }
  int code_of(int id) {  // of the next message, which must be the error that answers this id
    const Json message = next();
    CAPTURE(message.dump());
    REQUIRE(message.contains("error"));
    CHECK(message["id"] == id);
    CHECK_FALSE(message["error"]["message"].get<std::string>().empty());
    return message["error"]["code"].get<int>();
  }
  bool silent() {
    loop_.poll();
    return received.empty();
  }
  void close() {
    transport_->close([] {});
    loop_.poll();
  }

  void on_message(std::string payload) override { received.push_back(std::move(payload)); }
  void on_end(End) override { ended = true; }

  std::deque<std::string> received;
  bool ended = false;

private:
  EventLoop& loop_;
  std::unique_ptr<Transport> transport_;
};

}  // namespace stepzero::protocol
