#include "wire.hpp"

#include <algorithm>

using namespace stepzero;
using namespace stepzero::server;
namespace method = stepzero::lsp::method;

namespace {

const std::string uri = "untitled:Untitled-1";

lsp::HoverParams at(const std::string& where, std::uint32_t line, std::uint32_t character) {
  return {{where}, {line, character}, std::nullopt, std::nullopt};
}

lsp::DocumentDiagnosticParams pull(
    const std::string& where, std::optional<std::string> previous = std::nullopt) {
  return {{where}, std::nullopt, std::move(previous), std::nullopt, std::nullopt};
}

}  // namespace

TEST_CASE("what is opened is published, with its version and the client's spelling of its URI") {
  const std::string spelled = GENERATE(as<std::string>(), "untitled:Untitled-1", "file:///w/%6dodel.py",
      "file:///w/a%20b.py", "vscode-notebook-cell:/w/a.ipynb#W2sZmlsZQ%3D%3D");
  Wire wire;
  wire.start();
  wire.open(spelled, "BUG\n", 0);
  wire.idle();
  REQUIRE(wire.published.size() == 1);
  CHECK(wire.published[0].uri == spelled);
  CHECK(wire.published[0].version == 0);
  REQUIRE(wire.published[0].diagnostics.size() == 1);
  CHECK(wire.published[0].diagnostics[0].source == "stepzero");
  CHECK(wire.published[0].diagnostics[0].range == lsp::Range{{0, 0}, {0, 3}});
}

TEST_CASE("a closed document's diagnostics are taken back, also if it is being analyzed") {
  Gatekeeper keeper;
  Wire wire(keeper.function());
  wire.start();
  wire.open(uri, "BUG HOLD\n");
  wire.run_until([&] { return keeper.held(); });
  wire.close(uri);
  wire.run_until([&] { return !wire.published.empty(); });
  keeper.let_go();
  wire.idle();
  REQUIRE(wire.published.size() == 1);
  CHECK(wire.published[0].diagnostics.empty());
}

TEST_CASE("every new version is published once, and none goes back") {
  Wire wire;
  wire.start();
  wire.open(uri, "BUG\n", 1);
  wire.idle();
  for (int version = 3; version < 30; version += 2) wire.change(uri, version, "BUG\n");
  wire.idle();
  const auto sent = wire.published_for(uri);
  CHECK(sent.back().version == 29);
  for (std::size_t i = 1; i < sent.size(); ++i) CHECK(*sent[i - 1].version < *sent[i].version);
}

TEST_CASE("only Python is analyzed") {
  Wire wire;
  wire.start();
  wire.open("file:///w/notes.txt", "BUG\n", 1, "plaintext");
  wire.open("file:///w/model.py", "BUG\n", 1, "");
  wire.idle();
  CHECK(wire.published_for("file:///w/notes.txt").empty());
  CHECK(wire.published_for("file:///w/model.py").size() == 1);
}

TEST_CASE("a change that has no meaning drops the draft until a whole text comes") {
  Wire wire;
  wire.start();
  wire.open(uri, "BUG\n", 1);
  wire.idle();
  wire.change(uri, 2, {{0, 3}, {0, 1}}, "");
  wire.change(uri, 3, {{0, 0}, {0, 0}}, "BUG ");
  wire.idle();
  CHECK(wire.published_for(uri).back().diagnostics.empty());
  CHECK(std::any_of(wire.logged.begin(), wire.logged.end(), [](const auto& message) {
    return message.type == lsp::MessageType::error && message.message.find(uri) != std::string::npos;
  }));
  CHECK_FALSE(wire.ask(method::hover, at(uri, 0, 0)).result->has_value());
  wire.change(uri, 4, "BUG BUG\n");
  wire.idle();
  CHECK(wire.published_for(uri).back().version == 4);
  CHECK(wire.published_for(uri).back().diagnostics.size() == 2);
}

TEST_CASE("a request after a change sees the new text; one before it is void") {
  Gatekeeper keeper;
  Wire wire(keeper.function());
  wire.start();
  wire.open(uri, "x = float32 HOLD\n", 1);
  wire.run_until([&] { return keeper.held(); });
  const auto early = wire.later(method::hover, at(uri, 0, 0));
  wire.change(uri, 2, "x = int64\n");
  const auto late = wire.later(method::hover, at(uri, 0, 0));
  wire.run_until([&] { return early->has_value(); });
  CHECK((*early)->error.code == protocol::error_code::content_modified);
  CHECK_FALSE(late->has_value());
  keeper.let_go();
  wire.run_until([&] { return late->has_value(); });
  REQUIRE(**late);
  CHECK((*late)->result->value().range == lsp::Range{{0, 0}, {0, 1}});
}

