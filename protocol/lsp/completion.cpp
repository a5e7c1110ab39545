// Codecs of completion.
#include "protocol/lsp/completion.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, CompletionItem> v) {
  f("label", v.label);
  f("kind", v.kind);
  f("detail", v.detail);
  f("documentation", v.documentation);
  f("filterText", v.filter_text);
  f("textEdit", v.text_edit);
}
STEPZERO_LSP_CODEC(CompletionItem)

template <class F> void fields(F& f, Of<F, CompletionOptions> v) {
  f.or_empty("triggerCharacters", v.trigger_characters);
  f.or_empty("resolveProvider", v.resolve_provider);
  f.or_empty("workDoneProgress", v.work_done_progress);
}
STEPZERO_LSP_CODEC(CompletionOptions)

}  // namespace stepzero::lsp
