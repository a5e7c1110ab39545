// Codecs of inlay hints.
#include "protocol/lsp/inlay_hint.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, InlayHintParams> v) {
  f("textDocument", v.text_document);
  f("range", v.range);
  f("workDoneToken", v.work_done_token);
}
STEPZERO_LSP_CODEC(InlayHintParams)

template <class F> void fields(F& f, Of<F, InlayHintLabelPart> v) {
  f("value", v.value);
  f("tooltip", v.tooltip);
  f("location", v.location);
  f("command", v.command);
}
STEPZERO_LSP_CODEC(InlayHintLabelPart)

template <class F> void fields(F& f, Of<F, InlayHint> v) {
  f("position", v.position);
  f("label", v.label);
  f("kind", v.kind);
  f.or_empty("textEdits", v.text_edits);
  f("tooltip", v.tooltip);
  f.or_empty("paddingLeft", v.padding_left);
  f.or_empty("paddingRight", v.padding_right);
  f("data", v.data);
}
STEPZERO_LSP_CODEC(InlayHint)

}  // namespace stepzero::lsp
