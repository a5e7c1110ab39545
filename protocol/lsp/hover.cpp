// Codec of hover.
#include "protocol/lsp/hover.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

template <class F> void fields(F& f, Of<F, Hover> v) {
  f("contents", v.contents);
  f("range", v.range);
}
STEPZERO_LSP_CODEC(Hover)

}  // namespace stepzero::lsp