TEST_CASE("a cancelled request is answered while its document is analyzed") {
  Gatekeeper keeper;
  Wire wire(keeper.function());
  wire.start();
  wire.open(uri, "x = HOLD\n");
  wire.open("untitled:quick", "x = 1\n");
  wire.run_until([&] { return keeper.held(); });
  std::optional<int> code;
  const auto id = wire.client->request(
      method::hover, at(uri, 0, 0), [&](auto outcome) { code = outcome.error.code; });
  CHECK(wire.ask(method::hover, at("untitled:quick", 0, 0)).result->has_value());
  wire.client->cancel(id);
  wire.run_until([&] { return code.has_value(); });
  CHECK(*code == protocol::error_code::request_cancelled);
  keeper.let_go();
}

TEST_CASE("a change of one document is seen in those that read it") {
  Wire wire;
  wire.flags.related_information = true;
  wire.start();
  wire.open("file:///w/main.py", "import other\n");
  wire.open("file:///w/other.py", "fine\n");
  wire.idle();
  CHECK(wire.published_for("file:///w/main.py").back().diagnostics.empty());
  wire.change("file:///w/other.py", 2, "é BUG\n");
  wire.idle();
  const auto last = wire.published_for("file:///w/main.py").back();
  CHECK(last.version == 1);
  REQUIRE(last.diagnostics.size() == 1);
  REQUIRE(last.diagnostics[0].related_information.size() == 1);
  CHECK(last.diagnostics[0].related_information[0].location.uri == "file:///w/other.py");
  CHECK(last.diagnostics[0].related_information[0].location.range == lsp::Range{{0, 2}, {0, 5}});
  wire.close("file:///w/other.py");
  wire.idle();
  CHECK(wire.published_for("file:///w/main.py").back().diagnostics.empty());
}

TEST_CASE("a client that pulls and is told to ask again is not pushed to") {
  Wire wire;
  wire.flags.pull_diagnostics = wire.flags.diagnostics_refresh = wire.flags.inlay_hint_refresh = true;
  CHECK(wire.start().capabilities.diagnostic.has_value());
  wire.open("file:///w/main.py", "import other\n");
  wire.open("file:///w/other.py", "fine\n");
  const auto first = wire.ask(method::diagnostic, pull("file:///w/main.py"));
  const auto full = std::get<lsp::FullDocumentDiagnosticReport>(first.result->report);
  CHECK(full.items.empty());
  CHECK(wire.diagnostic_refreshes == 0);
  wire.change("file:///w/other.py", 2, "BUG\n");
  wire.idle();
  CHECK(wire.diagnostic_refreshes == 1);
  const auto second = wire.ask(method::diagnostic, pull("file:///w/main.py", full.result_id));
  const auto changed = std::get<lsp::FullDocumentDiagnosticReport>(second.result->report);
  CHECK(changed.items.size() == 1);
  const auto third = wire.ask(method::diagnostic, pull("file:///w/main.py", changed.result_id));
  CHECK(
      std::get<lsp::UnchangedDocumentDiagnosticReport>(third.result->report).result_id == *changed.result_id);
  CHECK(wire.published.empty());
}

TEST_CASE("a client that pulls but cannot be told to ask again is pushed to") {
  Wire wire;
  wire.flags.pull_diagnostics = true;
  CHECK_FALSE(wire.start().capabilities.diagnostic.has_value());
  wire.open(uri, "BUG\n");
  wire.idle();
  CHECK(wire.published.size() == 1);
}

TEST_CASE("a rule that fails is told once") {
  Wire wire;
  wire.start();
  wire.open(uri, "THROWS BUG\n");
  wire.idle();
  wire.change(uri, 2, "THROWS\n");
  wire.idle();
  CHECK(std::count_if(wire.logged.begin(), wire.logged.end(), [](const auto& message) {
    return message.message.find("test/broken") != std::string::npos;
  }) == 1);
  CHECK(wire.published.size() == 2);
}

TEST_CASE("an analysis that throws leaves the server alive") {
  Wire wire([](const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
    if (sources.module(path)->text->bytes().starts_with("throw")) throw std::runtime_error("no");
    return find_bugs(sources, path, options);
  });
  wire.start();
  wire.open(uri, "throw\n");
  CHECK_FALSE(wire.ask(method::hover, at(uri, 0, 0)).result->has_value());
  wire.change(uri, 2, "BUG\n");
  wire.idle();
  CHECK(wire.published_for(uri).back().diagnostics.size() == 1);
}

