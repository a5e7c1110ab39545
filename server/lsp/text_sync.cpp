#include "server/lsp/text_sync.hpp"

#include "server/log.hpp"

namespace stepzero::server {

std::vector<TextChange> changes_of(std::vector<lsp::TextDocumentContentChangeEvent> events) {
  std::vector<TextChange> changes;
  for (auto& event : events) {
    TextChange& change = changes.emplace_back();
    change.text = std::move(event.text);
    if (event.range)
      change.range = TextRange{{event.range->start.line, event.range->start.character},
          {event.range->end.line, event.range->end.character}};
  }
  return changes;
}

namespace {

void changed(Session& session, Diagnostics& diagnostics, lsp::DidChangeTextDocumentParams params) {
  const std::string& uri = params.text_document.uri;
  OpenDocument* document = session.analyses.find(uri);
  if (!document) {
    session.editor.log(
        lsp::MessageType::warning, "a change of " + uri + ", which is not open, is passed over");
    return;
  }
  const std::string refused = session.analyses.change(
      *document, params.text_document.version, changes_of(std::move(params.content_changes)));
  if (refused.empty()) return;
  session.editor.log(lsp::MessageType::error,
      uri + " version " + std::to_string(document->version) + ": " + refused +
          "; the document is not analyzed until its whole text is sent");
  diagnostics.lost(*document);
}

// A change that cannot be read leaves us with a text that is not the client's.
void unreadable(Session& session, Diagnostics& diagnostics, const protocol::Any& params,
    const protocol::DecodeError& error) {
  lsp::DidCloseTextDocumentParams which;  // the form that any change has at least
  try {
    which = protocol::from_any<lsp::DidCloseTextDocumentParams>(params);
  } catch (const protocol::DecodeError&) {
    session.editor.log(lsp::MessageType::error, std::string("textDocument/didChange: ") + error.what());
    return;
  }
  session.editor.log(lsp::MessageType::error,
      which.text_document.uri + ": a change cannot be read (" + error.what() +
          "); the document is not analyzed until its whole text is sent");
  if (OpenDocument* document = session.analyses.find(which.text_document.uri)) {
    session.analyses.drop_draft(*document);
    diagnostics.lost(*document);
  }
}

}  // namespace

void serve_text_sync(Session& session, Diagnostics& diagnostics) {
  protocol::Connection& connection = session.editor.connection();
  connection.on(lsp::method::did_open, [&session, &diagnostics](lsp::DidOpenTextDocumentParams params) {
    lsp::TextDocumentItem& item = params.text_document;
    OpenDocument& document = session.analyses.open(
        item.uri, item.language_id, item.version, std::move(item.text));
    diagnostics.opened(document);
    if (!document.analyzed)
      log::info(item.uri + " is not analyzed: its language is '" + item.language_id + "'");
  });
  connection.on_notification<protocol::Any>(
      lsp::method::did_change.name, [&session, &diagnostics](const protocol::Any& params) {
        std::optional<lsp::DidChangeTextDocumentParams> read;
        try {
          read = protocol::from_any<lsp::DidChangeTextDocumentParams>(params);
        } catch (const protocol::DecodeError& error) {
          unreadable(session, diagnostics, params, error);
          return;
        }
        changed(session, diagnostics, std::move(*read));
      });
  connection.on(lsp::method::did_save, [](const lsp::DidSaveTextDocumentParams&) {
    // The draft is what was saved.
  });
  connection.on(
      lsp::method::did_close, [&session, &diagnostics](const lsp::DidCloseTextDocumentParams& params) {
        if (OpenDocument* document = session.analyses.find(params.text_document.uri)) {
          diagnostics.closing(*document);
          session.analyses.close(*document);
        }
      });
}

}  // namespace stepzero::server
