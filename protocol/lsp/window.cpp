// Codecs of messages to the user.
#include "protocol/lsp/window.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, ShowMessageParams> v) {
  f("type", v.type);
  f("message", v.message);
}
STEPZERO_LSP_CODEC(ShowMessageParams)

template <class F> void fields(F& f, Of<F, MessageActionItem> v) { f("title", v.title); }
STEPZERO_LSP_CODEC(MessageActionItem)

template <class F> void fields(F& f, Of<F, ShowMessageRequestParams> v) {
  f("type", v.type);
  f("message", v.message);
  f.or_empty("actions", v.actions);
}
STEPZERO_LSP_CODEC(ShowMessageRequestParams)

template <class F> void fields(F& f, Of<F, ShowDocumentParams> v) {
  f("uri", v.uri);
  f.or_empty("external", v.external);
  f("takeFocus", v.take_focus);
  f("selection", v.selection);
}
STEPZERO_LSP_CODEC(ShowDocumentParams)

template <class F> void fields(F& f, Of<F, ShowDocumentResult> v) { f("success", v.success); }
STEPZERO_LSP_CODEC(ShowDocumentResult)

}  // namespace stepzero::lsp
