// The dispatcher: every request has exactly one reply, whatever its handler does, and the session's life is
// kept.
#include "peer.hpp"

#include "protocol/connection.hpp"
#include "protocol/lsp/methods.hpp"

#include <stdexcept>
#include <thread>

using namespace stepzero;
using namespace stepzero::protocol;
using Method = lsp::Position;  // any struct serves as parameters

namespace {

struct Server {
  Server() : Server(memory_transport(loop)) {}
  explicit Server(std::pair<std::unique_ptr<Transport>, std::unique_ptr<Transport>> ends)
      : connection(
            loop, std::move(ends.first), [this](LogLevel, const std::string& line) { log += line + '\n'; }),
        peer(loop, std::move(ends.second)) {}

  void start() {
    connection.on_request<None, None>("initialize", [](None, Reply<None> reply) { reply({}); });
    connection.on_request<None, int>("answer", [](None, Reply<int> reply) { reply(42); });
    connection.on_request<None, int>(
        "keep", [this](None, Reply<int> reply) { kept.push_back(std::move(reply)); });
    connection.start([this](int with) {
      CHECK_FALSE(status);
      status = with;
    });
  }
  void start_session() {
    start();
    peer.initialize();
  }

  EventLoop loop;
  std::string log;
  Connection connection;
  Peer peer;
  std::vector<Reply<int>> kept;
  std::optional<int> status;
};

}  // namespace

TEST_CASE("a request gets its result, an unknown one an error, an unknown notification nothing") {
  Server s;
  s.start_session();
  s.peer.ask(1, "answer");
  CHECK(s.peer.next()["result"] == 42);
  s.peer.send(R"({"jsonrpc":"2.0","id":"1","method":"answer"})");
  CHECK(s.peer.next()["id"] == "1");
  s.peer.ask(2, "unheardOf");
  CHECK(s.peer.code_of(2) == error_code::method_not_found);
  s.peer.ask(3, "$/unheardOf");
  CHECK(s.peer.code_of(3) == error_code::method_not_found);
  s.peer.tell("unheardOf");
  s.peer.tell("$/unheardOf", "[1]");
  CHECK(s.peer.silent());
}

TEST_CASE("malformed messages are answered and the connection goes on") {
  Server s;
  s.start_session();
  s.peer.send("{");
  Json message = s.peer.next();
  CHECK(message["id"] == nullptr);
  CHECK(message["error"]["code"] == error_code::parse_error);
  s.peer.send("[]");
  CHECK(s.peer.next()["error"]["code"] == error_code::invalid_request);
  s.peer.send(R"({"jsonrpc":"2.0","id":99,"result":null})");
  s.peer.ask(1, "answer");
  CHECK(s.peer.next()["result"] == 42);
}

TEST_CASE("wrong parameters are refused with the path of the field, before the handler") {
  Server s;
  bool called = false;
  s.connection.on_request<Method, None>(
      "typed", [&](Method, Reply<None> reply) { reply({}), called = true; });
  s.connection.on_notification<Method>("told", [&](Method) { called = true; });
  s.start_session();
  for (const char* params : {"null", "[]", "{}", R"({"line":"x","character":0})"}) {
    s.peer.ask(1, "typed", params);
    CHECK(s.peer.code_of(1) == error_code::invalid_params);
    s.peer.tell("told", params);
  }
  CHECK_FALSE(called);
  CHECK_THAT(s.log, Catch::Contains("line: expected an unsigned integer, got a string"));
  s.peer.ask(2, "typed", R"({"line":1,"character":0})");
  CHECK(s.peer.next()["result"] == nullptr);
  CHECK(called);
}

