#include "server/lsp/outlook.hpp"

#include "protocol/codec.hpp"
#include "protocol/uri.hpp"

#include <cstdint>
#include <cstdio>

namespace stepzero::server {
namespace {

lsp::DiagnosticSeverity severity(rules::Severity severity) {
  return static_cast<lsp::DiagnosticSeverity>(static_cast<int>(severity) + 1);
}

std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 14695981039346656037u;
  for (const unsigned char byte : text) hash = (hash ^ byte) * 1099511628211u;
  return hash;
}

} // namespace

syntax::Encoding Outlook::encoding() const {
  switch (client.encoding()) {
  case lsp::PositionEncoding::utf8: return syntax::Encoding::utf8;
  case lsp::PositionEncoding::utf32: return syntax::Encoding::codepoint;
  case lsp::PositionEncoding::utf16: break;
  }
  return syntax::Encoding::utf16;
}

std::string Outlook::uri(const std::string& path) const {
  const auto open = uris.find(path);
  return open != uris.end() ? open->second : protocol::uri_of(path);
}

lsp::Range Outlook::range(const syntax::Text& text, syntax::Span span) const {
  const syntax::Position start = text.position(span.begin, encoding());
  const syntax::Position end = text.position(span.end, encoding());
  return {{start.line, start.column}, {end.line, end.column}};
}

syntax::Span Outlook::span(const syntax::Text& text, const lsp::Range& range) const {
  return {text.offset({range.start.line, range.start.character}, encoding()),
          text.offset({range.end.line, range.end.character}, encoding())};
}

lsp::Diagnostic diagnostic(const rules::Finding& finding, const syntax::Text& text, const Outlook& outlook) {
  lsp::Diagnostic made;
  made.range = outlook.range(text, finding.where.span);
  made.severity = severity(finding.severity);
  made.code = std::string(finding.rule);
  made.source = "stepzero";
  made.message = finding.message;
  if (outlook.client.code_description)
    if (auto page = outlook.pages->uri(finding.rule)) made.code_description = lsp::CodeDescription{*page};
  if (outlook.client.diagnostic_data && !finding.fixes.empty()) {
    std::vector<std::string> titles;
    for (const rules::Fix& fix : finding.fixes) titles.push_back(fix.title);
    made.data = protocol::to_any(std::map<std::string, std::vector<std::string>>{{"fixes", titles}});
  }
  return made;
}

std::vector<lsp::Diagnostic> diagnostics(const Analysis& analysis, const Outlook& outlook) {
  std::vector<lsp::Diagnostic> made;
  for (const rules::Finding& finding : analysis.result.findings) {
    const syntax::Text* text = analysis.text_of(finding.where.path);
    if (!text || finding.where.path != analysis.path) continue;
    lsp::Diagnostic diagnostic = server::diagnostic(finding, *text, outlook);
    if (outlook.client.related_information) {
      for (const rules::Related& related : finding.related)
        if (const syntax::Text* other = analysis.text_of(related.where.path))
          diagnostic.related_information.push_back(
              {{outlook.uri(related.where.path), outlook.range(*other, related.where.span)},
               related.message});
    } else {
      // Without related places the evidence is told in the message.
      for (const rules::Related& related : finding.related) diagnostic.message += "\n" + related.message;
    }
    made.push_back(std::move(diagnostic));
  }
  return made;
}

std::string result_id(const std::vector<lsp::Diagnostic>& diagnostics) {
  char text[17];
  std::snprintf(text, sizeof text, "%016llx",
                static_cast<unsigned long long>(fnv1a(protocol::to_any(diagnostics).dump())));
  return text;
}

std::optional<lsp::WorkspaceEdit> workspace_edit(const Analysis& analysis,
                                                 const std::vector<rules::TextEdit>& edits,
                                                 const Outlook& outlook,
                                                 const std::map<std::string, int>& versions) {
  std::map<std::string, std::vector<lsp::TextEdit>> by_path;
  for (const rules::TextEdit& edit : edits) {
    const syntax::Text* text = analysis.text_of(edit.where.path);
    if (!text) return std::nullopt;
    by_path[edit.where.path].push_back({outlook.range(*text, edit.where.span), edit.new_text, std::nullopt});
  }
  lsp::WorkspaceEdit made;
  if (outlook.client.document_changes) {
    auto& changes = made.document_changes.emplace();
    for (auto& [path, texts] : by_path) {
      lsp::OptionalVersionedTextDocumentIdentifier document{outlook.uri(path), std::nullopt};
      if (const auto version = versions.find(path); version != versions.end())
        document.version = version->second;
      changes.emplace_back(lsp::TextDocumentEdit{std::move(document), std::move(texts)});
    }
  } else {
    auto& changes = made.changes.emplace();
    for (auto& [path, texts] : by_path) changes.emplace(outlook.uri(path), std::move(texts));
  }
  return made;
}

} // namespace stepzero::server
