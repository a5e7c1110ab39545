// Diagnostics of open documents and of settings files: pushed, or pulled with textDocument/diagnostic; each
// client gets them one way only (Editor::pulls). Belongs to the loop's thread.
#pragma once

#include "server/lsp/session.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace stepzero::server {

class Diagnostics {
public:
  explicit Diagnostics(Session& session) : session_(session) {}

  void serve();

  void opened(const OpenDocument& document);
  // A new view: publishes it, or tells the client to ask again if it cannot know that there is one.
  void accepted(OpenDocument& document);
  // The document's text is not known any more: what was said of it is taken back.
  void lost(OpenDocument& document);
  void closing(OpenDocument& document);
  // A cell of it is no text of the client's any more.
  void cell_closed(OpenDocument& document, const std::string& uri);

private:
  void publish(const OpenDocument& document, int version, const std::vector<lsp::Diagnostic>& diagnostics);
  void publish_cells(OpenDocument& document);
  void publish_settings(const Analysis& analysis);
  void publish_settings(const std::string& path, const std::vector<lsp::Diagnostic>& diagnostics);

  Session& session_;
  // What stands at each settings file, by path. It is pushed to every client: nobody pulls it.
  std::map<std::string, std::vector<lsp::Diagnostic>> settings_;
  struct Said {
    std::string result_id, hints_id, lenses_id;
  };
  std::map<std::string, Said> said_;  // of each document's last view, by URI
};

// The report of a view to a client that holds `previous`.
lsp::DiagnosticReport report_of(const std::vector<lsp::Diagnostic>& diagnostics, const std::string& result_id,
    const std::optional<std::string>& previous);

}  // namespace stepzero::server
