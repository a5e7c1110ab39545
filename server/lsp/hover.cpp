#include "server/lsp/hover.hpp"

#include "server/features/hover.hpp"
#include "server/features/inlay_hints.hpp"

#include <chrono>
#include <limits>

namespace stepzero::server {
namespace {

// Lives no longer than its arguments.
Link link_of(const ClientView& client_view, const Analysis& analysis) {
  return [&client_view, &analysis](const rules::Location& where, std::uint32_t line) {
    if (analysis.cells && where.path == analysis.path) return std::string();
    const std::string file = client_view.uri(where.path);
    return file.starts_with("file:") ? file + "#L" + std::to_string(line) : std::string();
  };
}

}  // namespace

void serve_hover(Session& session) {
  session.editor.connection().on(lsp::method::hover,
      [&session](const lsp::HoverParams& params, protocol::Reply<std::optional<lsp::Hover>> reply) {
        answer_from_view<lsp::Hover>(session, params.text_document.uri, true, std::move(reply),
            [&session, uri = params.text_document.uri, at = params.position](
                const OpenDocument&, const View& view) -> std::optional<lsp::Hover> {
              const auto client_view = session.analyses.client_view();
              const Analysis& analysis = *view.analysis;
              if (!analysis.module) return std::nullopt;
              const Markup markup = client_view->client.hover_markdown ? Markup::markdown : Markup::plain;
              const auto found = hover(analysis, client_view->offset(analysis, uri, at), markup,
                  link_of(*client_view, analysis),
                  client_view->client.code_description && !client_view->pages->empty());
              if (!found) return std::nullopt;
              const auto kind = markup == Markup::markdown ? lsp::MarkupKind::markdown
                                                           : lsp::MarkupKind::plaintext;
              return lsp::Hover{{kind, found->text}, client_view->range(analysis, found->span)};
            });
      });
}

namespace {

// Somebody types: what a half-typed statement hides is not taken away before a pause, which is longer where
// it is no Python yet.
constexpr std::chrono::milliseconds pause{1000}, pause_when_broken{10'000};

void ask_again(Session& session, OpenDocument& document, std::chrono::milliseconds later) {
  document.hints_pause = session.loop.after(later, [&session, &document] {
    document.typing = false;
    session.editor.refresh_hints();
  });
}

using Data = std::map<std::string, std::string>;

lsp::InlayHint hint_of(
    const Hint& hint, const Analysis& analysis, const ClientView& client_view, const std::string& uri) {
  lsp::InlayHint out;
  out.position = client_view.range(analysis, {hint.at, hint.at}).start;
  out.label = hint.label;
  out.kind = lsp::InlayHintKind::type;
  if (client_view.client.inlay_hint_resolve_tooltip) {
    if (hint.more) out.data = protocol::to_any(Data{{"uri", uri}});
  } else if (!hint.whole.empty()) {
    out.tooltip = hint.whole;
  }
  return out;
}

// Hints of the whole document; those outside the range are left out of the answer.
std::vector<lsp::InlayHint> hints_of(Session& session, OpenDocument& document, const View& view,
    const std::string& uri, const lsp::Range& range) {
  const auto client_view = session.analyses.client_view();
  std::vector<lsp::InlayHint> made;
  const Analysis& analysis = *view.analysis;
  if (!analysis.module) return made;
  constexpr syntax::Span everything{0, std::numeric_limits<std::uint32_t>::max()};
  const syntax::Span asked = client_view->span(analysis, uri, range);
  // Only who can be told to ask again is shown what may have to be taken back.
  const bool typing = document.typing && client_view->client.inlay_hint_refresh &&
      analysis.settings.inlay_hints != InlayHints::off;
  for (const Hint& hint : document.hints.with(
           inlay_hints(analysis.result.facts, everything, analysis.settings.inlay_hints), typing))
    if (asked.begin <= hint.at && hint.at <= asked.end)
      made.push_back(hint_of(hint, analysis, *client_view, uri));
  if (document.hints.kept())
    ask_again(session, document, analysis.module->has_error ? pause_when_broken : pause);
  return made;
}

void resolve_hint(Session& session, lsp::InlayHint hint, protocol::Reply<lsp::InlayHint> reply) {
  std::string uri;
  try {
    uri = protocol::from_any<Data>(hint.data)["uri"];
  } catch (const protocol::DecodeError&) {}
  if (uri.empty()) {
    reply(hint);
    return;
  }
  const auto shared = std::make_shared<protocol::Reply<lsp::InlayHint>>(std::move(reply));
  session.analyses.when_fresh(uri, true,
      [&session, uri, shared, hint = std::move(hint)](
          const std::shared_ptr<const View>& view, Unanswered why) mutable {
        if (view && view->analysis->module) {
          const Analysis& analysis = *view->analysis;
          const auto client_view = session.analyses.client_view();
          const Markup markup = client_view->client.markdown ? Markup::markdown : Markup::plain;
          std::string text = assigned(analysis, client_view->offset(analysis, uri, hint.position), markup,
              link_of(*client_view, analysis));
          if (!text.empty())
            hint.tooltip = lsp::MarkupContent{
                markup == Markup::markdown ? lsp::MarkupKind::markdown : lsp::MarkupKind::plaintext,
                std::move(text)};
          (*shared)(hint);
        } else if (why == Unanswered::changed) {
          shared->error(protocol::error_code::content_modified, "the document changed");
        } else {
          (*shared)(hint);
        }
      });
}

}  // namespace

void serve_inlay_hints(Session& session) {
  session.editor.connection().on(lsp::method::resolve_inlay_hint,
      [&session](lsp::InlayHint hint, protocol::Reply<lsp::InlayHint> reply) {
        resolve_hint(session, std::move(hint), std::move(reply));
      });
  session.editor.connection().on(lsp::method::inlay_hint,
      [&session](const lsp::InlayHintParams& params,
          protocol::Reply<std::optional<std::vector<lsp::InlayHint>>> reply) {
        answer_from_view<std::vector<lsp::InlayHint>>(session, params.text_document.uri, true,
            std::move(reply),
            [&session, uri = params.text_document.uri, range = params.range](OpenDocument& document,
                const View& view) { return hints_of(session, document, view, uri, range); });
      });
}

}  // namespace stepzero::server
