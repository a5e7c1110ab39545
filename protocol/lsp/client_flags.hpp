// What the client can do, resolved once from `capabilities` into named flags. Lenient by design: what is
// missing or of another form counts as "cannot".
#pragma once

#include "protocol/lsp/basic.hpp"

#include <string>
#include <vector>

namespace stepzero::lsp {

struct ClientFlags {
  // general
  std::vector<std::string> position_encodings;  // as offered, best first; empty means utf-16
  bool markdown = false;                        // renders it somewhere

  // textDocument
  bool publish_diagnostics = false;
  bool related_information = false;  // publishDiagnostics.relatedInformation
  bool diagnostic_version = false;   // publishDiagnostics.versionSupport
  bool code_description = false;
  bool diagnostic_data = false;  // publishDiagnostics.dataSupport: keeps it up to the code action
  bool diagnostic_tag_unnecessary = false;
  bool diagnostic_tag_deprecated = false;
  bool pull_diagnostics = false;
  bool pull_diagnostics_dynamic = false;
  bool related_documents = false;  // diagnostic.relatedDocumentSupport
  bool code_action_literals = false;
  bool code_action_dynamic = false;
  bool code_action_preferred = false;
  bool code_action_disabled = false;
  bool code_action_data = false;
  bool code_action_resolve_edit = false;
  bool code_action_honors_annotations = false;
  bool hover = false;
  bool hover_markdown = false;
  bool inlay_hint = false;
  bool inlay_hint_dynamic = false;
  bool inlay_hint_resolve_tooltip = false;
  bool inlay_hint_resolve_text_edits = false;
  bool inlay_hint_resolve_label_location = false;
  bool code_lens = false;
  bool hierarchical_symbols = false;
  bool definition_links = false;
  bool will_save = false;
  bool did_save = false;
  bool sync_dynamic = false;

  // notebookDocument
  bool notebook_sync = false;

  // workspace
  bool apply_edit = false;
  bool document_changes = false;
  bool change_annotations = false;
  bool resource_create = false;
  bool resource_rename = false;
  bool resource_delete = false;
  bool configuration = false;
  bool configuration_dynamic = false;  // didChangeConfiguration.dynamicRegistration
  bool workspace_folders = false;
  bool watched_files_dynamic = false;
  bool watched_files_relative = false;  // RelativePattern in watchers
  bool execute_command_dynamic = false;
  bool diagnostics_refresh = false;
  bool inlay_hint_refresh = false;
  bool code_lens_refresh = false;

  // window
  bool work_done_progress = false;
  bool show_document = false;
  bool show_message_actions = false;  // extra properties of message actions come back

  // The first encoding the client offers that the server knows; it knows all three, so the client's wish
  // decides.
  PositionEncoding encoding() const;

  friend bool operator==(const ClientFlags&, const ClientFlags&) = default;
};
STEPZERO_LSP_TYPE(
    ClientFlags)  // from_json never throws; to_json writes capabilities that give the same flags

}  // namespace stepzero::lsp
