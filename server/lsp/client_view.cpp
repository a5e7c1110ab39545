#include "server/lsp/client_view.hpp"

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

}  // namespace

syntax::Encoding ClientView::encoding() const {
  switch (client.encoding()) {
  case lsp::PositionEncoding::utf8: return syntax::Encoding::utf8;
  case lsp::PositionEncoding::utf32: return syntax::Encoding::codepoint;
  case lsp::PositionEncoding::utf16: break;
  }
  return syntax::Encoding::utf16;
}

std::string ClientView::uri(const std::string& path) const {
  const auto open = uris.find(path);
  return open != uris.end() ? open->second : protocol::uri_of(path);
}

lsp::Range ClientView::range(const syntax::Text& text, syntax::Span span) const {
  const syntax::Position start = text.position(span.begin, encoding());
  const syntax::Position end = text.position(span.end, encoding());
  return {{start.line, start.column}, {end.line, end.column}};
}

syntax::Span ClientView::span(const syntax::Text& text, const lsp::Range& range) const {
  return {text.offset({range.start.line, range.start.character}, encoding()),
      text.offset({range.end.line, range.end.character}, encoding())};
}

lsp::Location ClientView::location(
    const Analysis& analysis, const syntax::Text& text, const rules::Location& where) const {
  lsp::Range range = this->range(text, where.span);
  const Cells::Cell* cell =
      analysis.cells && where.path == analysis.path ? analysis.cells->at_line(range.start.line) : nullptr;
  if (!cell) return {uri(where.path), range};
  const std::uint32_t after = cell->first_line + cell->line_count;
  if (range.end.line >= after) range.end = this->range(text, {0, text.line_start(after) - 1}).end;
  range.start.line -= cell->first_line;
  range.end.line -= cell->first_line;
  return {cell->uri, range};
}

lsp::Range ClientView::range(const Analysis& analysis, syntax::Span span) const {
  return location(analysis, *analysis.module->text, {analysis.path, span}).range;
}

std::uint32_t ClientView::offset(
    const Analysis& analysis, const std::string& asked, lsp::Position position) const {
  if (const Cells::Cell* cell = analysis.cells ? analysis.cells->find(asked) : nullptr) {
    if (position.line >= cell->line_count) position = {cell->line_count - 1, 0xffffffffu};
    position.line += cell->first_line;
  }
  return analysis.module->text->offset({position.line, position.character}, encoding());
}

syntax::Span ClientView::span(
    const Analysis& analysis, const std::string& asked, const lsp::Range& range) const {
  return {offset(analysis, asked, range.start), offset(analysis, asked, range.end)};
}

namespace {

// What an editor strikes through, and what it fades: the code where such a rule finds something runs, and
// would run the same without it.
struct Tagged {
  std::string_view rule;
  lsp::DiagnosticTag tag;
  bool lsp::ClientFlags::* known;
};
constexpr Tagged tagged[] = {
    {"amp/deprecated-api", lsp::DiagnosticTag::deprecated, &lsp::ClientFlags::diagnostic_tag_deprecated},
    {"amp/scaler-with-bf16", lsp::DiagnosticTag::unnecessary, &lsp::ClientFlags::diagnostic_tag_unnecessary},
    {"memory/retain-graph-flag", lsp::DiagnosticTag::unnecessary,
        &lsp::ClientFlags::diagnostic_tag_unnecessary},
};

}  // namespace

lsp::Diagnostic diagnostic(
    const rules::Finding& finding, const syntax::Text& text, const ClientView& client_view) {
  lsp::Diagnostic made;
  made.range = client_view.range(text, finding.where.span);
  made.severity = severity(finding.severity);
  made.code = std::string(finding.rule);
  made.source = "stepzero";
  made.message = finding.message;
  for (const Tagged& each : tagged)
    if (each.rule == finding.rule && client_view.client.*each.known) made.tags.push_back(each.tag);
  if (client_view.client.code_description)
    if (auto page = client_view.pages->uri(finding.rule)) made.code_description = lsp::CodeDescription{*page};
  if (client_view.client.diagnostic_data && !finding.fixes.empty()) {
    std::vector<std::string> titles;
    titles.reserve(finding.fixes.size());
    for (const rules::Fix& fix : finding.fixes) titles.push_back(fix.title);
    made.data = protocol::to_any(std::map<std::string, std::vector<std::string>>{{"fixes", titles}});
  }
  return made;
}

