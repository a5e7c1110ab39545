// Codecs of code lenses.
#include "protocol/lsp/code_lens.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, CodeLensParams> v) {
  f("textDocument", v.text_document);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(CodeLensParams)

template <class F> void fields(F& f, Of<F, CodeLens> v) {
  f("range", v.range);
  f("command", v.command);
  f("data", v.data);
}
STEPZERO_LSP_CODEC(CodeLens)

}  // namespace stepzero::lsp
