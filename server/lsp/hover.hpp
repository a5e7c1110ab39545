// textDocument/hover and textDocument/inlayHint.
#pragma once

#include "server/lsp/session.hpp"

namespace stepzero::server {

void serve_hover(Session& session);
void serve_inlay_hints(Session& session);

}  // namespace stepzero::server