TEST_CASE("every request has exactly one reply, whatever its handler does") {
  Server s;
  s.connection.on_request<None, int>("forget", [](None, Reply<int>) {});
  s.connection.on_request<None, int>(
      "throw", [](None, Reply<int>) { throw std::runtime_error("out of luck"); });
  s.connection.on_request<None, int>("throwAny", [](None, Reply<int>) { throw 7; });
  s.connection.on_request<None, int>("answerAndThrow", [](None, Reply<int> reply) {
    reply(1);
    throw std::runtime_error("late");
  });
  s.connection.on_request<None, int>("keepAndThrow", [&](None, Reply<int> reply) {
    s.kept.push_back(std::move(reply));
    throw std::runtime_error("kept");
  });
  s.connection.on_request<None, int>("twice", [](None, Reply<int> reply) {
    reply(1);
    reply(2);
    reply.error(error_code::request_failed, "x");
  });
  s.connection.on_request<None, int>("catch", [](None, Reply<int> reply) {
    try {
      Reply<int> mine = std::move(reply);
      throw std::runtime_error("caught inside");
    } catch (const std::exception&) {}
  });
  s.connection.on_request<None, int>("assign", [&](None, Reply<int> reply) {
    s.kept.push_back(std::move(reply));
    if (s.kept.size() == 2) {
      s.kept[0] = std::move(s.kept[1]);  // drops the first
      s.kept.pop_back();
    }
  });
  s.start_session();
  int id = 1;
  for (const char* method : {"forget", "throw", "throwAny", "keepAndThrow", "catch"}) {
    s.peer.ask(++id, method);
    CHECK(s.peer.code_of(id) == error_code::internal_error);
    CHECK(s.peer.silent());
  }
  CHECK_THAT(s.log, Catch::Contains("out of luck"));
  s.kept.clear();
  CHECK(s.peer.silent());
  for (const char* method : {"answerAndThrow", "twice"}) {
    s.peer.ask(++id, method);
    CHECK(s.peer.next()["result"] == 1);
    CHECK(s.peer.silent());
  }
  s.peer.ask(100, "assign");
  CHECK(s.peer.silent());
  s.peer.ask(101, "assign");
  CHECK(s.peer.code_of(100) == error_code::internal_error);
  s.kept[0](5);
  CHECK(s.peer.next()["id"] == 101);
  CHECK(s.connection.unanswered() == 0);
}

TEST_CASE("a reply is given, or forgotten, on any thread") {
  Server s;
  s.start_session();
  for (const int id : {1, 2}) s.peer.ask(id, "keep");
  std::thread([&] { s.kept[0](7); }).join();
  CHECK(s.peer.next()["result"] == 7);
  std::thread([&] { s.kept.pop_back(); }).join();
  CHECK(s.peer.code_of(2) == error_code::internal_error);
}

TEST_CASE("a cancelled request has one reply, and its token is stopped") {
  Server s;
  s.start_session();
  s.peer.ask(70, "keep");
  s.peer.tell("$/cancelRequest", R"({"id":"70"})");
  CHECK(s.peer.silent());
  const std::stop_token token = s.kept[0].cancelled();
  s.peer.tell("$/cancelRequest", R"({"id":70})");
  CHECK(s.peer.code_of(70) == error_code::request_cancelled);
  CHECK(token.stop_requested());
  s.kept[0](1);
  CHECK(s.peer.silent());
  for (const char* params : {R"({"id":70})", R"({"id":{}})", "{}", "[]", "null"})
    s.peer.tell("$/cancelRequest", params);
  CHECK(s.peer.silent());
  s.peer.ask(70, "answer");  // the id is free again
  CHECK(s.peer.next()["result"] == 42);
}

TEST_CASE("an id in use is refused, and the first request keeps its reply") {
  Server s;
  s.start_session();
  s.peer.ask(1, "keep");
  s.peer.ask(1, "answer");
  CHECK(s.peer.code_of(1) == error_code::invalid_request);
  s.kept[0](3);
  CHECK(s.peer.next()["result"] == 3);
}

TEST_CASE("before initialize requests are refused and notifications dropped") {
  Server s;
  bool heard = false;
  s.connection.on_notification<None>("note", [&](None) { heard = true; });
  s.start();
  for (const char* method : {"answer", "shutdown", "unheardOf", "$/x"}) {
    s.peer.ask(1, method);
    CHECK(s.peer.code_of(1) == error_code::server_not_initialized);
  }
  s.peer.tell("note");
  s.peer.tell("initialized");
  CHECK_FALSE(heard);
  CHECK_FALSE(s.connection.notify(lsp::method::publish_diagnostics, {}));
  CHECK(s.connection.notify(lsp::method::log_message, {lsp::MessageType::log, "early"}));
  CHECK(s.peer.next()["method"] == "window/logMessage");
  s.peer.initialize();
  s.peer.tell("note");
  CHECK(heard);
  s.peer.ask(2, "initialize");
  CHECK(s.peer.code_of(2) == error_code::invalid_request);
}

