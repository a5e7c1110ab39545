#include "server/lsp/server.hpp"

#include "server/log.hpp"
#include "server/lsp/code_actions.hpp"
#include "server/lsp/completion.hpp"
#include "server/lsp/hover.hpp"
#include "server/lsp/schedule.hpp"
#include "server/lsp/text_sync.hpp"
#include "server/version.hpp"

#include <cstdio>

namespace stepzero::server {
namespace {

// A client that does not answer about its settings is not waited for longer.
constexpr std::chrono::milliseconds patience_for_settings{1000};

// For tests: answered once no analysis waits or runs, and no setting is asked for.
constexpr protocol::RequestMethod<protocol::None, protocol::None> idle{"stepzero/idle"};

void write_log(protocol::LogLevel level, const std::string& line) {
  constexpr log::Level levels[] = {
      log::Level::debug, log::Level::info, log::Level::warning, log::Level::error};
  log::write(levels[static_cast<int>(level)], line);
}

std::string in_milliseconds(std::chrono::microseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f ms", static_cast<double>(time.count()) / 1000);
  return text;
}

SharedState world_with(AnalyzeFunction analyze) {
  SharedState world;
  world.analyze = std::move(analyze);
  return world;
}

lsp::ServerCapabilities capabilities(const Editor& editor) {
  lsp::ServerCapabilities made;
  made.position_encoding = editor.client.encoding();
  made.text_document_sync = lsp::TextDocumentSyncOptions{
      true, lsp::TextDocumentSyncKind::incremental, false, false, true, false};
  made.completion = lsp::CompletionOptions{{"\""}, false, false};
  made.hover.emplace();
  made.inlay_hint.emplace().resolve_provider = editor.client.inlay_hint_resolve_tooltip;
  made.code_lens.emplace();
  auto& commands = made.execute_command.emplace().commands;
  commands.emplace_back(schedule_command);
  if (!editor.client.code_action_literals) commands.emplace_back(fix_command);
  made.document_symbols.emplace();
  made.workspace_symbols.emplace();
  auto& actions = made.code_action.emplace();
  actions.code_action_kinds = {std::string(lsp::code_action_kind::quick_fix), std::string(fix_all_kind)};
  actions.resolve_provider = editor.client.code_action_resolve_edit && editor.client.code_action_data;
  if (editor.pulls()) made.diagnostic = lsp::DiagnosticOptions{"stepzero", true, true, true, std::nullopt};
  auto& notebooks = made.notebook_document_sync.emplace();
  notebooks.notebook_selector.push_back(
      {std::variant<lsp::NotebookDocumentFilter, std::string>("*"), {{"python"}}});
  made.workspace_folders = lsp::WorkspaceFoldersServerCapabilities{true, true};
  return made;
}

}  // namespace

Scheduler::Hooks LanguageServer::scheduler_hooks() {
  Scheduler::Hooks hooks;
  hooks.post = [this](std::function<void()> task) { loop_.post(std::move(task)); };
  hooks.ran = [this](const std::string& key, Scheduler::Timing timing) {
    const std::string line = key + ": waited " + in_milliseconds(timing.queued) + ", ran " +
        in_milliseconds(timing.ran);
    log::debug(line);
    editor_.trace(line);
  };
  hooks.failed = [this](const std::string& key, const std::string& what) {
    editor_.log(lsp::MessageType::error, "the analysis of " + key + " failed: " + what);
    analyses_.failed(key);
  };
  return hooks;
}

Analyses::Hooks LanguageServer::analyses_hooks() {
  Analyses::Hooks hooks;
  hooks.accepted = [this](OpenDocument& document) {
    diagnostics_.accepted(document);
    if (!document.fresh) return;
    if (document.parsed->is_python())
      workspace_.program_changed(document.path);
    else
      workspace_.script_changed(document.path);
  };
  hooks.pushes = [this](const OpenDocument& document) { return document.cells || !editor_.pulls(); };
  hooks.changed = [this] { workspace_diagnostics_.changed(); };
  return hooks;
}

LanguageServer::LanguageServer(
    protocol::EventLoop& loop, std::unique_ptr<protocol::Transport> transport, Parts parts)
    : loop_(loop), pool_(parts.threads), connection_(loop, std::move(transport), write_log),
      scheduler_(pool_, scheduler_hooks()),
      analyses_(scheduler_, world_with(std::move(parts.analyze)), analyses_hooks()),
      session_{loop_, editor_, analyses_, scheduler_}, diagnostics_(session_),
      notebooks_(session_, diagnostics_), configuration_(session_), workspace_(session_, configuration_),
      workspace_diagnostics_(session_), symbols_(session_), pages_(std::move(parts.pages)) {
  serve();
  if (parts.editor_process) watch(*parts.editor_process);
  if (parts.warm_up && pool_.size() > 1) analyses_.between(std::move(parts.warm_up));
}

LanguageServer::~LanguageServer() {
  analyses_.stop();
  workspace_diagnostics_.stop();
  symbols_.stop();
  scheduler_.stop();
}

void LanguageServer::start(std::function<void(int status)> ended) { connection_.start(std::move(ended)); }

bool LanguageServer::stop(std::chrono::milliseconds patience) {
  scheduler_.stop();
  workspace_diagnostics_.stop();
  symbols_.stop();
  return pool_.stop(patience);
}

void LanguageServer::serve() {
  connection_.on(lsp::method::initialize,
      [this](const lsp::InitializeParams& params, protocol::Reply<lsp::InitializeResult> reply) {
        reply(initialize(params));
      });
  connection_.on(lsp::method::initialized, [this](protocol::None) { initialized(); });
  connection_.on(lsp::method::shutdown, [this](protocol::None, protocol::Reply<protocol::None> reply) {
    shutdown();
    reply({});
  });
  connection_.on(
      lsp::method::set_trace, [this](const lsp::SetTraceParams& params) { editor_.tracing = params.value; });
  connection_.on(lsp::method::cancel_progress, [](const lsp::WorkDoneProgressCancelParams&) {
    // What can be cancelled is a request, and is cancelled as one.
  });
  connection_.on(idle, [this](protocol::None, protocol::Reply<protocol::None> reply) {
    idle_.push_back(std::make_shared<protocol::Reply<protocol::None>>(std::move(reply)));
    answer_idle();
  });
  serve_text_sync(session_, diagnostics_);
  notebooks_.serve();
  diagnostics_.serve();
  serve_completion(session_);
  serve_hover(session_);
  serve_inlay_hints(session_);
  serve_code_actions(session_);
  serve_code_lenses(session_);
  symbols_.serve();
  serve_commands(session_);
  configuration_.serve([this] { answer_idle(); });
  workspace_.serve();
  workspace_diagnostics_.serve();
}

lsp::InitializeResult LanguageServer::initialize(const lsp::InitializeParams& params) {
  editor_.client = params.capabilities;
  editor_.tracing = params.trace;
  analyses_.client_view_changed([&](ClientView& client_view) {
    client_view.client = params.capabilities;
    client_view.pages = std::make_shared<RulePages>(pages_);
  });
  workspace_.set_folders(params.folders());
  configuration_.start_with(params.initialization_options);
  if (params.process_id) watch(*params.process_id);
  begin_anyway_ = loop_.after(patience_for_settings, [this] { begin(); });
  return {capabilities(editor_), lsp::ProgramInfo{"stepzero", std::string(version())}};
}

// An editor that was gone before the session began leaves nothing unfinished.
void LanguageServer::watch(int editor_process) {
  parent_.emplace(loop_, editor_process,
      [this](bool was_there) { connection_.end(was_there ? 1 : 0, "the editor's process is gone"); });
}

void LanguageServer::initialized() {
  workspace_.watch();
  configuration_.pull(workspace_.folders(), [this] { begin(); });
}

void LanguageServer::begin() {
  begin_anyway_.reset();
  if (!analyses_.begun()) {
    analyses_.begin();
    workspace_.scan();
  }
  answer_idle();
}

void LanguageServer::answer_idle() {
  if (idle_.empty() || configuration_.waiting() || !analyses_.begun()) return;
  scheduler_.when_idle([this] {
    if (configuration_.waiting()) return;
    for (const auto& [uri, document] : analyses_.documents()) document->typing = false;  // it rests
    for (const auto& reply : std::exchange(idle_, {})) (*reply)({});
  });
}

void LanguageServer::shutdown() {
  analyses_.stop();
  workspace_diagnostics_.stop();
  symbols_.stop();
  scheduler_.stop();
  for (const auto& reply : std::exchange(idle_, {})) (*reply)({});
}

}  // namespace stepzero::server
