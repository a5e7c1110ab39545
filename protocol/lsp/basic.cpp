// Codecs of the structures that every part uses.
#include "protocol/lsp/basic.hpp"

#include "protocol/fields.hpp"

namespace stepzero::lsp {

using protocol::Of;

namespace {
constexpr std::array<std::string_view, 3> encoding_words{"utf-8", "utf-16", "utf-32"};
}  // namespace
void to_json(Json& out, const PositionEncoding& value) { protocol::write_word(out, value, encoding_words); }
void from_json(const Json& in, PositionEncoding& value) { protocol::read_word(in, value, encoding_words); }

std::string_view name(PositionEncoding encoding) {
  return encoding_words.at(static_cast<std::size_t>(encoding));
}

namespace {
constexpr std::array<std::string_view, 2> markup_words{"plaintext", "markdown"};
}  // namespace
void to_json(Json& out, const MarkupKind& value) { protocol::write_word(out, value, markup_words); }
void from_json(const Json& in, MarkupKind& value) { protocol::read_word(in, value, markup_words); }

template <class F> void fields(F& f, Of<F, Position> v) {
  f("line", v.line);
  f("character", v.character);
}
STEPZERO_LSP_CODEC(Position)

template <class F> void fields(F& f, Of<F, Range> v) {
  f("start", v.start);
  f("end", v.end);
}
STEPZERO_LSP_CODEC(Range)

template <class F> void fields(F& f, Of<F, Location> v) {
  f("uri", v.uri);
  f("range", v.range);
}
STEPZERO_LSP_CODEC(Location)

template <class F> void fields(F& f, Of<F, LocationLink> v) {
  f("originSelectionRange", v.origin_selection_range);
  f("targetUri", v.target_uri);
  f("targetRange", v.target_range);
  f("targetSelectionRange", v.target_selection_range);
}
STEPZERO_LSP_CODEC(LocationLink)

template <class F> void fields(F& f, Of<F, TextDocumentIdentifier> v) { f("uri", v.uri); }
STEPZERO_LSP_CODEC(TextDocumentIdentifier)

template <class F> void fields(F& f, Of<F, VersionedTextDocumentIdentifier> v) {
  f("uri", v.uri);
  f("version", v.version);
}
STEPZERO_LSP_CODEC(VersionedTextDocumentIdentifier)

template <class F> void fields(F& f, Of<F, OptionalVersionedTextDocumentIdentifier> v) {
  f("uri", v.uri);
  f.nullable("version", v.version);
}
STEPZERO_LSP_CODEC(OptionalVersionedTextDocumentIdentifier)

template <class F> void fields(F& f, Of<F, TextDocumentItem> v) {
  f("uri", v.uri);
  f("languageId", v.language_id);
  f("version", v.version);
  f("text", v.text);
}
STEPZERO_LSP_CODEC(TextDocumentItem)

template <class F> void fields(F& f, Of<F, TextDocumentPositionParams> v) {
  f("textDocument", v.text_document);
  f("position", v.position);
  f("workDoneToken", v.work_done_token);
  f("partialResultToken", v.partial_result_token);
}
STEPZERO_LSP_CODEC(TextDocumentPositionParams)

template <class F> void fields(F& f, Of<F, MarkupContent> v) {
  f("kind", v.kind);
  f("value", v.value);
}
STEPZERO_LSP_CODEC(MarkupContent)

template <class F> void fields(F& f, Of<F, Command> v) {
  f("title", v.title);
  f("command", v.command);
  f.or_empty("arguments", v.arguments);
}
STEPZERO_LSP_CODEC(Command)

template <class F> void fields(F& f, Of<F, DocumentFilter> v) {
  f("language", v.language);
  f("scheme", v.scheme);
  f("pattern", v.pattern);
}
STEPZERO_LSP_CODEC(DocumentFilter)

}  // namespace stepzero::lsp
