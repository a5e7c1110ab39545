#include "server/lsp/completion.hpp"

#include "documents/document.hpp"
#include "protocol/lsp/completion.hpp"
#include "snapshot/documents.hpp"
#include "syntax/text.hpp"

namespace stepzero::server {
namespace {

// The key that is begun around the place, its quotes included.
syntax::Span begun(std::string_view text, std::uint32_t offset, bool in_shell) {
  syntax::Span span{offset, offset};
  const auto is_part = [&](char c) { return syntax::is_word(c) || (in_shell && c == '-'); };
  while (span.begin > 0 && is_part(text[span.begin - 1])) --span.begin;
  while (span.end < text.size() && is_part(text[span.end])) ++span.end;
  if (span.begin > 0 && text[span.begin - 1] == '"') {
    --span.begin;
    if (span.end < text.size() && text[span.end] == '"') ++span.end;
  }
  return span;
}

bool has_sign(std::string_view text, std::uint32_t at, char sign) {
  while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
  return at < text.size() && text[at] == sign;
}

// A key with its quotes, where the language has them.
std::string written(const std::string& key, bool in_json) { return in_json ? '"' + key + '"' : key; }

std::vector<lsp::CompletionItem> items(
    const Analysis& analysis, std::uint32_t offset, const ClientView& client_view) {
  std::vector<lsp::CompletionItem> made;
  if (!analysis.module) return made;
  const std::string_view text = analysis.module->text->bytes();
  const documents::Language language = documents::language_of(analysis.path);
  const bool in_json = language == documents::Language::json, in_toml = language == documents::Language::toml;
  const syntax::Span span = begun(text, offset, language == documents::Language::shell);
  const std::string after = has_sign(text, span.end, in_toml ? '=' : ':') ? "" : in_toml ? " = " : ": ";
  // A value that is begun is replaced with its quotes.
  const bool is_quoted = text.substr(span.begin, 1) == "\"";
  for (snapshot::KeyCompletion& each :
      snapshot::complete_key(analysis.path, *analysis.module, offset, analysis.result.named_as)) {
    lsp::CompletionItem& item = made.emplace_back();
    const bool is_value = each.is_value;
    const std::string quoted = is_value ? each.key : written(each.key, in_json);
    item.label = std::move(each.key);
    item.kind = is_value ? lsp::CompletionItemKind::value : lsp::CompletionItemKind::property;
    if (!each.detail.empty()) item.detail = std::move(each.detail);
    item.documentation = lsp::MarkupContent{lsp::MarkupKind::markdown, std::move(each.markdown)};
    // What is typed so far is compared with this: it begins with the quote if that is there.
    item.filter_text = is_quoted ? quoted : item.label;
    item.text_edit = lsp::TextEdit{
        client_view.range(analysis, span), quoted + (is_value ? std::string() : after), std::nullopt};
  }
  return made;
}

}  // namespace

void serve_completion(Session& session) {
  session.editor.connection().on(lsp::method::completion,
      [&session](const lsp::CompletionParams& params,
          protocol::Reply<std::optional<std::vector<lsp::CompletionItem>>> reply) {
        const std::string& uri = params.text_document.uri;
        const OpenDocument* document = session.analyses.find(uri);
        // Of Python others complete: nobody waits here for an analysis of it.
        const auto language = document ? documents::language_of(document->path) : documents::Language::none;
        if (language != documents::Language::json && language != documents::Language::yaml &&
            language != documents::Language::toml && language != documents::Language::shell) {
          reply(std::nullopt);
          return;
        }
        answer_from_view<std::vector<lsp::CompletionItem>>(session, uri, true, std::move(reply),
            [&session, uri, at = params.position](const OpenDocument&, const View& view) {
              const auto client_view = session.analyses.client_view();
              return items(*view.analysis, client_view->offset(*view.analysis, uri, at), *client_view);
            });
      });
}

}  // namespace stepzero::server
