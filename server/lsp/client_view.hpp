// How the client sees places: URIs for paths, its encoding, what it can show. Immutable and shared with the
// pool; all that turns spans into ranges goes through here.
#pragma once

#include "protocol/lsp/client_flags.hpp"
#include "protocol/lsp/diagnostics.hpp"
#include "protocol/lsp/edit.hpp"
#include "server/documents/analysis.hpp"
#include "server/lsp/rule_pages.hpp"

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace stepzero::server {

struct ClientView {

  lsp::ClientFlags client;
  std::map<std::string, std::string> uris;  // of open documents, by path
  std::shared_ptr<const RulePages> pages = std::make_shared<RulePages>();

  syntax::Encoding encoding() const;
  std::string uri(const std::string& path) const;
  lsp::Range range(const syntax::Text& text, syntax::Span span) const;
  syntax::Span span(const syntax::Text& text, const lsp::Range& range) const;

  // The same of an analysis, whose document may be a notebook: its places are then places in cells. What
  // begins in one cell ends there at the latest.
  lsp::Location location(
      const Analysis& analysis, const syntax::Text& text, const rules::Location& where) const;
  lsp::Range range(const Analysis& analysis, syntax::Span span) const;
  std::uint32_t offset(const Analysis& analysis, const std::string& asked, lsp::Position position) const;
  syntax::Span span(const Analysis& analysis, const std::string& asked, const lsp::Range& range) const;
};

// The analysis's findings as the client takes them.
std::vector<lsp::Diagnostic> diagnostics(const Analysis& analysis, const ClientView& client_view);

// Those of a notebook by the URI of the cell; every cell has an entry.
std::map<std::string, std::vector<lsp::Diagnostic>> diagnostics_by_cell(
    const Analysis& analysis, const ClientView& client_view);

// A finding in a file that is no Python (a settings file).
lsp::Diagnostic diagnostic(
    const rules::Finding& finding, const syntax::Text& text, const ClientView& client_view);

// The hash of what the client would see; equal diagnostics have equal ids.
std::string result_id(const std::vector<lsp::Diagnostic>& diagnostics);

// `versions` has the open documents' versions by path. Nothing if a file's text is not known.
std::optional<lsp::WorkspaceEdit> workspace_edit(const Analysis& analysis,
    const std::vector<rules::TextEdit>& edits, const ClientView& client_view,
    const std::map<std::string, int>& versions);

}  // namespace stepzero::server