namespace {

lsp::Diagnostic of_finding(const Analysis& analysis, const rules::Finding& finding, const syntax::Text& text,
    const ClientView& client_view) {
  lsp::Diagnostic made = server::diagnostic(finding, text, client_view);
  made.range = client_view.range(analysis, finding.where.span);
  if (client_view.client.related_information) {
    for (const rules::Related& related : finding.related)
      if (const syntax::Text* other = analysis.text_of(related.where.path))
        made.related_information.push_back(
            {client_view.location(analysis, *other, related.where), related.message});
  } else {
    // Without related places the evidence is told in the message.
    for (const rules::Related& related : finding.related) made.message += "\n" + related.message;
  }
  return made;
}

}  // namespace

std::vector<lsp::Diagnostic> diagnostics(const Analysis& analysis, const ClientView& client_view) {
  std::vector<lsp::Diagnostic> made;
  for (const rules::Finding& finding : analysis.result.findings) {
    const syntax::Text* text = analysis.text_of(finding.where.path);
    if (text && finding.where.path == analysis.path)
      made.push_back(of_finding(analysis, finding, *text, client_view));
  }
  return made;
}

std::map<std::string, std::vector<lsp::Diagnostic>> diagnostics_by_cell(
    const Analysis& analysis, const ClientView& client_view) {
  std::map<std::string, std::vector<lsp::Diagnostic>> made;
  for (const Cells::Cell& cell : analysis.cells->cells) made[cell.uri];
  for (const rules::Finding& finding : analysis.result.findings) {
    const syntax::Text* text = analysis.text_of(finding.where.path);
    if (!text || finding.where.path != analysis.path) continue;
    const std::string uri = client_view.location(analysis, *text, finding.where).uri;
    made[uri].push_back(of_finding(analysis, finding, *text, client_view));
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
    const std::vector<rules::TextEdit>& edits, const ClientView& client_view,
    const std::map<std::string, int>& versions) {
  struct Target {
    std::optional<int> version;
    std::vector<lsp::TextEdit> edits;
  };
  std::map<std::string, Target> by_uri;
  for (const rules::TextEdit& edit : edits) {
    const syntax::Text* text = analysis.text_of(edit.where.path);
    if (!text) return std::nullopt;
    lsp::Location place = client_view.location(analysis, *text, edit.where);
    // An edit that reaches into the next cell cannot be made.
    if (analysis.cells && edit.where.path == analysis.path &&
        analysis.cells->at_line(client_view.range(*text, edit.where.span).end.line) !=
            analysis.cells->at_line(client_view.range(*text, edit.where.span).start.line))
      return std::nullopt;
    Target& target = by_uri[place.uri];
    if (const Cells::Cell* cell = analysis.cells ? analysis.cells->find(place.uri) : nullptr)
      target.version = cell->version;
    else if (const auto version = versions.find(edit.where.path); version != versions.end())
      target.version = version->second;
    target.edits.push_back({place.range, edit.new_text, std::nullopt});
  }
  lsp::WorkspaceEdit made;
  if (client_view.client.document_changes) {
    auto& changes = made.document_changes.emplace();
    for (auto& [uri, target] : by_uri)
      changes.emplace_back(lsp::TextDocumentEdit{{uri, target.version}, std::move(target.edits)});
  } else {
    auto& changes = made.changes.emplace();
    for (auto& [uri, target] : by_uri) changes.emplace(uri, std::move(target.edits));
  }
  return made;
}

}  // namespace stepzero::server
