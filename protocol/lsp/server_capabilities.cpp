// Codecs of what the server can do.
#include "protocol/lsp/server_capabilities.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

namespace {

// `save` is a boolean or an object.
void save_field(protocol::FieldWriter& f, const TextDocumentSyncOptions& v) {
  if (v.save_include_text)
    f.group("save", [&](auto& inner) { inner.or_empty("includeText", v.save_include_text); });
  else
    f.or_empty("save", v.save);
}
void save_field(protocol::FieldReader& f, TextDocumentSyncOptions& v) {
  v.save_include_text = false;
  const auto save = f.json().find("save");
  if (save == f.json().end() || !save->is_object()) return f.or_empty("save", v.save);
  v.save = true;
  f.group("save", [&](auto& inner) { inner.or_empty("includeText", v.save_include_text); });
}

}  // namespace

template <class F> void fields(F& f, Of<F, TextDocumentSyncOptions> v) {
  f.or_empty("openClose", v.open_close);
  f.or_empty("change", v.change);
  f.or_empty("willSave", v.will_save);
  f.or_empty("willSaveWaitUntil", v.will_save_wait_until);
  save_field(f, v);
}
STEPZERO_LSP_CODEC(TextDocumentSyncOptions)

template <class F> void fields(F& f, Of<F, ProviderOptions> v) {
  f.or_empty("workDoneProgress", v.work_done_progress);
  f("documentSelector", v.document_selector);
}
STEPZERO_LSP_CODEC(ProviderOptions)

template <class F> void fields(F& f, Of<F, ResolvingOptions> v) {
  f.or_empty("resolveProvider", v.resolve_provider);
  f.or_empty("workDoneProgress", v.work_done_progress);
  f("documentSelector", v.document_selector);
}
STEPZERO_LSP_CODEC(ResolvingOptions)

template <class F> void fields(F& f, Of<F, CodeActionOptions> v) {
  f.or_empty("codeActionKinds", v.code_action_kinds);
  f.or_empty("resolveProvider", v.resolve_provider);
  f.or_empty("workDoneProgress", v.work_done_progress);
  f("documentSelector", v.document_selector);
}
STEPZERO_LSP_CODEC(CodeActionOptions)

template <class F> void fields(F& f, Of<F, ExecuteCommandOptions> v) {
  f("commands", v.commands);
  f.or_empty("workDoneProgress", v.work_done_progress);
}
STEPZERO_LSP_CODEC(ExecuteCommandOptions)

template <class F> void fields(F& f, Of<F, DiagnosticOptions> v) {
  f("identifier", v.identifier);
  f("interFileDependencies", v.inter_file_dependencies);
  f("workspaceDiagnostics", v.workspace_diagnostics);
  f.or_empty("workDoneProgress", v.work_done_progress);
  f("documentSelector", v.document_selector);
}
STEPZERO_LSP_CODEC(DiagnosticOptions)

template <class F> void fields(F& f, Of<F, WorkspaceFoldersServerCapabilities> v) {
  f.or_empty("supported", v.supported);
  f.or_empty("changeNotifications", v.change_notifications);
}
STEPZERO_LSP_CODEC(WorkspaceFoldersServerCapabilities)

template <class F> void fields(F& f, Of<F, ServerCapabilities> v) {
  f("positionEncoding", v.position_encoding);
  f("textDocumentSync", v.text_document_sync);
  f("notebookDocumentSync", v.notebook_document_sync);
  f("completionProvider", v.completion);
  f("hoverProvider", v.hover);
  f("definitionProvider", v.definition);
  f("referencesProvider", v.references);
  f("documentSymbolProvider", v.document_symbols);
  f("workspaceSymbolProvider", v.workspace_symbols);
  f("codeActionProvider", v.code_action);
  f("codeLensProvider", v.code_lens);
  f("inlayHintProvider", v.inlay_hint);
  f("executeCommandProvider", v.execute_command);
  f("diagnosticProvider", v.diagnostic);
  f.group("workspace", [&](auto& inner) { inner("workspaceFolders", v.workspace_folders); });
  f("experimental", v.experimental);
}
STEPZERO_LSP_CODEC(ServerCapabilities)

}  // namespace stepzero::lsp
