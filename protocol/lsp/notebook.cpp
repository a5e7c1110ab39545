// Codecs of notebook synchronization.
#include "protocol/lsp/notebook.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, ExecutionSummary> v) {
  f("executionOrder", v.execution_order);
  f("success", v.success);
}
STEPZERO_LSP_CODEC(ExecutionSummary)

template <class F> void fields(F& f, Of<F, NotebookCell> v) {
  f("kind", v.kind);
  f("document", v.document);
  f("metadata", v.metadata);
  f("executionSummary", v.execution_summary);
}
STEPZERO_LSP_CODEC(NotebookCell)

template <class F> void fields(F& f, Of<F, NotebookDocument> v) {
  f("uri", v.uri);
  f("notebookType", v.notebook_type);
  f("version", v.version);
  f("metadata", v.metadata);
  f("cells", v.cells);
}
STEPZERO_LSP_CODEC(NotebookDocument)

template <class F> void fields(F& f, Of<F, DidOpenNotebookDocumentParams> v) {
  f("notebookDocument", v.notebook_document);
  f("cellTextDocuments", v.cell_text_documents);
}
STEPZERO_LSP_CODEC(DidOpenNotebookDocumentParams)

template <class F> void fields(F& f, Of<F, NotebookCellArrayChange> v) {
  f("start", v.start);
  f("deleteCount", v.delete_count);
  f.or_empty("cells", v.cells);
}
STEPZERO_LSP_CODEC(NotebookCellArrayChange)

template <class F> void fields(F& f, Of<F, NotebookCellStructureChange> v) {
  f("array", v.array);
  f.or_empty("didOpen", v.did_open);
  f.or_empty("didClose", v.did_close);
}
STEPZERO_LSP_CODEC(NotebookCellStructureChange)

template <class F> void fields(F& f, Of<F, NotebookCellTextChange> v) {
  f("document", v.document);
  f.required("changes", v.changes);
}
STEPZERO_LSP_CODEC(NotebookCellTextChange)

template <class F> void fields(F& f, Of<F, NotebookCellsChange> v) {
  f("structure", v.structure);
  f.or_empty("data", v.data);
  f.or_empty("textContent", v.text_content);
}
STEPZERO_LSP_CODEC(NotebookCellsChange)

template <class F> void fields(F& f, Of<F, NotebookDocumentChangeEvent> v) {
  f("metadata", v.metadata);
  f("cells", v.cells);
}
STEPZERO_LSP_CODEC(NotebookDocumentChangeEvent)

template <class F> void fields(F& f, Of<F, VersionedNotebookDocumentIdentifier> v) {
  f("version", v.version);
  f("uri", v.uri);
}
STEPZERO_LSP_CODEC(VersionedNotebookDocumentIdentifier)

template <class F> void fields(F& f, Of<F, NotebookDocumentIdentifier> v) { f("uri", v.uri); }
STEPZERO_LSP_CODEC(NotebookDocumentIdentifier)

template <class F> void fields(F& f, Of<F, DidChangeNotebookDocumentParams> v) {
  f("notebookDocument", v.notebook_document);
  f("change", v.change);
}
STEPZERO_LSP_CODEC(DidChangeNotebookDocumentParams)

template <class F> void fields(F& f, Of<F, DidSaveNotebookDocumentParams> v) {
  f("notebookDocument", v.notebook_document);
}
STEPZERO_LSP_CODEC(DidSaveNotebookDocumentParams)

template <class F> void fields(F& f, Of<F, DidCloseNotebookDocumentParams> v) {
  f("notebookDocument", v.notebook_document);
  f("cellTextDocuments", v.cell_text_documents);
}
STEPZERO_LSP_CODEC(DidCloseNotebookDocumentParams)

template <class F> void fields(F& f, Of<F, NotebookDocumentFilter> v) {
  f("notebookType", v.notebook_type);
  f("scheme", v.scheme);
  f("pattern", v.pattern);
}
STEPZERO_LSP_CODEC(NotebookDocumentFilter)

template <class F> void fields(F& f, Of<F, NotebookCellLanguage> v) { f("language", v.language); }
STEPZERO_LSP_CODEC(NotebookCellLanguage)

template <class F> void fields(F& f, Of<F, NotebookSelector> v) {
  f("notebook", v.notebook);
  f.or_empty("cells", v.cells);
}
STEPZERO_LSP_CODEC(NotebookSelector)

template <class F> void fields(F& f, Of<F, NotebookDocumentSyncOptions> v) {
  f("notebookSelector", v.notebook_selector);
  f.or_empty("save", v.save);
}
STEPZERO_LSP_CODEC(NotebookDocumentSyncOptions)

}  // namespace stepzero::lsp
