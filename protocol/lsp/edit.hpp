// Edits of text and of the workspace.
#pragma once

#include "protocol/lsp/basic.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace stepzero::lsp {

struct TextEdit {
  Range range;
  std::string new_text;
  std::optional<std::string> annotation_id;  // of WorkspaceEdit::change_annotations
  friend bool operator==(const TextEdit&, const TextEdit&) = default;
};
STEPZERO_LSP_TYPE(TextEdit)

struct TextDocumentEdit {
  OptionalVersionedTextDocumentIdentifier text_document;
  std::vector<TextEdit> edits;
  friend bool operator==(const TextDocumentEdit&, const TextDocumentEdit&) = default;
};
STEPZERO_LSP_TYPE(TextDocumentEdit)

struct CreateFile {
  DocumentUri uri;
  bool overwrite = false, ignore_if_exists = false;
  std::optional<std::string> annotation_id;
  friend bool operator==(const CreateFile&, const CreateFile&) = default;
};
STEPZERO_LSP_TYPE(CreateFile)

struct RenameFile {
  DocumentUri old_uri, new_uri;
  bool overwrite = false, ignore_if_exists = false;
  std::optional<std::string> annotation_id;
  friend bool operator==(const RenameFile&, const RenameFile&) = default;
};
STEPZERO_LSP_TYPE(RenameFile)

struct DeleteFile {
  DocumentUri uri;
  bool recursive = false, ignore_if_not_exists = false;
  std::optional<std::string> annotation_id;
  friend bool operator==(const DeleteFile&, const DeleteFile&) = default;
};
STEPZERO_LSP_TYPE(DeleteFile)

struct ChangeAnnotation {
  std::string label;
  bool needs_confirmation = false;
  std::optional<std::string> description;
  friend bool operator==(const ChangeAnnotation&, const ChangeAnnotation&) = default;
};
STEPZERO_LSP_TYPE(ChangeAnnotation)

using DocumentChange = std::variant<TextDocumentEdit, CreateFile, RenameFile, DeleteFile>;

// Exactly one of `changes` and `document_changes` is meant; a client that knows the latter prefers it.
struct WorkspaceEdit {
  std::optional<std::map<DocumentUri, std::vector<TextEdit>>> changes;
  std::optional<std::vector<DocumentChange>> document_changes;
  std::map<std::string, ChangeAnnotation> change_annotations;
  friend bool operator==(const WorkspaceEdit&, const WorkspaceEdit&) = default;
};
STEPZERO_LSP_TYPE(WorkspaceEdit)

struct ApplyWorkspaceEditParams {
  std::optional<std::string> label;
  WorkspaceEdit edit;
  friend bool operator==(const ApplyWorkspaceEditParams&, const ApplyWorkspaceEditParams&) = default;
};
STEPZERO_LSP_TYPE(ApplyWorkspaceEditParams)

struct ApplyWorkspaceEditResult {
  bool applied = false;
  std::optional<std::string> failure_reason;
  std::optional<std::uint32_t> failed_change;
  friend bool operator==(const ApplyWorkspaceEditResult&, const ApplyWorkspaceEditResult&) = default;
};
STEPZERO_LSP_TYPE(ApplyWorkspaceEditResult)

}  // namespace stepzero::lsp
