// A language server and a client in one process, on one loop, with an analysis made to order. Nothing sleeps:
// the loop turns until what is waited for has come.
#pragma once

#include "protocol/connection.hpp"
#include "protocol/lsp/methods.hpp"
#include "server/lsp/server.hpp"

#include <catch2/catch.hpp>

#include <atomic>
#include <functional>
#include <latch>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace stepzero::server {

// Finds `BUG` in the text: an error of rule test/bug with a preferred fix (`OK`) and one that needs a
// decision. `x = …` is a tensor. `import other` reads /w/other.py, where `BUG` is related evidence.
snapshot::Result find_bugs(
    const program::Sources& sources, const std::string& path, const snapshot::Options& options);

// Holds the analyses of the texts that contain `HOLD` until let go.
class Gatekeeper {
public:
  AnalyzeFunction function();
  bool held() const { return held_; }
  void let_go() { open_.count_down(); }

private:
  std::latch open_{1};
  std::atomic<bool> held_ = false;
};

class Wire {
public:
  explicit Wire(
      AnalyzeFunction analyze = find_bugs, std::function<void(const std::atomic<bool>&)> warm_up = nullptr);
  ~Wire();  // shuts down in order; no request may be left unanswered

  lsp::ClientFlags flags;  // set before start()
  std::optional<protocol::Any> settings;
  lsp::InitializeResult start(const std::vector<std::string>& folders = {});

  void run_until(const std::function<bool()>& done);
  void idle();

  template <class Params, class Result> protocol::Outcome<Result> ask(
      protocol::RequestMethod<Params, Result> method, const std::type_identity_t<Params>& params) {
    auto answer = later(method, params);
    run_until([&] { return answer->has_value(); });
    return std::move(**answer);
  }
  template <class Params, class Result> std::shared_ptr<std::optional<protocol::Outcome<Result>>> later(
      protocol::RequestMethod<Params, Result> method, const std::type_identity_t<Params>& params) {
    auto answer = std::make_shared<std::optional<protocol::Outcome<Result>>>();
    client->request(
        method, params, [answer](protocol::Outcome<Result> outcome) { answer->emplace(std::move(outcome)); });
    return answer;
  }

  void open(const std::string& uri, const std::string& text, int version = 1,
      const std::string& language = "python");
  void change(const std::string& uri, int version, const std::string& whole_text);
  void change(const std::string& uri, int version, lsp::Range range, const std::string& text);
  void close(const std::string& uri);
  std::vector<lsp::PublishDiagnosticsParams> published_for(const std::string& uri) const;

  std::vector<lsp::PublishDiagnosticsParams> published;
  std::vector<lsp::LogMessageParams> logged;
  int diagnostic_refreshes = 0, hint_refreshes = 0, lens_refreshes = 0;

  protocol::EventLoop loop;
  std::unique_ptr<LanguageServer> server;
  std::unique_ptr<protocol::Connection> client;
  std::optional<int> ended;
};

}  // namespace stepzero::server
