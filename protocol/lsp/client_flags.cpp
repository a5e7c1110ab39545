// The table from capabilities to flags, read in both directions.
#include "protocol/lsp/client_flags.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace stepzero::lsp {
namespace {

struct Flag {
  bool ClientFlags::* flag;
  const char* where;               // a JSON pointer into `capabilities`
  const char* contains = nullptr;  // the flag stands for this element of the array there
  int number = 0;                  // … or for this number, if not 0
  bool object = false;             // the flag stands for an object being there
};

using C = ClientFlags;
constexpr Flag table[] = {
    {&C::publish_diagnostics, "/textDocument/publishDiagnostics", nullptr, 0, true},
    {&C::related_information, "/textDocument/publishDiagnostics/relatedInformation"},
    {&C::diagnostic_version, "/textDocument/publishDiagnostics/versionSupport"},
    {&C::code_description, "/textDocument/publishDiagnostics/codeDescriptionSupport"},
    {&C::diagnostic_data, "/textDocument/publishDiagnostics/dataSupport"},
    {&C::diagnostic_tag_unnecessary, "/textDocument/publishDiagnostics/tagSupport/valueSet", nullptr, 1},
    {&C::diagnostic_tag_deprecated, "/textDocument/publishDiagnostics/tagSupport/valueSet", nullptr, 2},
    {&C::pull_diagnostics, "/textDocument/diagnostic", nullptr, 0, true},
    {&C::pull_diagnostics_dynamic, "/textDocument/diagnostic/dynamicRegistration"},
    {&C::related_documents, "/textDocument/diagnostic/relatedDocumentSupport"},
    {&C::code_action_literals, "/textDocument/codeAction/codeActionLiteralSupport", nullptr, 0, true},
    {&C::code_action_dynamic, "/textDocument/codeAction/dynamicRegistration"},
    {&C::code_action_preferred, "/textDocument/codeAction/isPreferredSupport"},
    {&C::code_action_disabled, "/textDocument/codeAction/disabledSupport"},
    {&C::code_action_data, "/textDocument/codeAction/dataSupport"},
    {&C::code_action_resolve_edit, "/textDocument/codeAction/resolveSupport/properties", "edit"},
    {&C::code_action_honors_annotations, "/textDocument/codeAction/honorsChangeAnnotations"},
    {&C::hover, "/textDocument/hover", nullptr, 0, true},
    {&C::hover_markdown, "/textDocument/hover/contentFormat", "markdown"},
    {&C::inlay_hint, "/textDocument/inlayHint", nullptr, 0, true},
    {&C::inlay_hint_dynamic, "/textDocument/inlayHint/dynamicRegistration"},
    {&C::inlay_hint_resolve_tooltip, "/textDocument/inlayHint/resolveSupport/properties", "tooltip"},
    {&C::inlay_hint_resolve_text_edits, "/textDocument/inlayHint/resolveSupport/properties", "textEdits"},
    {&C::inlay_hint_resolve_label_location, "/textDocument/inlayHint/resolveSupport/properties",
        "label.location"},
    {&C::code_lens, "/textDocument/codeLens", nullptr, 0, true},
    {&C::hierarchical_symbols, "/textDocument/documentSymbol/hierarchicalDocumentSymbolSupport"},
    {&C::definition_links, "/textDocument/definition/linkSupport"},
    {&C::will_save, "/textDocument/synchronization/willSave"},
    {&C::did_save, "/textDocument/synchronization/didSave"},
    {&C::sync_dynamic, "/textDocument/synchronization/dynamicRegistration"},
    {&C::notebook_sync, "/notebookDocument/synchronization", nullptr, 0, true},
    {&C::apply_edit, "/workspace/applyEdit"},
    {&C::document_changes, "/workspace/workspaceEdit/documentChanges"},
    {&C::change_annotations, "/workspace/workspaceEdit/changeAnnotationSupport", nullptr, 0, true},
    {&C::resource_create, "/workspace/workspaceEdit/resourceOperations", "create"},
    {&C::resource_rename, "/workspace/workspaceEdit/resourceOperations", "rename"},
    {&C::resource_delete, "/workspace/workspaceEdit/resourceOperations", "delete"},
    {&C::configuration, "/workspace/configuration"},
    {&C::configuration_dynamic, "/workspace/didChangeConfiguration/dynamicRegistration"},
    {&C::workspace_folders, "/workspace/workspaceFolders"},
    {&C::watched_files_dynamic, "/workspace/didChangeWatchedFiles/dynamicRegistration"},
    {&C::watched_files_relative, "/workspace/didChangeWatchedFiles/relativePatternSupport"},
    {&C::execute_command_dynamic, "/workspace/executeCommand/dynamicRegistration"},
    {&C::diagnostics_refresh, "/workspace/diagnostics/refreshSupport"},
    {&C::inlay_hint_refresh, "/workspace/inlayHint/refreshSupport"},
    {&C::code_lens_refresh, "/workspace/codeLens/refreshSupport"},
    {&C::work_done_progress, "/window/workDoneProgress"},
    {&C::show_document, "/window/showDocument/support"},
    {&C::show_message_actions, "/window/showMessage/messageActionItem/additionalPropertiesSupport"},
    {&C::markdown, "/general/markdown", nullptr, 0, true},
};

const Json& at(const Json& capabilities, const char* pointer) {
  static const Json null;
  const Json::json_pointer where(pointer);
  return capabilities.contains(where) ? capabilities.at(where) : null;
}

bool holds(const Json& found, const Flag& row) {
  if (row.object) return found.is_object();
  if (!row.contains && row.number == 0) return found.is_boolean() && found.get<bool>();
  const Json wanted = row.contains ? Json(row.contains) : Json(row.number);
  return found.is_array() && std::ranges::find(found, wanted) != found.end();
}

void set(Json& capabilities, const Flag& row) {
  Json& place = capabilities[Json::json_pointer(row.where)];
  if (row.object) {
    if (place.is_null()) place = Json::object();
  } else if (row.contains) {
    place.push_back(row.contains);
  } else if (row.number != 0) {
    place.push_back(row.number);
  } else {
    place = true;
  }
}

constexpr const char* encodings = "/general/positionEncodings";

}  // namespace

void from_json(const Json& in, ClientFlags& out) {
  out = {};
  for (const Flag& row : table) out.*row.flag = holds(at(in, row.where), row);
  out.markdown = out.markdown || out.hover_markdown;
  const Json& offered = at(in, encodings);
  if (!offered.is_array()) return;
  for (const Json& encoding : offered)
    if (encoding.is_string()) out.position_encodings.push_back(encoding.get<std::string>());
}

void to_json(Json& out, const ClientFlags& value) {
  out = Json::object();
  for (const Flag& row : table)
    if (value.*row.flag) set(out, row);
  if (!value.position_encodings.empty()) out[Json::json_pointer(encodings)] = value.position_encodings;
}

PositionEncoding ClientFlags::encoding() const {
  for (const std::string& offered : position_encodings)
    for (const auto known : {PositionEncoding::utf8, PositionEncoding::utf16, PositionEncoding::utf32})
      if (offered == name(known)) return known;
  return PositionEncoding::utf16;
}

}  // namespace stepzero::lsp