TEST_CASE("an initialize that fails may be tried again; while it runs nothing else does") {
  Server s;
  std::optional<Reply<None>> first;
  s.start();
  s.connection.on_request<Method, None>(
      "initialize", [&](Method, Reply<None> reply) { first = std::move(reply); });
  s.peer.ask(1, "initialize");
  CHECK(s.peer.code_of(1) == error_code::invalid_params);
  s.peer.ask(2, "initialize", R"({"line":0,"character":0})");
  s.peer.ask(3, "answer");
  CHECK(s.peer.code_of(3) == error_code::server_not_initialized);
  s.peer.ask(4, "initialize", R"({"line":0,"character":0})");
  CHECK(s.peer.code_of(4) == error_code::invalid_request);
  CHECK_FALSE(s.connection.notify(lsp::method::publish_diagnostics, {}));
  (*first)({});
  CHECK(s.peer.next()["id"] == 2);
  CHECK(s.connection.notify(lsp::method::publish_diagnostics, {}));
  CHECK(s.peer.next()["method"] == "textDocument/publishDiagnostics");
}

TEST_CASE("nothing is registered before initialized") {
  Server s;
  s.start();
  s.peer.ask(1, "initialize");
  s.peer.next();
  int refused = 0;
  const auto callback = [&](Outcome<None> outcome) { refused += outcome ? 0 : 1; };
  s.connection.request(lsp::method::register_capability, {}, callback);
  CHECK(s.peer.silent());
  CHECK(refused == 1);
  s.peer.tell("initialized");
  s.connection.request(lsp::method::register_capability, {}, callback);
  CHECK(s.peer.next()["method"] == "client/registerCapability");
}

TEST_CASE("after shutdown requests are refused and nothing is published") {
  Server s;
  s.start_session();
  s.peer.ask(1, "keep");
  s.peer.ask(2, "shutdown");
  CHECK(s.peer.next() == Json::parse(R"({"jsonrpc":"2.0","id":2,"result":null})"));
  for (const char* method : {"answer", "shutdown", "unheardOf", "initialize"}) {
    s.peer.ask(3, method);
    CHECK(s.peer.code_of(3) == error_code::invalid_request);
  }
  CHECK_FALSE(s.connection.notify(lsp::method::publish_diagnostics, {}));
  s.kept[0](1);  // asked before: answered
  CHECK(s.peer.next()["id"] == 1);
  s.peer.tell("exit");
  CHECK(s.status == 0);
}

TEST_CASE("exit ends with 0 after shutdown, else with 1, and so does the end of input") {
  Server s;
  SECTION("exit at once") {
    s.start();
    s.peer.tell("exit");
    CHECK(s.status == 1);
  }
  SECTION("exit in a session") {
    s.start_session();
    s.peer.tell("exit");
    CHECK(s.status == 1);
    CHECK(s.peer.ended);
  }
  SECTION("end of input in a session") {
    s.start_session();
    s.peer.close();
    CHECK(s.status == 1);
  }
  SECTION("end of input after shutdown") {
    s.start_session();
    s.peer.ask(1, "shutdown");
    s.peer.next();
    s.peer.close();
    CHECK(s.status == 0);
  }
}

TEST_CASE("an orderly exit waits a moment for what was asked before") {
  Server s;
  s.start_session();
  s.peer.ask(1, "keep");
  s.peer.ask(2, "shutdown");
  CHECK(s.peer.next()["id"] == 2);
  s.peer.tell("exit");
  CHECK_FALSE(s.status);
  SECTION("answered") {
    s.kept[0](9);
    CHECK(s.peer.next()["result"] == 9);
  }
  SECTION("not answered: cancelled") {
    const std::stop_token token = s.kept[0].cancelled();
    while (!s.status) s.loop.poll();  // until the moment has passed
    CHECK(s.peer.code_of(1) == error_code::request_cancelled);
    CHECK(token.stop_requested());
  }
  CHECK(s.status == 0);
}

TEST_CASE("an exit without shutdown cancels what runs, at once") {
  Server s;
  s.start_session();
  s.peer.ask(1, "keep");
  const std::stop_token token = s.kept[0].cancelled();
  s.peer.tell("exit");
  CHECK(token.stop_requested());
  CHECK(s.status == 1);
  CHECK(s.peer.code_of(1) == error_code::request_cancelled);
  s.kept[0](1);
  CHECK_FALSE(s.connection.notify(lsp::method::log_message, {}));
  CHECK(s.peer.silent());
}

