// textDocument/didOpen, didChange, didClose and didSave.
#pragma once

#include "server/lsp/diagnostics.hpp"
#include "server/lsp/session.hpp"

namespace stepzero::server {

std::vector<TextChange> changes_of(std::vector<lsp::TextDocumentContentChangeEvent> events);

void serve_text_sync(Session& session, Diagnostics& diagnostics);

}  // namespace stepzero::server
