// Codecs of edits.
#include "protocol/lsp/edit.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, TextEdit> v) {
  f("range", v.range);
  f("newText", v.new_text);
  f("annotationId", v.annotation_id);
}
STEPZERO_LSP_CODEC(TextEdit)

template <class F> void fields(F& f, Of<F, TextDocumentEdit> v) {
  f("textDocument", v.text_document);
  f("edits", v.edits);
}
STEPZERO_LSP_CODEC(TextDocumentEdit)

template <class F, class T>
void resource_options(F& f, T& overwrite, T& ignore, const char* overwrite_key, const char* ignore_key) {
  f.group("options", [&](auto& inner) {
    inner.or_empty(overwrite_key, overwrite);
    inner.or_empty(ignore_key, ignore);
  });
}

template <class F> void fields(F& f, Of<F, CreateFile> v) {
  f.constant("kind", "create");
  f("uri", v.uri);
  resource_options(f, v.overwrite, v.ignore_if_exists, "overwrite", "ignoreIfExists");
  f("annotationId", v.annotation_id);
}
STEPZERO_LSP_CODEC(CreateFile)

template <class F> void fields(F& f, Of<F, RenameFile> v) {
  f.constant("kind", "rename");
  f("oldUri", v.old_uri);
  f("newUri", v.new_uri);
  resource_options(f, v.overwrite, v.ignore_if_exists, "overwrite", "ignoreIfExists");
  f("annotationId", v.annotation_id);
}
STEPZERO_LSP_CODEC(RenameFile)

template <class F> void fields(F& f, Of<F, DeleteFile> v) {
  f.constant("kind", "delete");
  f("uri", v.uri);
  resource_options(f, v.recursive, v.ignore_if_not_exists, "recursive", "ignoreIfNotExists");
  f("annotationId", v.annotation_id);
}
STEPZERO_LSP_CODEC(DeleteFile)

template <class F> void fields(F& f, Of<F, ChangeAnnotation> v) {
  f("label", v.label);
  f.or_empty("needsConfirmation", v.needs_confirmation);
  f("description", v.description);
}
STEPZERO_LSP_CODEC(ChangeAnnotation)

template <class F> void fields(F& f, Of<F, WorkspaceEdit> v) {
  f("changes", v.changes);
  f("documentChanges", v.document_changes);
  f.or_empty("changeAnnotations", v.change_annotations);
}
STEPZERO_LSP_CODEC(WorkspaceEdit)

template <class F> void fields(F& f, Of<F, ApplyWorkspaceEditParams> v) {
  f("label", v.label);
  f("edit", v.edit);
}
STEPZERO_LSP_CODEC(ApplyWorkspaceEditParams)

template <class F> void fields(F& f, Of<F, ApplyWorkspaceEditResult> v) {
  f("applied", v.applied);
  f("failureReason", v.failure_reason);
  f("failedChange", v.failed_change);
}
STEPZERO_LSP_CODEC(ApplyWorkspaceEditResult)

}  // namespace stepzero::lsp
