// Codecs of progress.
#include "protocol/lsp/progress.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, ProgressParams> v) {
  f("token", v.token);
  f.required("value", v.value);
}
STEPZERO_LSP_CODEC(ProgressParams)

template <class F> void fields(F& f, Of<F, WorkDoneProgressCreateParams> v) { f("token", v.token); }
STEPZERO_LSP_CODEC(WorkDoneProgressCreateParams)

template <class F> void fields(F& f, Of<F, WorkDoneProgressBegin> v) {
  f.constant("kind", "begin");
  f("title", v.title);
  f.or_empty("cancellable", v.cancellable);
  f("message", v.message);
  f("percentage", v.percentage);
}
STEPZERO_LSP_CODEC(WorkDoneProgressBegin)

template <class F> void fields(F& f, Of<F, WorkDoneProgressReport> v) {
  f.constant("kind", "report");
  f("cancellable", v.cancellable);
  f("message", v.message);
  f("percentage", v.percentage);
}
STEPZERO_LSP_CODEC(WorkDoneProgressReport)

template <class F> void fields(F& f, Of<F, WorkDoneProgressEnd> v) {
  f.constant("kind", "end");
  f("message", v.message);
}
STEPZERO_LSP_CODEC(WorkDoneProgressEnd)

}  // namespace stepzero::lsp
