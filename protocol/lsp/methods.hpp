// Every method of LSP 3.17 that this server or its tests speak, each with its types.
#pragma once

#include "protocol/lsp/code_action.hpp"
#include "protocol/lsp/code_lens.hpp"
#include "protocol/lsp/completion.hpp"
#include "protocol/lsp/diagnostics.hpp"
#include "protocol/lsp/document.hpp"
#include "protocol/lsp/edit.hpp"
#include "protocol/lsp/hover.hpp"
#include "protocol/lsp/inlay_hint.hpp"
#include "protocol/lsp/lifecycle.hpp"
#include "protocol/lsp/navigation.hpp"
#include "protocol/lsp/notebook.hpp"
#include "protocol/lsp/progress.hpp"
#include "protocol/lsp/window.hpp"
#include "protocol/lsp/workspace.hpp"
#include "protocol/method.hpp"

#include <optional>
#include <variant>
#include <vector>

namespace stepzero::lsp::method {

template <class Params, class Result> using Request = protocol::RequestMethod<Params, Result>;
template <class Params> using Notification = protocol::NotificationMethod<Params>;

// lifecycle
inline constexpr Request<InitializeParams, InitializeResult> initialize{"initialize"};
inline constexpr Notification<None> initialized{"initialized"};
inline constexpr Request<None, None> shutdown{"shutdown"};
inline constexpr Notification<None> exit{"exit"};
inline constexpr Request<RegistrationParams, None> register_capability{"client/registerCapability"};
inline constexpr Request<UnregistrationParams, None> unregister_capability{"client/unregisterCapability"};
inline constexpr Notification<SetTraceParams> set_trace{"$/setTrace"};
inline constexpr Notification<LogTraceParams> log_trace{"$/logTrace"};

// progress
inline constexpr Notification<ProgressParams> progress{"$/progress"};
inline constexpr Request<WorkDoneProgressCreateParams, None> create_progress{
    "window/workDoneProgress/create"};
inline constexpr Notification<WorkDoneProgressCancelParams> cancel_progress{"window/workDoneProgress/cancel"};

// documents
inline constexpr Notification<DidOpenTextDocumentParams> did_open{"textDocument/didOpen"};
inline constexpr Notification<DidChangeTextDocumentParams> did_change{"textDocument/didChange"};
inline constexpr Notification<WillSaveTextDocumentParams> will_save{"textDocument/willSave"};
inline constexpr Request<WillSaveTextDocumentParams, std::optional<std::vector<TextEdit>>>
    will_save_wait_until{"textDocument/willSaveWaitUntil"};
inline constexpr Notification<DidSaveTextDocumentParams> did_save{"textDocument/didSave"};
inline constexpr Notification<DidCloseTextDocumentParams> did_close{"textDocument/didClose"};

// notebooks
inline constexpr Notification<DidOpenNotebookDocumentParams> did_open_notebook{"notebookDocument/didOpen"};
inline constexpr Notification<DidChangeNotebookDocumentParams> did_change_notebook{
    "notebookDocument/didChange"};
inline constexpr Notification<DidSaveNotebookDocumentParams> did_save_notebook{"notebookDocument/didSave"};
inline constexpr Notification<DidCloseNotebookDocumentParams> did_close_notebook{"notebookDocument/didClose"};

// diagnostics
inline constexpr Notification<PublishDiagnosticsParams> publish_diagnostics{
    "textDocument/publishDiagnostics"};
inline constexpr Request<DocumentDiagnosticParams, DocumentDiagnosticReport> diagnostic{
    "textDocument/diagnostic"};
inline constexpr Request<WorkspaceDiagnosticParams, WorkspaceDiagnosticReport> workspace_diagnostic{
    "workspace/diagnostic"};
inline constexpr Request<None, None> refresh_diagnostics{"workspace/diagnostic/refresh"};

// features
inline constexpr Request<CodeActionParams, std::optional<std::vector<CommandOrCodeAction>>> code_action{
    "textDocument/codeAction"};
inline constexpr Request<CodeAction, CodeAction> resolve_code_action{"codeAction/resolve"};
inline constexpr Request<CompletionParams, std::optional<std::vector<CompletionItem>>> completion{
    "textDocument/completion"};
inline constexpr Request<HoverParams, std::optional<Hover>> hover{"textDocument/hover"};
inline constexpr Request<InlayHintParams, std::optional<std::vector<InlayHint>>> inlay_hint{
    "textDocument/inlayHint"};
inline constexpr Request<InlayHint, InlayHint> resolve_inlay_hint{"inlayHint/resolve"};
inline constexpr Request<None, None> refresh_inlay_hints{"workspace/inlayHint/refresh"};
inline constexpr Request<CodeLensParams, std::optional<std::vector<CodeLens>>> code_lens{
    "textDocument/codeLens"};
inline constexpr Request<CodeLens, CodeLens> resolve_code_lens{"codeLens/resolve"};
inline constexpr Request<None, None> refresh_code_lenses{"workspace/codeLens/refresh"};
// The answers are unions in the specification; which alternative is used depends on the client's flags.
inline constexpr Request<DocumentSymbolParams,
    std::optional<std::variant<std::vector<DocumentSymbol>, std::vector<SymbolInformation>>>>
    document_symbol{"textDocument/documentSymbol"};
inline constexpr Request<DefinitionParams, std::variant<std::vector<Location>, std::vector<LocationLink>>>
    definition{"textDocument/definition"};
inline constexpr Request<ReferenceParams, std::optional<std::vector<Location>>> references{
    "textDocument/references"};

// workspace
inline constexpr Request<ExecuteCommandParams, Any> execute_command{"workspace/executeCommand"};
inline constexpr Request<WorkspaceSymbolParams, std::optional<std::vector<SymbolInformation>>>
    workspace_symbol{"workspace/symbol"};
inline constexpr Request<ApplyWorkspaceEditParams, ApplyWorkspaceEditResult> apply_edit{
    "workspace/applyEdit"};
inline constexpr Request<ConfigurationParams, std::vector<Any>> configuration{"workspace/configuration"};
inline constexpr Notification<DidChangeConfigurationParams> did_change_configuration{
    "workspace/didChangeConfiguration"};
inline constexpr Notification<DidChangeWatchedFilesParams> did_change_watched_files{
    "workspace/didChangeWatchedFiles"};
inline constexpr Request<None, std::optional<std::vector<WorkspaceFolder>>> workspace_folders{
    "workspace/workspaceFolders"};
inline constexpr Notification<DidChangeWorkspaceFoldersParams> did_change_workspace_folders{
    "workspace/didChangeWorkspaceFolders"};

// window
inline constexpr Notification<ShowMessageParams> show_message{"window/showMessage"};
inline constexpr Request<ShowMessageRequestParams, std::optional<MessageActionItem>> show_message_request{
    "window/showMessageRequest"};
inline constexpr Notification<LogMessageParams> log_message{"window/logMessage"};
inline constexpr Request<ShowDocumentParams, ShowDocumentResult> show_document{"window/showDocument"};
inline constexpr Notification<Any> telemetry{"telemetry/event"};

}  // namespace stepzero::lsp::method
