// What the server says it can do. A provider that is nullopt is left out; the same option structs serve
// dynamic registration (with a document selector).
#pragma once

#include "protocol/lsp/basic.hpp"
#include "protocol/lsp/completion.hpp"
#include "protocol/lsp/notebook.hpp"

#include <optional>
#include <string>
#include <vector>

namespace stepzero::lsp {

enum class TextDocumentSyncKind { none = 0, full = 1, incremental = 2 };
constexpr IntRange values_of(TextDocumentSyncKind) { return {0, 2}; }

struct TextDocumentSyncOptions {
  bool open_close = false;
  TextDocumentSyncKind change = TextDocumentSyncKind::none;
  bool will_save = false;
  bool will_save_wait_until = false;
  bool save = false;
  bool save_include_text = false;  // the notification of a save carries the text
  friend bool operator==(const TextDocumentSyncOptions&, const TextDocumentSyncOptions&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentSyncOptions)

struct ProviderOptions {  // of hover, definition, references, document symbols
  bool work_done_progress = false;
  std::optional<DocumentSelector> document_selector;  // in registrations only
  friend bool operator==(const ProviderOptions&, const ProviderOptions&) = default;
};
STEPZERO_LSP_TYPE(ProviderOptions)

struct ResolvingOptions {  // of code lenses and inlay hints
  bool resolve_provider = false;
  bool work_done_progress = false;
  std::optional<DocumentSelector> document_selector;
  friend bool operator==(const ResolvingOptions&, const ResolvingOptions&) = default;
};
STEPZERO_LSP_TYPE(ResolvingOptions)

struct CodeActionOptions {
  std::vector<std::string> code_action_kinds;
  bool resolve_provider = false;
  bool work_done_progress = false;
  std::optional<DocumentSelector> document_selector;
  friend bool operator==(const CodeActionOptions&, const CodeActionOptions&) = default;
};
STEPZERO_LSP_TYPE(CodeActionOptions)

struct ExecuteCommandOptions {
  std::vector<std::string> commands;
  bool work_done_progress = false;
  friend bool operator==(const ExecuteCommandOptions&, const ExecuteCommandOptions&) = default;
};
STEPZERO_LSP_TYPE(ExecuteCommandOptions)

struct DiagnosticOptions {
  std::optional<std::string> identifier;
  bool inter_file_dependencies = false;
  bool workspace_diagnostics = false;
  bool work_done_progress = false;
  std::optional<DocumentSelector> document_selector;
  friend bool operator==(const DiagnosticOptions&, const DiagnosticOptions&) = default;
};
STEPZERO_LSP_TYPE(DiagnosticOptions)

struct WorkspaceFoldersServerCapabilities {
  bool supported = false;
  bool change_notifications = false;
  friend bool operator==(
      const WorkspaceFoldersServerCapabilities&, const WorkspaceFoldersServerCapabilities&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceFoldersServerCapabilities)

struct ServerCapabilities {
  std::optional<PositionEncoding> position_encoding;
  std::optional<TextDocumentSyncOptions> text_document_sync;
  std::optional<NotebookDocumentSyncOptions> notebook_document_sync;
  std::optional<CompletionOptions> completion;
  std::optional<ProviderOptions> hover;
  std::optional<ProviderOptions> definition;
  std::optional<ProviderOptions> references;
  std::optional<ProviderOptions> document_symbols;
  std::optional<ProviderOptions> workspace_symbols;
  std::optional<CodeActionOptions> code_action;
  std::optional<ResolvingOptions> code_lens;
  std::optional<ResolvingOptions> inlay_hint;
  std::optional<ExecuteCommandOptions> execute_command;
  std::optional<DiagnosticOptions> diagnostic;
  std::optional<WorkspaceFoldersServerCapabilities> workspace_folders;
  Any experimental;
  friend bool operator==(const ServerCapabilities&, const ServerCapabilities&) = default;
};
STEPZERO_LSP_TYPE(ServerCapabilities)

}  // namespace stepzero::lsp