TEST_CASE("requests of ours come back with a result, an error, or our own error") {
  Server s;
  s.start_session();
  std::vector<std::string> came;
  const auto callback = [&](Outcome<lsp::ApplyWorkspaceEditResult> outcome) {
    came.push_back(outcome ? (outcome.result->applied ? "applied" : "refused") : outcome.error.message);
  };
  const auto ask = [&] {
    s.connection.request(lsp::method::apply_edit, {}, callback);
    const Json message = s.peer.next();
    CHECK(message["method"] == "workspace/applyEdit");
    return message["id"].dump();
  };
  std::string id = ask();
  s.peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"applied":true}})");
  s.peer.send(
      R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"applied":false}})");  // a second answer: ignored
  id = ask();
  s.peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"error":{"code":-32603,"message":"broken"}})");
  id = ask();
  s.peer.send(R"({"jsonrpc":"2.0","id":)" + id + R"(,"result":{"applied":3}})");
  ask();
  s.connection.cancel(Id(std::int64_t{4}));
  CHECK(s.peer.next() == Json::parse(R"({"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":4}})"));
  s.connection.end(1, "test");
  s.loop.poll();
  CHECK(came ==
      std::vector<std::string>{
          "applied", "broken", "applied: expected a boolean, got a number", "the session ended"});
  CHECK(s.status == 1);
}

TEST_CASE("parameters that are none are not sent") {
  Server s;
  s.start_session();
  s.connection.request(lsp::method::refresh_inlay_hints, {}, [](const auto&) {});
  CHECK(s.peer.next() == Json::parse(R"({"jsonrpc":"2.0","id":1,"method":"workspace/inlayHint/refresh"})"));
}

TEST_CASE("replies outlive their connection without harm") {
  std::vector<Reply<int>> kept;
  {
    Server s;
    s.start_session();
    s.peer.ask(1, "keep");
    kept = std::move(s.kept);
  }
  kept[0](1);
}

TEST_CASE("no callback runs after its connection is gone") {
  EventLoop loop;
  int called = 0;
  auto ends = memory_transport(loop);
  Peer peer(loop, std::move(ends.second));
  {
    Connection connection(loop, std::move(ends.first));
    connection.on_request<None, None>("initialize", [](None, Reply<None> reply) { reply({}); });
    connection.start([&](int) { ++called; });
    peer.initialize();
    connection.request(lsp::method::refresh_inlay_hints, {}, [&](const auto&) { ++called; });
    peer.next();
    connection.post([&] { ++called; });
    connection.end(1, "test");
  }
  loop.poll();
  CHECK(called == 0);
  CHECK(peer.ended);
}

TEST_CASE("two connections speak to each other") {
  EventLoop loop;
  auto ends = memory_transport(loop);
  Connection server(loop, std::move(ends.first));
  Connection client(loop, std::move(ends.second), {}, Role::client);
  server.on(lsp::method::initialize, [](lsp::InitializeParams params, Reply<lsp::InitializeResult> reply) {
    lsp::InitializeResult result;
    result.capabilities.position_encoding = params.capabilities.encoding();
    reply(result);
  });
  server.on(lsp::method::hover, [](const lsp::HoverParams& params, Reply<std::optional<lsp::Hover>> reply) {
    reply(lsp::Hover{{lsp::MarkupKind::markdown, params.text_document.uri}, {}});
  });
  server.start([](int) {});
  client.start([](int) {});
  lsp::InitializeParams params;
  params.capabilities.position_encodings = {"utf-8"};
  std::optional<lsp::PositionEncoding> encoding;
  std::string hovered;
  client.request(lsp::method::initialize, params, [&](Outcome<lsp::InitializeResult> outcome) {
    REQUIRE(outcome);
    encoding = outcome.result->capabilities.position_encoding;
    client.notify(lsp::method::initialized, {});
    client.request(
        lsp::method::hover, {{"file:///a"}, {}, {}, {}}, [&](Outcome<std::optional<lsp::Hover>> answer) {
          REQUIRE(answer);
          hovered = (*answer.result)->contents.value;
        });
  });
  loop.poll();
  CHECK(encoding == lsp::PositionEncoding::utf8);
  CHECK(hovered == "file:///a");
  CHECK(server.state() == Lifecycle::State::running);
}
