// Codecs of text document synchronization.
#include "protocol/lsp/document.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, DidOpenTextDocumentParams> v) {
  f("textDocument", v.text_document);
}
STEPZERO_LSP_CODEC(DidOpenTextDocumentParams)

template <class F> void fields(F& f, Of<F, TextDocumentContentChangeEvent> v) {
  f("range", v.range);
  f("rangeLength", v.range_length);
  f("text", v.text);
}
STEPZERO_LSP_CODEC(TextDocumentContentChangeEvent)

template <class F> void fields(F& f, Of<F, DidChangeTextDocumentParams> v) {
  f("textDocument", v.text_document);
  f("contentChanges", v.content_changes);
}
STEPZERO_LSP_CODEC(DidChangeTextDocumentParams)

template <class F> void fields(F& f, Of<F, WillSaveTextDocumentParams> v) {
  f("textDocument", v.text_document);
  f("reason", v.reason);
}
STEPZERO_LSP_CODEC(WillSaveTextDocumentParams)

template <class F> void fields(F& f, Of<F, DidSaveTextDocumentParams> v) {
  f("textDocument", v.text_document);
  f("text", v.text);
}
STEPZERO_LSP_CODEC(DidSaveTextDocumentParams)

template <class F> void fields(F& f, Of<F, DidCloseTextDocumentParams> v) {
  f("textDocument", v.text_document);
}
STEPZERO_LSP_CODEC(DidCloseTextDocumentParams)

}  // namespace stepzero::lsp
