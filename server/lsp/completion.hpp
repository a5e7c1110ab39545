// textDocument/completion: the keys that a configuration may hold where the cursor stands.
#pragma once

#include "server/lsp/session.hpp"

namespace stepzero::server {

void serve_completion(Session& session);

}  // namespace stepzero::server