TEST_CASE("settings of the editor come in both shapes, and unknown keys are told") {
  const std::string shape = GENERATE(as<std::string>(), R"({"min-severity": "warning", "color": 3})",
      R"({"stepzero": {"min-severity": "warning", "color": 3}})");
  Wire wire;
  wire.start();
  wire.open(uri, "ADVICE\n");
  wire.idle();
  CHECK(wire.published_for(uri).back().diagnostics.size() == 1);
  wire.client->notify(method::did_change_configuration, {protocol::Any::parse(shape)});
  wire.idle();
  CHECK(wire.published_for(uri).back().diagnostics.empty());
  CHECK(std::any_of(wire.logged.begin(), wire.logged.end(),
      [](const auto& message) { return message.message.find("color") != std::string::npos; }));
}

TEST_CASE("nothing is analyzed before the client has answered about its settings") {
  Wire wire;
  wire.flags.configuration = true;
  wire.settings = protocol::Any::parse(R"({"min-severity": "warning"})");
  wire.start();
  wire.open(uri, "ADVICE\n");
  wire.idle();
  REQUIRE(wire.published.size() == 1);
  CHECK(wire.published[0].diagnostics.empty());
}

TEST_CASE("shutdown answers what waits, and exit ends in mid-analysis") {
  Gatekeeper keeper;
  Wire wire(keeper.function());
  wire.start();
  wire.open(uri, "x = HOLD BUG\n");
  wire.run_until([&] { return keeper.held(); });
  const auto waiting = wire.later(method::hover, at(uri, 0, 0));
  wire.ask(method::shutdown, {});
  CHECK(waiting->has_value());
  wire.client->notify(method::exit, {});
  wire.run_until([&] { return wire.ended.has_value(); });
  CHECK(*wire.ended == 0);
  CHECK(wire.published.empty());
  keeper.let_go();
}

TEST_CASE(
    "what warms up gives way to a document, begins anew behind it, and counts as work until it was done once") {
  std::atomic<int> begun = 0, cancelled = 0, done = 0;
  std::latch may_end(1);
  const auto warm_up = [&](const std::atomic<bool>& stop) {
    if (begun++ == 0) {
      while (!stop) std::this_thread::yield();
      ++cancelled;
      return;
    }
    may_end.wait();
    ++done;
  };
  Wire wire(find_bugs, warm_up);
  wire.start();
  wire.run_until([&] { return begun == 1; });
  wire.open(uri, "BUG\n");
  wire.run_until([&] { return begun == 2; });
  CHECK(wire.published.size() == 1);
  CHECK(cancelled == 1);
  CHECK(done == 0);
  may_end.count_down();
  wire.idle();
  CHECK(done == 1);
  wire.change(uri, 2, "BUG BUG\n");
  wire.idle();
  CHECK(begun == 2);
}

TEST_CASE("a server that warms up answers, and ends") {
  std::atomic<bool> begun = false;
  Wire wire(find_bugs, [&](const std::atomic<bool>& stop) {
    begun = true;
    while (!stop) std::this_thread::yield();
  });
  wire.start();
  wire.run_until([&] { return begun.load(); });
}

namespace {

// Says first that it found nothing, of a part of the text, and the whole once it is let go.
struct InParts {
  std::latch open{1};
  snapshot::Result operator()(
      const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
    snapshot::Result part;
    part.partial = true;
    if (options.on_findings) options.on_findings(part);
    open.wait();
    return find_bugs(sources, path, options);
  }
};

}  // namespace

TEST_CASE("a partial answer is published before the whole one of the same version") {
  InParts parts;
  Wire wire([&](const auto& sources, const auto& path, const auto& options) {
    return parts(sources, path, options);
  });
  wire.start();
  wire.open("file:///w/main.py", "BUG", 7);
  wire.run_until([&] { return !wire.published.empty(); });
  CHECK(wire.published.back().diagnostics.empty());
  CHECK(wire.published.back().version == 7);
  parts.open.count_down();
  wire.idle();
  REQUIRE(wire.published.size() == 2);
  CHECK(wire.published.back().version == 7);
  CHECK(wire.published.back().diagnostics.size() == 1);
}

TEST_CASE("nobody who asks for diagnostics gets a partial answer") {
  InParts parts;
  Wire wire([&](const auto& sources, const auto& path, const auto& options) {
    return parts(sources, path, options);
  });
  wire.flags.pull_diagnostics = wire.flags.diagnostics_refresh = true;
  wire.start();
  wire.open("file:///w/main.py", "BUG");
  const auto answer = wire.later(method::diagnostic, pull("file:///w/main.py"));
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    parts.open.count_down();
  });
  wire.run_until([&] { return answer->has_value(); });
  later.join();
  CHECK(std::get<lsp::FullDocumentDiagnosticReport>((*answer)->result->report).items.size() == 1);
  CHECK(wire.published.empty());
}
