#include "wire.hpp"

namespace stepzero::server {
namespace {

constexpr protocol::RequestMethod<protocol::None, protocol::None> idle_method{"stepzero/idle"};

}  // namespace

snapshot::Result find_bugs(
    const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
  snapshot::Result result;
  const auto module = sources.module(path);
  if (!module) return result;
  const std::string& text = module->text->bytes();
  std::vector<rules::Related> related;
  if (text.find("import other") != std::string::npos) {
    const std::string other = "/w/other.py";
    result.read.push_back(other);
    if (const auto imported = sources.module(other))
      if (const auto at = imported->text->bytes().find("BUG"); at != std::string::npos)
        related.push_back(
            {{other, {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) + 3}}, "evidence"});
  }
  for (std::size_t at = text.find("BUG"); at != std::string::npos; at = text.find("BUG", at + 1)) {
    const rules::Location where{path, {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) + 3}};
    rules::Finding finding{"test/bug", rules::Severity::error, where, "a bug", related, {}};
    finding.fixes.push_back({"Mend it", true, {{where, "OK"}}});
    finding.fixes.push_back({"Hide it", false, {{where, "HIDDEN"}}});
    result.findings.push_back(finding);
  }
  if (const auto at = text.find("ADVICE"); at != std::string::npos)
    result.findings.push_back({"test/advice", rules::Severity::hint,
        {path, {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) + 6}}, "advice", {}, {}});
  if (!related.empty() && result.findings.empty())
    result.findings.push_back(
        {"test/imported", rules::Severity::warning, {path, {0, 0}}, "imports a bug", related, {}});
  if (const auto at = text.find("x = "); options.want_facts && at != std::string::npos) {
    snapshot::Fact fact;
    fact.span = {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(at) + 1};
    fact.name = "x";
    fact.is_place = fact.is_assignment = true;
    fact.value.kind = "tensor";
    fact.value.dtype = text.substr(at + 4, text.find('\n', at) - at - 4);
    result.facts.push_back(fact);
  }
  if (text.find("THROWS") != std::string::npos) result.failed_rules.push_back("test/broken: it threw");
  return result;
}

AnalyzeFunction Gatekeeper::function() {
  return [this](const program::Sources& sources, const std::string& path, const snapshot::Options& options) {
    const auto module = sources.module(path);
    if (module && module->text->bytes().find("HOLD") != std::string::npos) {
      held_ = true;
      open_.wait();
    }
    return find_bugs(sources, path, options);
  };
}

Wire::Wire(AnalyzeFunction analyze, std::function<void(const std::atomic<bool>&)> warm_up) {
  flags.code_action_literals = true;  // as every editor of these days
  auto [ours, theirs] = protocol::memory_transport(loop);
  LanguageServer::Parts parts;
  parts.analyze = std::move(analyze);
  parts.threads = 2;
  parts.warm_up = std::move(warm_up);
  server = std::make_unique<LanguageServer>(loop, std::move(ours), std::move(parts));
  client = std::make_unique<protocol::Connection>(
      loop, std::move(theirs), protocol::Log(), protocol::Role::client);
  client->on(lsp::method::publish_diagnostics,
      [this](lsp::PublishDiagnosticsParams params) { published.push_back(std::move(params)); });
  client->on(lsp::method::log_message,
      [this](lsp::LogMessageParams params) { logged.push_back(std::move(params)); });
  client->on(lsp::method::refresh_diagnostics, [this](protocol::None, protocol::Reply<protocol::None> reply) {
    ++diagnostic_refreshes;
    reply({});
  });
  client->on(lsp::method::refresh_inlay_hints, [this](protocol::None, protocol::Reply<protocol::None> reply) {
    ++hint_refreshes;
    reply({});
  });
  client->on(lsp::method::refresh_code_lenses, [this](protocol::None, protocol::Reply<protocol::None> reply) {
    ++lens_refreshes;
    reply({});
  });
  client->on(lsp::method::configuration,
      [this](const lsp::ConfigurationParams& params, protocol::Reply<std::vector<protocol::Any>> reply) {
        reply(
            std::vector<protocol::Any>(params.items.size(), settings.value_or(protocol::Any::parse("null"))));
      });
}

Wire::~Wire() {
  if (!ended) {
    ask(lsp::method::shutdown, {});
    CHECK(client->unanswered() == 0);
    client->notify(lsp::method::exit, {});
    run_until([this] { return ended.has_value(); });
    CHECK(*ended == 0);
  }
  CHECK(server->stop(std::chrono::milliseconds(10'000)));
  client.reset();
  server.reset();
}

lsp::InitializeResult Wire::start(const std::vector<std::string>& folders) {
  server->start([this](int status) { ended = status; });
  client->start([](int) {});
  lsp::InitializeParams params;
  params.capabilities = flags;
  params.workspace_folders.emplace();
  for (const std::string& folder : folders) params.workspace_folders->push_back({"file://" + folder, folder});
  auto outcome = ask(lsp::method::initialize, params);
  REQUIRE(outcome);
  client->notify(lsp::method::initialized, {});
  return *outcome.result;
}

void Wire::run_until(const std::function<bool()>& done) {
  while (!done())
    if (loop.poll() == 0) std::this_thread::yield();
}

void Wire::idle() { ask(idle_method, {}); }

void Wire::open(const std::string& uri, const std::string& text, int version, const std::string& language) {
  client->notify(lsp::method::did_open, {{uri, language, version, text}});
}

void Wire::change(const std::string& uri, int version, const std::string& whole_text) {
  client->notify(lsp::method::did_change, {{uri, version}, {{std::nullopt, std::nullopt, whole_text}}});
}

void Wire::change(const std::string& uri, int version, lsp::Range range, const std::string& text) {
  client->notify(lsp::method::did_change, {{uri, version}, {{range, std::nullopt, text}}});
}

void Wire::close(const std::string& uri) { client->notify(lsp::method::did_close, {{uri}}); }

std::vector<lsp::PublishDiagnosticsParams> Wire::published_for(const std::string& uri) const {
  std::vector<lsp::PublishDiagnosticsParams> found;
  for (const auto& each : published)
    if (each.uri == uri) found.push_back(each);
  return found;
}

}  // namespace stepzero::server
