// Codecs of symbols, definitions and references.
#include "protocol/lsp/navigation.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, DocumentSymbolParams> v) {
  f("textDocument", v.text_document);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(DocumentSymbolParams)

template <class F> void fields(F& f, Of<F, DocumentSymbol> v) {
  f("name", v.name);
  f("detail", v.detail);
  f("kind", v.kind);
  f.or_empty("tags", v.tags);
  f("range", v.range);
  f("selectionRange", v.selection_range);
  f.or_empty("children", v.children);
}
STEPZERO_LSP_CODEC(DocumentSymbol)

template <class F> void fields(F& f, Of<F, SymbolInformation> v) {
  f("name", v.name);
  f("kind", v.kind);
  f.or_empty("tags", v.tags);
  f("location", v.location);
  f("containerName", v.container_name);
}
STEPZERO_LSP_CODEC(SymbolInformation)

template <class F> void fields(F& f, Of<F, WorkspaceSymbolParams> v) {
  f("query", v.query);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(WorkspaceSymbolParams)

template <class F> void fields(F& f, Of<F, ReferenceContext> v) {
  f("includeDeclaration", v.include_declaration);
}
STEPZERO_LSP_CODEC(ReferenceContext)

template <class F> void fields(F& f, Of<F, ReferenceParams> v) {
  f("textDocument", v.text_document);
  f("position", v.position);
  f("context", v.context);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(ReferenceParams)

}  // namespace stepzero::lsp
