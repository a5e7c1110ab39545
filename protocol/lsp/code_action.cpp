// Codecs of code actions, and what asking for a kind includes.
#include "protocol/lsp/code_action.hpp"

#include "protocol/fields.hpp"

#include <algorithm>

namespace stepzero::lsp {

using protocol::Of;

bool kind_includes(std::string_view asked, std::string_view kind) {
  return asked.empty() || kind == asked ||
      (kind.size() > asked.size() && kind.starts_with(asked) && kind[asked.size()] == '.');
}

bool CodeActionContext::wants(std::string_view kind) const {
  return !only ||
      std::ranges::any_of(*only, [kind](const std::string& asked) { return kind_includes(asked, kind); });
}

template <class F> void fields(F& f, Of<F, CodeActionContext> v) {
  f("diagnostics", v.diagnostics);
  f("only", v.only);
  f("triggerKind", v.trigger_kind);
}
STEPZERO_LSP_CODEC(CodeActionContext)

template <class F> void fields(F& f, Of<F, CodeActionParams> v) {
  f("textDocument", v.text_document);
  f("range", v.range);
  f("context", v.context);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(CodeActionParams)

template <class F> void fields(F& f, Of<F, CodeActionDisabled> v) { f("reason", v.reason); }
STEPZERO_LSP_CODEC(CodeActionDisabled)

template <class F> void fields(F& f, Of<F, CodeAction> v) {
  f("title", v.title);
  f("kind", v.kind);
  f.or_empty("diagnostics", v.diagnostics);
  f.or_empty("isPreferred", v.is_preferred);
  f("disabled", v.disabled);
  f("edit", v.edit);
  f("command", v.command);
  f("data", v.data);
}
STEPZERO_LSP_CODEC(CodeAction)

}  // namespace stepzero::lsp
